import type { Instant } from '../kernel/time.ts';
import type { LabelSelector, Labels } from './selector.ts';
import type { Toleration } from './toleration.ts';

/** The controller that owns a pod. */
export interface Owner {
  /** API group and version: `apps/v1`. */
  readonly apiVersion: string;
  /** Kind: `ReplicaSet`, `StatefulSet`. */
  readonly kind: string;
  /** Name, in the namespace of the pod. */
  readonly name: string;
}

/** The condition DisruptionTarget of a pod: that a program is removing it, and why. */
export interface Disruption {
  /** `DeletionByTaintManager`, `EvictionByEvictionAPI`, `PreemptionByScheduler` and the like. */
  readonly reason: string;
  /** The program that wrote it, by metadata.managedFields; null: unknown. */
  readonly manager: string | null;
}

/** A ResourceClaim that a pod uses. */
export interface PodClaim {
  /** The pod's own name for it, by spec.resourceClaims[]; of an extended resource, the claim's. */
  readonly name: string;
  /** The ResourceClaim in the pod's namespace; null: to be made from a template, and the pod's status names none. */
  readonly claim: string | null;
  /** Made from a template it has to be controlled by the pod; `extended`: the scheduler made it for an extended resource. */
  readonly origin: 'named' | 'template' | 'extended';
}

/** Names one pod, this very pod and not another of the same name. */
export interface PodRef {
  /** metadata.namespace. */
  readonly namespace: string;
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid: string;
  /** spec.nodeName; empty while unbound. */
  readonly nodeName: string;
}

/** The part of a Pod that decisions need. */
export interface Pod extends PodRef {
  /** spec.tolerations. */
  readonly tolerations: readonly Toleration[];
  /** When it was bound to its node; null where the object does not say. */
  readonly boundAt: Instant | null;
  /** metadata.deletionTimestamp: set while the pod terminates. */
  readonly deletionTimestamp: Instant | null;
  /** status.phase: a pod that is `Succeeded` or `Failed` has ended. */
  readonly phase: string;
  /** metadata.generation, for the condition we put on it; 0 where absent. */
  readonly generation: number;
  /** True for the API's image of a static pod: annotation kubernetes.io/config.mirror, and its node controls it. */
  readonly mirror: boolean;
  /** The owner reference with `controller: true`; null: no controller owns the pod. */
  readonly owner: Owner | null;
  /** True when some volume is an emptyDir: its data goes with the pod. */
  readonly hasEmptyDir: boolean;
  /** spec.terminationGracePeriodSeconds; 30 when left out. */
  readonly gracePeriodSeconds?: number | undefined;
  /** True when its owner asked for it to be left alone. */
  readonly optedOut?: boolean | undefined;
  /** True where the annotation cluster-autoscaler.kubernetes.io/safe-to-evict says false. */
  readonly unsafeToEvict?: boolean | undefined;
  /** True where the annotation karpenter.sh/do-not-disrupt says true. */
  readonly doNotDisrupt?: boolean | undefined;
  /** The status of its condition Ready; null or left out: it has none. */
  readonly ready?: string | null | undefined;
  /** Left out: none. */
  readonly labels?: Labels | undefined;
  /** spec.priority; left out: 0. */
  readonly priority?: number | undefined;
  /** spec.priorityClassName; left out: none. */
  readonly priorityClassName?: string | undefined;
  /** Left out: the pod has no mark. */
  readonly disruption?: Disruption | undefined;
  /** The claims that it uses. Left out: none, as nearly all. */
  readonly claims?: readonly PodClaim[] | undefined;
}

/** The name of a pod alone, without its known state. */
export function podRef({ namespace, name, uid, nodeName }: PodRef): PodRef {
  return { namespace, name, uid, nodeName };
}

/** A DaemonSet, as far as it says which pods are its own. */
export interface DaemonSet {
  /** metadata.namespace. */
  readonly namespace: string;
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid: string;
  /** spec.selector: selects its pods. */
  readonly selector: LabelSelector;
}

/** The programs that are ours, as the API server names them after their User-Agent. */
const ownManagers: readonly string[] = ['taintmgr-controller', 'kubectl-taintmgr'];

/** True for the reason in the mark of a pod that goes for a taint, of its node or of a device. */
export function isTaintReason(reason: string | undefined): boolean {
  return reason === 'DeletionByTaintManager' || reason === deviceReason;
}

/** In the mark of a pod that goes for a taint of a device. */
const deviceReason = 'DeletionByDeviceTaintManager';

/**
 * The program that removes a pod for a taint, where it is not taintmgr, e.g.
 * `kube-controller-manager`; null: none removes it, or the program is unknown.
 */
export function foreignTaintManager(disruption: Disruption | undefined): string | null {
  return foreignManager(disruption, 'DeletionByTaintManager');
}

/**
 * The program that removes a pod for a taint of a device, where it is not taintmgr; null: none
 * removes it, or the program is unknown.
 */
export function foreignDeviceTaintManager(disruption: Disruption | undefined): string | null {
  return foreignManager(disruption, deviceReason);
}

function foreignManager(disruption: Disruption | undefined, wanted: string): string | null {
  const { reason, manager = null } = disruption ?? {};
  if (reason !== wanted || manager === null) return null;
  return ownManagers.includes(manager) ? null : manager;
}

/** Why pods are removed by other rooms of kube-controller-manager and by others than it. */
const otherReasons: readonly string[] = [
  deviceReason,
  'DeletionByPodGC',
  'EvictionByEvictionAPI',
  'PreemptionByScheduler',
  'TerminationByKubelet',
];

/**
 * The reason of a mark by kube-controller-manager that is unknown here, as a later version may set
 * one when it evicts for a taint; null: there is no such mark.
 */
export function unknownUpstreamMark(disruption: Disruption | undefined): string | null {
  const { reason = '', manager } = disruption ?? {};
  if (manager !== 'kube-controller-manager' || reason === 'DeletionByTaintManager') return null;
  return reason === '' || otherReasons.includes(reason) ? null : reason;
}

/** The part of a Namespace that decisions need. */
export interface Namespace {
  /** metadata.name. */
  readonly name: string;
  /** metadata.labels. */
  readonly labels: Labels;
}

/** The way in which the pods of one node are known. */
export type PodView =
  /** Each change of the pods arrives. */
  | 'watched'
  /** Asked for, and not all known yet. */
  | 'reading'
  /** The watch is cut off: the known state of the pods is as old as that. */
  | 'old'
  /** Not asked for, since no action depends on them. */
  | 'unread';

/** The views of the pods of nodes, by the names of the nodes. */
export type PodViews = Readonly<Record<string, PodView>>;

/** Describes how the pods of a node are known; null where there is nothing to say. */
export function describePodView(view: PodView): string | null {
  switch (view) {
    case 'watched':
      return null;
    case 'reading':
      return 'its pods are being read: nothing is decided about those not known yet';
    case 'old':
      return 'its pods are not being watched: each is read again before it goes';
    case 'unread':
      return 'its pods are not read: it has no NoExecute taint';
  }
}

// Node, Pod, Taint and Toleration: the fields that decisions need.
import type { Instant } from './kernel/time.ts';

/** The effects Kubernetes knows; objects may carry others, which then match nothing. */
export type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

/** spec.taints[] of a node. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  /** One of TaintEffect in any object the API server accepted. */
  readonly effect: string;
  /** When the taint was put on; null where nobody wrote it (`kubectl taint` does not). */
  readonly timeAdded: Instant | null;
}

/** spec.tolerations[] of a pod. Absent strings are empty. */
export interface Toleration {
  /** Empty: every key. */
  readonly key: string;
  /** '', 'Equal', 'Exists', 'Lt' or 'Gt' in any object the API server accepted. */
  readonly operator: string;
  readonly value: string;
  /** Empty: every effect. */
  readonly effect: string;
  /** Seconds, a signed 64-bit integer (a bigint where a number cannot hold it); null: for ever. */
  readonly tolerationSeconds: number | bigint | null;
}

/** The controller that owns a pod. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** status.conditions[] of a node. */
export interface NodeCondition {
  readonly type: string;
  /** 'True', 'False' or 'Unknown' in any object the API server accepted. */
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** lastHeartbeatTime, by the clock of whoever wrote it. */
  readonly heartbeatAt: Instant | null;
  /** lastTransitionTime, by the clock of whoever wrote it. */
  readonly transitionAt: Instant | null;
}

/** Names one node, this very node and not another of the same name. */
export interface NodeRef {
  readonly name: string;
  readonly uid: string;
}

/** A node's Lease in kube-node-lease, which its kubelet renews as a sign of life. */
export interface Lease {
  readonly nodeName: string;
  /** spec.renewTime by the kubelet's clock; null where it is not set. */
  readonly renewedAt: Instant | null;
}

/** The condition DisruptionTarget of a pod: that, and why, somebody is removing it. */
export interface Disruption {
  /** `DeletionByTaintManager`, `EvictionByEvictionAPI`, `PreemptionByScheduler` and the like. */
  readonly reason: string;
  /** The program that wrote it, by metadata.managedFields; null: nobody can tell. */
  readonly manager: string | null;
}

export type Labels = Readonly<Record<string, string>>;

/** metav1.LabelSelector: everything in it must hold; an empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** For In and NotIn. */
  readonly values?: readonly string[];
}

/** A DaemonSet, as far as it says which pods are its own. */
export interface DaemonSet {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly selector: LabelSelector;
}

/** The part of a Node that decisions need. */
export interface Node extends NodeRef {
  readonly taints: readonly Taint[];
  /** Left out: none. */
  readonly labels?: Labels;
  /** spec.unschedulable; left out: false. */
  readonly unschedulable?: boolean;
  /** metadata.creationTimestamp; null or left out: not known. */
  readonly createdAt?: Instant | null;
  /** Left out: none. */
  readonly conditions?: readonly NodeCondition[];
  /** Taints that a condition rule of ours put on, by `key:effect`, with the rule's name. */
  readonly ownedTaints?: Readonly<Record<string, string>>;
  /** `region/zone` of its topology labels; left out or '': none. */
  readonly zone?: string;
  /**
   * Since when taints count, as an earlier run wrote it down: by `key=value:effect`. Empty where
   * something is written down that is not to be believed, left out where nothing is.
   */
  readonly taintStarts?: Readonly<Record<string, Instant>>;
  /**
   * When spec.taints was written last, as the API server keeps it: every taint was there at the end
   * of that second. Null: it keeps no such time, so that nothing that was known before a gap holds
   * after it; left out: whoever tells of the node sees every change of it.
   */
  readonly taintsWrittenAt?: Instant | null;
  /** When the machine itself goes, e.g. a spot instance; null or left out: nobody said. */
  readonly deadline?: Instant | null;
}

/** Names one pod, this very pod and not another of the same name. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** spec.nodeName; empty while unbound. */
  readonly nodeName: string;
}

/** The part of a Pod that decisions need. */
export interface Pod extends PodRef {
  readonly tolerations: readonly Toleration[];
  /** When it was bound to its node; null where the object does not say. */
  readonly boundAt: Instant | null;
  /** metadata.deletionTimestamp: set while the pod terminates. */
  readonly deletionTimestamp: Instant | null;
  readonly phase: string;
  /** metadata.generation, for the condition we put on it; 0 where absent. */
  readonly generation: number;
  /** True for the API's image of a static pod (annotation kubernetes.io/config.mirror). */
  readonly mirror: boolean;
  readonly owner: Owner | null;
  /** True when some volume is an emptyDir: its data goes with the pod. */
  readonly hasEmptyDir: boolean;
  /** spec.terminationGracePeriodSeconds; 30 when left out. */
  readonly gracePeriodSeconds?: number;
  /** True when its owner asked for it to be left alone. */
  readonly optedOut?: boolean;
  /** The status of its condition Ready; null or left out: it has none. */
  readonly ready?: string | null;
  /** Only read where pods are matched with DaemonSets by their labels; left out: none. */
  readonly labels?: Labels;
  /** Left out: nobody has marked it. */
  readonly disruption?: Disruption;
}

/** The name of a node alone, without what is known about it. */
export function nodeRef({ name, uid }: NodeRef): NodeRef {
  return { name, uid };
}

/** The name of a pod alone, without what is known about it. */
export function podRef({ namespace, name, uid, nodeName }: PodRef): PodRef {
  return { namespace, name, uid, nodeName };
}

import type { Outcome } from './attempt/outcome.ts';
import type { DeviceEvent } from './devices/device.ts';
import type { Instant, Millis } from './kernel/time.ts';
import type { EvictionRequest } from './model/eviction-request.ts';
import type { Lease, Node } from './model/node.ts';
import type { DaemonSet, Namespace, Pod, PodView, PodViews } from './model/pod.ts';
import type { OtherEvictors } from './model/working-drain.ts';
import type { LimitRecord, ResumeRequest } from './policy/limit-record.ts';
import type { NodeDrain } from './policy/node-drain.ts';
import type { EvictionPause, EvictionPolicy, NodeTaintRule } from './policy/values.ts';

/**
 * Throws RangeError for an invalid event, and for an object that is not one of ours: JavaScript
 * checks no types.
 */
export function checkEvent(event: Event): void {
  const { kind }: { readonly kind?: unknown } = Object(event);
  if (typeof kind !== 'string' || !Object.hasOwn(kinds, kind)) {
    const known = Object.keys(kinds).join(', ');
    throw new RangeError(`event.kind: got ${JSON.stringify(kind)}, want one of ${known}`);
  }
  const own = brought[event.kind];
  if (!own) return;
  const [field, made, text, list] = own;
  if (isOurs(Reflect.get(event, field), text, list)) return;
  throw new RangeError(
    `event.${field}: want what ${made} of @taintmgr/k8s-adapter makes of an object of the Kubernetes API`,
  );
}

/** Of objects that events bring: where, what makes them, and a text and a list that an object of the API lacks. */
const brought: Partial<
  Record<Event['kind'], readonly [field: string, made: string, text: string, list?: string]>
> = {
  nodeUpsert: ['node', 'makeNode makes, or what nodeFromJson', 'name', 'taints'],
  podUpsert: ['pod', 'makePod makes, or what podFromJson', 'uid', 'tolerations'],
  leaseUpsert: ['lease', 'nodeLeaseFromJson', 'nodeName'],
  daemonSetUpsert: ['daemonSet', 'daemonSetFromJson', 'uid'],
  namespaceUpsert: ['namespace', 'namespaceFromJson', 'name'],
};

function isOurs(object: unknown, text: string, list: string | undefined): boolean {
  if (typeof object !== 'object' || object === null) return false;
  const hasList = list === undefined || Array.isArray(Reflect.get(object, list));
  return hasList && typeof Reflect.get(object, text) === 'string';
}

const kinds: Readonly<Record<Event['kind'], true>> = {
  ...{ nodeUpsert: true, nodeDelete: true, podUpsert: true, podDelete: true },
  ...{ leaseUpsert: true, leaseDelete: true, daemonSetUpsert: true, daemonSetDelete: true },
  ...{ namespaceUpsert: true, namespaceDelete: true, policyUpsert: true, policyDelete: true },
  ...{ taintRuleUpsert: true, taintRuleDelete: true, pauseUpsert: true, pauseDelete: true },
  ...{ resourceSliceUpsert: true, resourceSliceDelete: true, deviceTaintRuleUpsert: true },
  ...{ deviceTaintRuleDelete: true, resourceClaimUpsert: true, resourceClaimDelete: true },
  ...{ deviceRights: true },
  ...{ nodeDrainUpsert: true, nodeDrainDelete: true, podViews: true, otherEvictors: true },
  ...{ view: true, clock: true, synced: true, leadership: true, resumeEvictions: true },
  ...{ limitRecord: true, evictionRequests: true, result: true, tick: true },
};

/** The events of the engine. A relist arrives as upserts and deletes; there is no "resync". */
export type Event =
  /** `afterGap`: there may have been states in between that were not reported. */
  | { readonly kind: 'nodeUpsert'; readonly node: Node; readonly afterGap?: boolean }
  | { readonly kind: 'nodeDelete'; readonly name: string }
  | { readonly kind: 'podUpsert'; readonly pod: Pod }
  | { readonly kind: 'podDelete'; readonly uid: string }
  | { readonly kind: 'leaseUpsert'; readonly lease: Lease }
  | { readonly kind: 'leaseDelete'; readonly nodeName: string }
  | { readonly kind: 'daemonSetUpsert'; readonly daemonSet: DaemonSet }
  | { readonly kind: 'daemonSetDelete'; readonly uid: string }
  | { readonly kind: 'namespaceUpsert'; readonly namespace: Namespace }
  | { readonly kind: 'namespaceDelete'; readonly name: string }
  /** Policies, rules and pauses, as the cluster or a file has them; the same again is no news. */
  | { readonly kind: 'policyUpsert'; readonly policy: EvictionPolicy }
  | { readonly kind: 'policyDelete'; readonly name: string }
  | { readonly kind: 'taintRuleUpsert'; readonly rule: NodeTaintRule }
  | { readonly kind: 'taintRuleDelete'; readonly name: string }
  | { readonly kind: 'pauseUpsert'; readonly pause: EvictionPause }
  | { readonly kind: 'pauseDelete'; readonly name: string }
  /**
   * The state of devices, where kube-controller-manager's device-taint-eviction-controller looks
   * too.
   */
  | DeviceEvent
  /** A drain is declared, says something else, or its status does. */
  | { readonly kind: 'nodeDrainUpsert'; readonly drain: NodeDrain }
  | { readonly kind: 'nodeDrainDelete'; readonly name: string }
  /** The view of the pods of these nodes, and of those of all others; before the first: watched. */
  | { readonly kind: 'podViews'; readonly others: PodView; readonly nodes: PodViews }
  /** Who else evicts for NoExecute taints; before the first that is not known, and no NodeDrain puts one on. */
  | { readonly kind: 'otherEvictors'; readonly others: OtherEvictors }
  /** True when what we hear of the cluster is current; false while a watch is cut off. */
  | { readonly kind: 'view'; readonly current: boolean }
  /** The lead of the cluster's clock over `now`, negative: behind; before the first: 0. */
  | { readonly kind: 'clock'; readonly ahead: Millis }
  /** Everything that existed has been told once; nothing is evicted before. */
  | { readonly kind: 'synced' }
  /**
   * True when this replica may act. A standby stays warm and sends nothing. `since`: it has acted
   * since then (-Infinity: all along), so that silence of nodes counts from their last sign of
   * life, and under `upstream-1.36` with timers, queues and states that are not reported. `seed`,
   * there alone: the source of chance in kube-controller-manager, for the order of nodes and the
   * moments of its passes; left out: nodes are ordered by name, and a pass begins at once.
   */
  | {
      readonly kind: 'leadership';
      readonly held: boolean;
      readonly since?: Instant;
      readonly seed?: number;
    }
  /** Go on where a limit tripped: those of these names, or (left out) all. */
  | { readonly kind: 'resumeEvictions'; readonly limits?: readonly string[] }
  /** The record that `readLimits` has found (null: none is written), and the requests that people left there. */
  | {
      readonly kind: 'limitRecord';
      readonly record: LimitRecord | null;
      readonly resume: ResumeRequest | null;
    }
  /** The requests that `readEvictionRequests` has found; `isServed`: whether the cluster has them. */
  | {
      readonly kind: 'evictionRequests';
      readonly drain: string;
      readonly isServed: boolean;
      readonly requests: readonly EvictionRequest[];
    }
  /** The outcome of the command with this id. */
  | { readonly kind: 'result'; readonly id: string; readonly outcome: Outcome }
  /** Act on the present state. An extra tick is harmless. */
  | { readonly kind: 'tick' };

// The commands that make one pod leave, and those that write an Event.
import type { Instant } from '../kernel/time.ts';
import type { NodeRef } from '../model/node.ts';
import type { PodRef } from '../model/pod.ts';

/**
 * Why pods leave in the legacy mode of kube-controller-manager: their node has not been ready since
 * then, and for longer than it is given. Times are wall-clock times.
 */
export interface NodeNotReadyReason {
  readonly code: 'NodeNotReady';
  readonly nodeName: string;
  readonly ready: 'False' | 'Unknown';
  readonly since: Instant;
  readonly deadline: Instant;
}

/** A request that makes one pod leave; `R` says why. Each is answered by one result that carries its id. */
export type PodCommand<R> =
  /**
   * Set the DisruptionTarget condition, then DELETE. Guard `uid`: this very pod or none; `name`:
   * whatever pod has the name by then, as kube-controller-manager does.
   */
  | {
      readonly kind: 'deletePod';
      readonly id: string;
      readonly pod: PodRef;
      /** The cache may be stale: read again what led to the decision first. */
      readonly confirm: boolean;
      readonly guard: 'uid' | 'name';
      readonly generation: number;
      /** Null: the pod's own. */
      readonly gracePeriodSeconds: number | null;
      /** Budgets held the pod back until now and are no longer asked. */
      readonly escalated: boolean;
      /** Left out: the condition DisruptionTarget is set first. */
      readonly unmarked?: true;
      readonly ofDrain?: true;
      readonly because: readonly R[];
    }
  /** POST pods/eviction with the uid as precondition: disruption budgets are respected. */
  | {
      readonly kind: 'evictPod';
      readonly id: string;
      readonly pod: PodRef;
      readonly confirm: boolean;
      readonly gracePeriodSeconds: number | null;
      /** Requested by the drain whose sign on the node shows that it is at work there. */
      readonly ofDrain?: true;
      /** Read a budget that refuses. */
      readonly readsBudget?: true;
      readonly because: readonly R[];
    };

/** Write a Kubernetes Event about the pod. */
export interface RecordPodEvent<R> {
  readonly kind: 'recordEvent';
  /** Left out: the eviction machine. */
  readonly reporter?: 'lifecycle';
  readonly pod: PodRef;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly because: readonly R[];
}

/** Write a Kubernetes Event about the node. */
export interface RecordNodeEvent {
  readonly kind: 'recordNodeEvent';
  readonly node: NodeRef;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

import type { Blocker } from './attempt/blocker.ts';
import type { Setback } from './event.ts';
import type { Cause, Reason } from './eviction/reason.ts';
import type { Instant } from './kernel/time.ts';
import type { LifecycleReason, LifecycleReport } from './lifecycle/reason.ts';
import type { Labels, NodeCondition, NodeRef, PodRef, Taint } from './model.ts';
import type { LimitHit, LimitStatus } from './policy/limit.ts';
import type { LimitRecord } from './policy/limit-record.ts';

/** Something worth telling a person; it changes nothing in the cluster. */
export type Report = PodReport | LimitReport | LifecycleReport;

/** What is told of limits. */
export type LimitReport =
  /** A limit has tripped: pods under it are not evicted until it is resumed. */
  | { readonly kind: 'limitTripped'; readonly limit: LimitStatus }
  | { readonly kind: 'limitResumed'; readonly limit: LimitHit; readonly by: string };

/** What is told of the eviction of one pod. */
export type PodReport =
  /** A pod's deadline came up, moved or went away. null: no eviction pending. */
  | {
      readonly kind: 'deadline';
      readonly pod: PodRef;
      readonly from: Instant | null;
      readonly to: Instant | null;
      readonly cause: Cause;
      readonly because: readonly Reason[];
    }
  /** An eviction failed; the next attempt is at `at`. */
  | {
      readonly kind: 'retry';
      readonly pod: PodRef;
      readonly attempt: number;
      readonly at: Instant;
      readonly setback: Setback;
      readonly blocker: Blocker;
    }
  /** A limit holds an eviction back; `until` null: until a pod has left, or evictions resume. */
  | {
      readonly kind: 'held';
      readonly pod: PodRef;
      readonly hit: LimitHit;
      readonly until: Instant | null;
    };

/** Two taints of a node are the same taint when key and effect agree. */
export type TaintName = Pick<Taint, 'key' | 'effect'>;

/**
 * What the engine wants done, as data. A command with an id must be answered with one `result`
 * event that carries it; `recordEvent`, `recordNodeEvent`, `recordLimitEvent` and `report` have no
 * result.
 */
export type Command = EvictionCommand | NodeCommand | Telling;

/** What the taint eviction machine wants done. */
export type EvictionCommand =
  /**
   * Set the DisruptionTarget condition, then DELETE. Guard `uid`: this very pod or none; `name`:
   * whatever pod has the name by then, as kube-controller-manager does.
   */
  | {
      readonly kind: 'deletePod';
      readonly id: string;
      readonly pod: PodRef;
      /** Our view may be old: what decided is to be read again first. */
      readonly confirm: boolean;
      readonly guard: 'uid' | 'name';
      readonly generation: number;
      /** Null: the pod's own. */
      readonly gracePeriodSeconds: number | null;
      /** Budgets held the pod back until now and are asked no more. */
      readonly escalated: boolean;
      /** Left out: the condition DisruptionTarget is set first. */
      readonly unmarked?: true;
      readonly because: readonly Reason[];
    }
  /** POST pods/eviction with the uid as precondition: disruption budgets are respected. */
  | {
      readonly kind: 'evictPod';
      readonly id: string;
      readonly pod: PodRef;
      readonly confirm: boolean;
      readonly gracePeriodSeconds: number | null;
      readonly because: readonly Reason[];
    }
  /**
   * Write down on the node since when its taints count, by `key=value:effect`, in the place of what
   * is written there; null: take it away.
   */
  | {
      readonly kind: 'keepTaintStarts';
      readonly id: string;
      readonly nodeName: string;
      readonly nodeUid: string;
      readonly starts: Readonly<Record<string, Instant>> | null;
      /** When the taints they are of were written: they hold until that changes. Null: not known. */
      readonly taintsWrittenAt: Instant | null;
    }
  | LimitCommand;

/** How limits survive a restart and a failover. */
export type LimitCommand =
  /** Read the record of limits: a `limitRecord` event, then the result. */
  | { readonly kind: 'readLimits'; readonly id: string }
  /**
   * Write the record, unless somebody else has written since it was read (outcome `changed`). Nothing
   * that it counts begins before it is done. `resumed`: the request to resume is taken away.
   */
  | {
      readonly kind: 'keepLimits';
      readonly id: string;
      readonly record: LimitRecord;
      readonly resumed: boolean;
    };

/** What the node lifecycle machine wants done. */
export type NodeCommand =
  /**
   * Change the taints of a node in one write: those to remove go, those it lacks are appended.
   * Nothing is written that would change nothing.
   */
  | {
      readonly kind: 'changeTaints';
      readonly id: string;
      readonly node: NodeRef;
      readonly add: readonly Taint[];
      readonly remove: readonly TaintName[];
      /** Read past the API server's cache first: an earlier attempt met a conflict. */
      readonly fresh: boolean;
      /** Only if its condition Ready still has this status (null: it has none); left out: anyhow. */
      readonly seen?: string | null;
      /** A taint that is there already gets a new time. */
      readonly overwrite?: true;
      /** What the node's note of taints that rules put on should say after it; null: no note. */
      readonly owned?: Readonly<Record<string, string>> | null;
      readonly because: readonly LifecycleReason[];
    }
  /**
   * Give conditions of a node a new state; those of other types stay. `seen`: only if its condition
   * Ready still has this heartbeat and status; null: it had none. `leaseRenewedAt`: and only if its
   * lease has not been renewed since (null: there is none, or it names no time); left out: anyhow.
   */
  | {
      readonly kind: 'setNodeConditions';
      readonly id: string;
      readonly node: NodeRef;
      readonly conditions: readonly NodeCondition[];
      readonly seen: Pick<NodeCondition, 'status' | 'heartbeatAt'> | null;
      readonly leaseRenewedAt?: Instant | null;
    }
  | {
      readonly kind: 'setNodeLabels';
      readonly id: string;
      readonly node: NodeRef;
      readonly labels: Labels;
    }
  /** Set the status of the pod's condition Ready to False, unless it is or there is none. */
  | {
      readonly kind: 'markPodNotReady';
      readonly id: string;
      readonly pod: PodRef;
      /** Left out: where our view may be old, only if its node still is silent. */
      readonly blind?: true;
    }
  /** Write status.reason NodeLost with this message, unless the reason is that already. */
  | {
      readonly kind: 'markPodLost';
      readonly id: string;
      readonly pod: PodRef;
      readonly message: string;
    };

/** What people are told. */
export type Telling =
  /** Write a Kubernetes Event about the pod. */
  | {
      readonly kind: 'recordEvent';
      /** Left out: the eviction machine. */
      readonly reporter?: 'lifecycle';
      readonly pod: PodRef;
      readonly type: 'Normal' | 'Warning';
      readonly reason: string;
      readonly message: string;
      readonly because: readonly Reason[];
    }
  /** Write a Kubernetes Event about the node. */
  | {
      readonly kind: 'recordNodeEvent';
      readonly node: NodeRef;
      readonly type: 'Normal' | 'Warning';
      readonly reason: string;
      readonly message: string;
    }
  /** Write a Kubernetes Event about the record of limits. */
  | {
      readonly kind: 'recordLimitEvent';
      readonly type: 'Normal' | 'Warning';
      readonly reason: string;
      readonly message: string;
    }
  | { readonly kind: 'report'; readonly report: Report };

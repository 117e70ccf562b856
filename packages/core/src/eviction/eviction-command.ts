import type { Blocker } from '../attempt/blocker.ts';
import type { Setback } from '../attempt/outcome.ts';
import type { PodCommand, RecordPodEvent } from '../attempt/pod-command.ts';
import type { Instant } from '../kernel/time.ts';
import type { PastPause } from '../model/node.ts';
import type { PodRef } from '../model/pod.ts';
import type { LimitHit, LimitStatus } from '../policy/limit.ts';
import type { LimitRecord } from '../policy/limit-record.ts';
import type { Cause, Reason } from './reason.ts';

/** The commands of the taint eviction machine. */
export type EvictionCommand =
  | PodCommand<Reason>
  /**
   * Write down on the node since when its taints count, by `key=value:effect`, in the place of the
   * earlier record; null: take it away.
   */
  | {
      readonly kind: 'keepTaintStarts';
      readonly id: string;
      readonly nodeName: string;
      readonly nodeUid: string;
      readonly starts: Readonly<Record<string, Instant>> | null;
      /** The pauses that are gone and from which pods of the node have time back; written with it. */
      readonly pauses: readonly PastPause[];
      /** When the taints they are of were written: they hold until that changes. Null: not known. */
      readonly taintsWrittenAt: Instant | null;
    }
  /** Take away the condition DisruptionTarget that we have set: the pod does not go any more. */
  | { readonly kind: 'unmarkPod'; readonly id: string; readonly pod: PodRef }
  | LimitCommand
  | ReadEvictionRequests
  | WriteEvictionRequest;

/** Commands by which limits survive a restart and a failover. */
export type LimitCommand =
  /**
   * Read the record of limits: a `limitRecord` event, then the result. `tidies`: no limit needs it, and
   * no pod waits for it; only what is left of limits that are gone is looked for.
   */
  | { readonly kind: 'readLimits'; readonly id: string; readonly tidies?: true }
  /**
   * Write the record, unless another program has written since it was read (outcome `changed`).
   * Nothing that it counts begins before it is done. `resumed`: the request to resume is taken
   * away. `tidies`: as no limit needs it any more, the record is removed.
   */
  | {
      readonly kind: 'keepLimits';
      readonly id: string;
      readonly record: LimitRecord;
      readonly resumed: boolean;
      readonly tidies?: true;
    };

/**
 * List the EvictionRequests of the cluster. Answered by an event `evictionRequests`, where there is an
 * answer, and by one `result` that carries the id.
 */
export interface ReadEvictionRequests {
  readonly kind: 'readEvictionRequests';
  /** Names the command in its `result`. */
  readonly id: string;
  /** The name of the NodeDrain that asks; '': the taint eviction does. */
  readonly drain: string;
  /** Its uid, or `taintEviction`. */
  readonly uid: string;
}

/** Request the eviction of a pod, or take a request back. Answered by one `result` that carries the id. */
export interface WriteEvictionRequest {
  readonly kind: 'writeEvictionRequest';
  /** Names the command in its `result`. */
  readonly id: string;
  /** Name of the NodeDrain that asks; '': the taint eviction asks. */
  readonly drain: string;
  /** Its uid, or `taintEviction`. */
  readonly uid: string;
  /** The request to create, or to withdraw. */
  readonly write:
    | { readonly kind: 'create'; readonly pod: PodRef }
    | { readonly kind: 'withdraw'; readonly namespace: string; readonly name: string };
}

/** The reports of the taint eviction machine; they change nothing but Events. */
export type EvictionNotice =
  | RecordPodEvent<Reason>
  /** Write a Kubernetes Event about the record of limits. */
  | {
      readonly kind: 'recordLimitEvent';
      readonly type: 'Normal' | 'Warning';
      readonly reason: string;
      readonly message: string;
    }
  | { readonly kind: 'report'; readonly report: PodReport | LimitReport };

/** A report about limits. */
export type LimitReport =
  /** A limit has tripped: pods under it are not evicted until it is resumed. */
  | { readonly kind: 'limitTripped'; readonly limit: LimitStatus }
  | { readonly kind: 'limitResumed'; readonly limit: LimitHit; readonly by: string };

/** A report about the eviction of one pod. */
export type PodReport =
  /** A pod's deadline came up, moved or went away. null: no eviction pending. */
  | {
      readonly kind: 'deadline';
      readonly pod: PodRef;
      readonly from: Instant | null;
      readonly to: Instant | null;
      readonly cause: Cause;
      readonly because: readonly Reason[];
      /**
       * The pod leaves, and a request of ours without an answer may have caused it; left out: none
       * did.
       */
      readonly unanswered?: true;
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
  /**
   * A limit holds an eviction back; `until` null: until a pod has left, evictions resume, or what the
   * limit has counted is stored after all (`hit.limit` is `record`).
   */
  | {
      readonly kind: 'queued';
      readonly pod: PodRef;
      readonly hit: LimitHit;
      readonly until: Instant | null;
    };

/** All that the machine answers. */
export type MachineCommand = EvictionCommand | EvictionNotice;

import type { Setback } from './event.ts';
import type { Blocker } from './eviction/blocker.ts';
import type { LimitHit } from './eviction/governor.ts';
import type { PodRef } from './model.ts';
import type { Cause, Reason } from './reason.ts';
import type { Instant } from './time.ts';

/** Something worth telling a person; it changes nothing in the cluster. */
export type Report =
  /** A pod's deadline came up, moved or went away. null: no eviction pending. */
  | {
      readonly kind: 'deadline';
      readonly pod: PodRef;
      readonly from: Instant | null;
      readonly to: Instant | null;
      readonly cause: Cause;
      readonly because: readonly Reason[];
    }
  /** An eviction did not go through; the next attempt is at `at`. */
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

/**
 * What the engine wants done. `deletePod`, `evictPod` and `keepTaintStarts` must each be answered
 * with one `result` event carrying their id; `recordEvent` and `report` have no result.
 */
export type Command =
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
    }
  /** Write a Kubernetes Event about the pod. */
  | {
      readonly kind: 'recordEvent';
      readonly pod: PodRef;
      readonly type: 'Normal' | 'Warning';
      readonly reason: string;
      readonly message: string;
      readonly because: readonly Reason[];
    }
  | { readonly kind: 'report'; readonly report: Report };

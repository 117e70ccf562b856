import type { Outcome } from './event.ts';
import type { PodRef } from './model.ts';
import type { Cause, Reason } from './reason.ts';
import type { Instant } from './time.ts';

/** Why an attempt ended without success; the outcome as it came. */
export type Setback = Extract<Outcome, { kind: 'blocked' | 'failed' }>;

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
    };

/**
 * What the engine wants done. `deletePod` and `evictPod` must be answered with one `result` event
 * carrying their id; `recordEvent` and `report` are best effort and have no result.
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
      readonly guard: 'uid' | 'name';
      readonly generation: number;
      readonly because: readonly Reason[];
    }
  /** POST pods/eviction with the uid as precondition: disruption budgets are respected. */
  | {
      readonly kind: 'evictPod';
      readonly id: string;
      readonly pod: PodRef;
      readonly because: readonly Reason[];
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

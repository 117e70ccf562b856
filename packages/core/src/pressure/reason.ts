// Why something is done about a node under pressure or its pods, or not, as data.
import type { Setback } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import type { PodRef } from '../model/pod.ts';
import type { LocalBreach } from './local-limits.ts';
import type { Sample, SampleFault } from './observation/observation.ts';
import type { Threshold } from './settings/thresholds.ts';
import type { Signal } from './signals.ts';

/** Why a pod is never evicted, or not now. */
export type PodRefusal =
  | { readonly code: 'StaticPod' }
  /** The machine runs in it. */
  | { readonly code: 'OwnPod' }
  | { readonly code: 'CriticalPriority'; readonly priority: number }
  | { readonly code: 'Terminating' }
  /** Nothing is known of what it uses: to evict it might free nothing. */
  | { readonly code: 'UsageUnknown' }
  /** It uses nothing of what is short. */
  | { readonly code: 'UsesNothing' }
  /** A quantity in its resources is none. */
  | { readonly code: 'ResourcesUnreadable' }
  /** An eviction was refused lately: others are tried first, until then. */
  | { readonly code: 'PassedOver'; readonly setback: Setback; readonly until: Instant };

/** Why something is done about a node, or not, as data. text.ts turns it into a sentence. */
export type PressureReason =
  | SampleFault
  | PodRefusal
  /** The threshold is met: less is available than it asks for. */
  | {
      readonly code: 'ThresholdMet';
      readonly threshold: Threshold;
      readonly sample: Sample;
      /** What the threshold asks for, in the units of the sample. */
      readonly amount: number;
    }
  /** It was acted on, and what it wants reclaimed is not there yet. */
  | {
      readonly code: 'MinimumReclaim';
      readonly threshold: Threshold;
      readonly sample: Sample;
      /** So much ends it. */
      readonly clearAt: number;
    }
  | { readonly code: 'GracePeriod'; readonly threshold: Threshold; readonly dueAt: Instant }
  | { readonly code: 'LocalLimit'; readonly breach: LocalBreach }
  /** Not yet, or not since it has the settings that hold now. */
  | { readonly code: 'NeverObserved' }
  /** The node could not be asked. */
  | { readonly code: 'ReadFailed'; readonly message: string; readonly at: Instant }
  /** Measured before the last eviction had an effect. */
  | { readonly code: 'SampleNotNewer'; readonly signal: Signal; readonly time: Instant | null }
  | { readonly code: 'LayoutUnknown' }
  /** A pod is on its way out: what it frees is not seen yet. */
  | { readonly code: 'PodLeaving'; readonly pod: PodRef; readonly until: Instant }
  /** Every pod of the node is refused. */
  | { readonly code: 'NoCandidate' };

export type PressureReasonCode = PressureReason['code'];

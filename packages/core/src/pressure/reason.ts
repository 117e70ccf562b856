// Why something is done about a node under pressure or its pods, or not, as data.
import type { Setback } from '../attempt/outcome.ts';
import { formatDuration, type Instant } from '../kernel/time.ts';
import type { PodRef } from '../model/pod.ts';
import { formatAmount } from '../model/quantity.ts';
import { type LocalBreach, localLimitMessage } from './local-limits.ts';
import type { Sample, SampleFault } from './observation/observation.ts';
import { formatThreshold, type Threshold } from './settings/thresholds.ts';
import { isInBytes, type Signal } from './signals.ts';

/** Why a pod is never evicted, or not now. */
export type PodRefusal =
  | { readonly code: 'StaticPod' }
  /** The machine runs in it. */
  | { readonly code: 'OwnPod' }
  | { readonly code: 'CriticalPriority'; readonly priority: number }
  | { readonly code: 'Terminating' }
  /** Its usage is unknown: to evict it might free nothing. */
  | { readonly code: 'UsageUnknown' }
  /** The pod uses nothing of the scarce resource. */
  | { readonly code: 'UsesNothing' }
  /** A quantity in its resources is invalid. */
  | { readonly code: 'ResourcesUnreadable' }
  /** An eviction was refused lately: others are tried first, until then. */
  | { readonly code: 'PassedOver'; readonly setback: Setback; readonly until: Instant };

/** Why something is done about a node, or not, as data. describePressureReason turns it into a sentence. */
export type PressureReason =
  | SampleFault
  | PodRefusal
  /** The threshold is met: less is available than it asks for. */
  | {
      readonly code: 'ThresholdMet';
      readonly threshold: Threshold;
      readonly sample: Sample;
      /** The amount for which the threshold asks, in the units of the sample. */
      readonly amount: number;
    }
  /** The threshold was acted on, and its minimum reclaim is not there yet. */
  | {
      readonly code: 'MinimumReclaim';
      readonly threshold: Threshold;
      readonly sample: Sample;
      /** The amount that ends it. */
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
  /** A pod is on its way out: the space that it frees is not seen yet. */
  | { readonly code: 'PodLeaving'; readonly pod: PodRef; readonly until: Instant }
  /** Every pod of the node is refused. */
  | { readonly code: 'NoCandidate' };

/** Describes one reason of node pressure in words, as tables, logs and reports print it. */
export function describePressureReason(reason: PressureReason): string {
  switch (reason.code) {
    case 'SignalMissing':
      return `${reason.signal} is missing`;
    case 'SignalNonsense': {
      const { available, capacity } = reason.sample;
      return `${reason.signal} makes no sense: ${available} available of ${capacity}`;
    }
    case 'SignalWithoutTime':
      return `${reason.signal} does not say when it was measured`;
    case 'SignalStale':
      return describeAge(reason.signal, reason.age);
    case 'SampleNotNewer':
      return `${reason.signal} was measured before the last action could show`;
    case 'NeverObserved':
      return 'the node has not been observed yet';
    case 'ReadFailed':
      return `the kubelet could not be read: ${reason.message}`;
    case 'LayoutUnknown':
      return 'its file system layout is not known yet';
    case 'ThresholdMet': {
      const { threshold, sample, amount } = reason;
      const [is, wanted] = [sample.available, amount].map((one) => describe(threshold.signal, one));
      return `${formatThreshold(threshold)} is met: ${is} available, ${wanted} wanted`;
    }
    case 'MinimumReclaim': {
      const { threshold, sample, clearAt } = reason;
      const [is, ends] = [sample.available, clearAt].map((one) => describe(threshold.signal, one));
      return `${formatThreshold(threshold)} was met: ${is} available, ${ends} ends it`;
    }
    case 'GracePeriod':
      return describeGrace(reason);
    case 'LocalLimit':
      return localLimitMessage(reason.breach).trim().replace(/\.$/, '');
    case 'PodLeaving':
      return `pod ${reason.pod.namespace}/${reason.pod.name} is terminating, and that is enough`;
    case 'NoCandidate':
      return 'no pod may be evicted';
    case 'StaticPod':
      return 'static pod: only its node can stop it';
    case 'OwnPod':
      return 'the pod of the controller that evicts';
    case 'CriticalPriority':
      return `critical pod: its priority is ${reason.priority}`;
    case 'Terminating':
      return 'already terminating';
    case 'UsageUnknown':
      return 'its usage is unknown';
    case 'UsesNothing':
      return 'uses none of the scarce resource';
    case 'ResourcesUnreadable':
      return 'its resources cannot be parsed';
    case 'PassedOver':
      return `skipped: ${reason.setback.message}`;
  }
}

function describeGrace({ threshold }: Extract<PressureReason, { code: 'GracePeriod' }>): string {
  const grace = formatDuration(threshold.gracePeriodMs);
  return `${formatThreshold(threshold)} has a grace period of ${grace}`;
}

function describeAge(signal: Signal, age: number): string {
  return age < 0
    ? `${signal} was measured ${formatDuration(-age)} in the future: the clocks differ`
    : `${signal} was measured ${formatDuration(age)} ago`;
}

function describe(signal: Signal, amount: number): string {
  return formatAmount(amount, isInBytes(signal) ? 'BinarySI' : 'DecimalSI');
}

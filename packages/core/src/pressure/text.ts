import { formatDuration } from '../kernel/time.ts';
import { formatAmount } from '../model/quantity.ts';
import { localLimitMessage } from './eviction-message.ts';
import type { PressureReason } from './reason.ts';
import { formatThreshold } from './settings/thresholds.ts';
import { isInBytes, type Signal } from './signals.ts';

/** One reason of node pressure in words, as tables, logs and reports print it. */
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

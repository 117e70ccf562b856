import { formatDuration } from '../time.ts';
import { localLimitMessage } from './messages.ts';
import { formatAmount } from './quantity.ts';
import type { PressureReason } from './reason.ts';
import { isInBytes, type Signal } from './signals.ts';
import { formatThreshold } from './thresholds.ts';

/** One reason in words, as tables, logs and reports print it. */
export function describePressureReason(reason: PressureReason): string {
  switch (reason.code) {
    case 'SignalMissing':
      return `${reason.signal} was not seen`;
    case 'SignalNonsense': {
      const { available, capacity } = reason.sample;
      return `${reason.signal} makes no sense: ${available} available of ${capacity}`;
    }
    case 'SignalWithoutTime':
      return `${reason.signal} does not say when it was measured`;
    case 'SignalStale':
      return describeAge(reason.signal, reason.age);
    case 'SampleNotNewer':
      return `${reason.signal} was measured before what was done last could show`;
    case 'NeverObserved':
      return 'the node was not seen yet';
    case 'ReadFailed':
      return `the node could not be asked: ${reason.message}`;
    case 'LayoutUnknown':
      return 'how its file systems lie was not seen yet';
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
      return `pod ${reason.pod.namespace}/${reason.pod.name} is on its way out, and that is enough`;
    case 'NoCandidate':
      return 'no pod may be evicted';
    case 'StaticPod':
      return 'static pod: only its node can stop it';
    case 'CriticalPriority':
      return `critical pod: its priority is ${reason.priority}`;
    case 'Terminating':
      return 'already terminating';
    case 'UsageUnknown':
      return 'what it uses is not known';
    case 'UsesNothing':
      return 'uses nothing of what is short';
    case 'ResourcesUnreadable':
      return 'its resources cannot be read';
    case 'PassedOver':
      return `passed over: ${reason.setback.message}`;
  }
}

function describeGrace({ threshold }: Extract<PressureReason, { code: 'GracePeriod' }>): string {
  const grace = formatDuration(threshold.gracePeriodMs);
  return `${formatThreshold(threshold)} has a grace period of ${grace}`;
}

function describeAge(signal: Signal, age: number): string {
  return age < 0
    ? `${signal} was measured ${formatDuration(-age)} from now: the clocks differ`
    : `${signal} was measured ${formatDuration(age)} ago`;
}

function describe(signal: Signal, amount: number): string {
  return formatAmount(amount, isInBytes(signal) ? 'BinarySI' : 'DecimalSI');
}

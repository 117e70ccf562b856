// Names the difference between a decision and that of kube-controller-manager, as docs/differences.md has it.
import type { Decision } from '../eviction/decide.ts';
import type { Reason } from '../eviction/reason.ts';
import { formatTaint } from '../model/taint.ts';

const secondsMax = 9_223_372_036;
const second = 1000;

interface DifferenceCase {
  readonly name: string;
  readonly applies: (ours: Decision, theirs: Decision) => boolean;
}

/** The most telling first; a test finds each name in docs/differences.md. */
export const differenceCases: readonly DifferenceCase[] = [
  { name: 'terminating-again', applies: (ours) => decisive(ours)?.code === 'Terminating' },
  { name: 'static-pods', applies: (ours) => decisive(ours)?.code === 'StaticPod' },
  { name: 'last-replica', applies: (ours) => decisive(ours)?.code === 'LastReplica' },
  { name: 'no-exceptions', applies: (ours) => isException(decisive(ours)) },
  { name: 'pauses', applies: (ours) => ours.because.some(({ code }) => code === 'Paused') },
  { name: 'drain-marks', applies: (ours) => isAboutDrain(decisive(ours)) },
  { name: 'policies', applies: (ours) => isByPolicy(decisive(ours)) },
  {
    name: 'device-toleration-without-effect',
    applies: (ours, theirs) => ours.because.some(isHeeded) && isForDevice(decisive(theirs)),
  },
  {
    name: 'device-extended-resource',
    applies: (ours, theirs) => isForDevice(decisive(ours)) && !theirs.because.some(isForDevice),
  },
  { name: 'no-pacing', applies: (ours) => isTooYoung(ours) },
  { name: 'node-deletion-keeps-timers', applies: (ours) => decisive(ours)?.code === 'NodeUnknown' },
  { name: 'seconds-wrap', applies: (ours, theirs) => [ours, theirs].some(wraps) },
  { name: 'five-tries', applies: (_, theirs) => decisive(theirs)?.code === 'GivenUp' },
  { name: 'first-timer-kept', applies: (_, theirs) => isOtherTime(theirs) },
  { name: 'rest-of-second', applies: (ours, theirs) => isRestOfSecond(ours, theirs) },
  { name: 'late-binding', applies: (ours) => startSource(ours) === 'podBound' },
  { name: 'time-added-ignored', applies: () => true },
];

/** The difference between two decisions, by name; empty where there is none. */
export function classify(ours: Decision, theirs: Decision): readonly string[] {
  const same =
    ours.kind === theirs.kind &&
    (ours.kind !== 'evict' || theirs.kind !== 'evict' || ours.deadline === theirs.deadline);
  if (same) return [];
  const found = differenceCases.find(({ applies }) => applies(ours, theirs));
  return found ? [found.name] : [];
}

function decisive({ because }: Decision): Reason | undefined {
  return because[0];
}

function isForDevice(reason: Reason | undefined): boolean {
  return reason !== undefined && 'device' in reason;
}

/** The taint of a device is tolerated by what names no effect. */
function isHeeded(reason: Reason): boolean {
  return (
    reason.code === 'ToleratedForever' && isForDevice(reason) && reason.toleration.effect === ''
  );
}

function isException(reason: Reason | undefined): boolean {
  const codes: readonly string[] = ['Finished', 'OptedOut', 'ReturningDaemonSetPod'];
  return reason !== undefined && codes.includes(reason.code);
}

/** The pod is kept or given time by a policy, or because one may count. */
function isByPolicy(reason: Reason | undefined): boolean {
  const codes: readonly string[] = ['KeptByPolicy', 'PolicyUndecided'];
  return reason !== undefined && (codes.includes(reason.code) || 'given' in reason);
}

/** The pod is left to a drain, or was until now. */
function isAboutDrain(reason: Reason | undefined): boolean {
  return reason?.code === 'LeftToDrain' || (reason !== undefined && 'staleDrain' in reason);
}

/** A taint that is not acted on before it has lasted for a while. */
function isTooYoung(ours: Decision): boolean {
  const reason = decisive(ours);
  return reason?.code === 'NoToleration' && reason.deadline > reason.start;
}

function wraps(decision: Decision): boolean {
  return decision.because.some(
    (reason) =>
      reason.code === 'TolerationExpires' &&
      Number(reason.toleration.tolerationSeconds) > secondsMax,
  );
}

/**
 * True when upstream's deadline differs from its own reading of the taints now: the deadline was
 * set for another reading.
 */
function isOtherTime(theirs: Decision): boolean {
  if (decisive(theirs)?.code === 'TimerKept') return true;
  if (theirs.kind !== 'evict') return false;
  const readings = theirs.because.flatMap((reason) =>
    reason.code === 'TolerationExpires' ? [reason.deadline] : [],
  );
  return readings.length > 0 && theirs.deadline !== Math.min(...readings);
}

/**
 * True when upstream's time for the same taint is over within the second at whose end ours is: the
 * API keeps whole seconds, upstream was there and saw when it was.
 */
function isRestOfSecond(ours: Decision, theirs: Decision): boolean {
  const reason = decisive(ours);
  if (reason?.code !== 'TolerationExpires' || theirs.kind !== 'evict') return false;
  const counted = theirs.because.some(
    (other) => other.code === reason.code && formatTaint(other.taint) === formatTaint(reason.taint),
  );
  const rest = reason.deadline - theirs.deadline;
  return counted && reason.start % second === 0 && rest > 0 && rest <= second;
}

function startSource(decision: Decision): string | null {
  const reason = decisive(decision);
  return reason && 'startSource' in reason ? reason.startSource : null;
}

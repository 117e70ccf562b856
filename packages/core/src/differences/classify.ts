import type { Decision } from '../eviction/decide.ts';
import type { Reason } from '../eviction/reason.ts';
import type { Pod } from '../model/pod.ts';
import { formatTaint } from '../model/taint-spec.ts';
import type { RuleName } from './rules.ts';

/** The named rule by which upstream and `precise` differ about one pod; empty where they agree. */
const secondsMax = 9_223_372_036;
const second = 1000;

interface Case {
  readonly rule: RuleName;
  readonly applies: (pod: Pod, ours: Decision, theirs: Decision) => boolean;
}

/** Which rule makes the difference, the most telling first. */
const cases: readonly Case[] = [
  { rule: 'terminating-again', applies: (_, ours) => decisive(ours)?.code === 'Terminating' },
  { rule: 'static-pods', applies: (_, ours) => decisive(ours)?.code === 'StaticPod' },
  { rule: 'no-exceptions', applies: (_, ours) => isException(decisive(ours)) },
  { rule: 'no-pacing', applies: (_, ours) => ours.kind === 'pause' || isSettling(ours) },
  {
    rule: 'node-deletion-keeps-timers',
    applies: (_, ours) => decisive(ours)?.code === 'NodeUnknown',
  },
  { rule: 'seconds-wrap', applies: (_, ours, theirs) => [ours, theirs].some(wraps) },
  { rule: 'five-tries', applies: (_, _ours, theirs) => decisive(theirs)?.code === 'GivenUp' },
  {
    rule: 'first-timer-kept',
    applies: (_, _ours, theirs) => decisive(theirs)?.code === 'TimerKept',
  },
  { rule: 'first-timer-kept', applies: (_, ours, theirs) => isOtherTime(ours, theirs) },
  { rule: 'rest-of-second', applies: (_, ours, theirs) => isRestOfSecond(ours, theirs) },
  { rule: 'late-binding', applies: (_, ours) => startSource(ours) === 'podBound' },
  { rule: 'time-added-ignored', applies: () => true },
];

/** The rule by which the decisions differ; empty where they do not. */
export function differences(pod: Pod, ours: Decision, theirs: Decision): readonly RuleName[] {
  const same =
    ours.kind === theirs.kind &&
    (ours.kind !== 'evict' || theirs.kind !== 'evict' || ours.deadline === theirs.deadline);
  if (same) return [];
  const found = cases.find(({ applies }) => applies(pod, ours, theirs));
  return found ? [found.rule] : [];
}

function decisive({ because }: Decision): Reason | undefined {
  return because[0];
}

function isException(reason: Reason | undefined): boolean {
  const codes: readonly string[] = ['Finished', 'OptedOut', 'ReturningDaemonSetPod'];
  return reason !== undefined && codes.includes(reason.code);
}

/** A taint that is not acted on before it has lasted for a while. */
function isSettling(ours: Decision): boolean {
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
 * Whether upstream's deadline is not what its own reading of the taints comes to now: then it is
 * one that was set for another reading.
 */
function isOtherTime(_ours: Decision, theirs: Decision): boolean {
  if (theirs.kind !== 'evict') return false;
  const readings = theirs.because.flatMap((reason) =>
    reason.code === 'TolerationExpires' ? [reason.deadline] : [],
  );
  return readings.length > 0 && theirs.deadline !== Math.min(...readings);
}

/**
 * Whether upstream's time for the same taint is over within the second at whose end ours is: the
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

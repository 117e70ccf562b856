// Every named difference between `precise` and `upstream-1.36` in the eviction of pods.
import type { Decision } from '../eviction/decide.ts';
import type { Reason } from '../eviction/reason.ts';
import type { Pod } from '../model/pod.ts';
import { formatTaint } from '../model/taint.ts';

/** One way in which `precise` differs from upstream. docs/differences.md is made of such tables. */
export interface Difference {
  readonly name: string;
  /** The behaviour of kube-controller-manager 1.36.2. */
  readonly upstream: string;
  readonly precise: string;
  readonly why: string;
  /** The transcript, vectors or test that shows it, relative to packages/core/test. */
  readonly proof: string;
}

/** A difference without a name here is a bug. */
export const evictionDifferences = [
  {
    name: 'time-added-ignored',
    upstream: 'A deadline counts from when the controller came to look at the pod.',
    precise:
      'It counts from taint.timeAdded; without one, or with one that is yet to come, from the first sight, which the node remembers until its taints are written again, or from when they were last written.',
    why: 'Every replica, and every run of it, finds the same deadline.',
    proof:
      'testdata/eviction/start.txt, testdata/eviction/kept-starts.txt, testdata/eviction/written-taints.txt, testdata/eviction/time-ahead.txt',
  },
  {
    name: 'rest-of-second',
    upstream: 'A deadline counts from the very moment at which the controller sees taint and pod.',
    precise:
      'A time that the API keeps in whole seconds counts from the end of its second: the deadline is up to a second later.',
    why: 'Within that second nobody can tell when it was, and no pod may go early.',
    proof:
      'differences/simulated-upstream.test.ts, testdata/eviction/start.txt, testdata/eviction/written-taints.txt',
  },
  {
    name: 'restart',
    upstream: 'A restart forgets all timers and starts them anew.',
    precise:
      'A restart changes no deadline, unless the taints of the node were written while nobody looked.',
    why: 'Otherwise repeated failovers postpone evictions for ever.',
    proof: 'testdata/eviction/start.txt, testdata/eviction/kept-starts.txt',
  },
  {
    name: 'first-timer-kept',
    upstream: 'A timer once set stays, be the time now shorter, longer or gone with its taint.',
    precise: 'The deadline follows every change of taints and tolerations, both ways.',
    why: 'tolerationSeconds means what it says at every moment.',
    proof: 'testdata/eviction/moving.txt',
  },
  {
    name: 'node-deletion-keeps-timers',
    upstream: 'Pods of a deleted node are still deleted when their timers fire.',
    precise: 'A node that is gone takes its taints along; pod garbage collection sees to the pods.',
    why: 'The reason to evict is gone.',
    proof: 'testdata/eviction/cancel.txt',
  },
  {
    name: 'five-tries',
    upstream: 'After five tries within 50 ms the pod is forgotten until something changes.',
    precise: 'It is tried until it succeeds, with growing waits; Retry-After is honoured.',
    why: 'A short outage of the API server must not lose an eviction.',
    proof: 'testdata/eviction/retries.txt',
  },
  {
    name: 'delete-by-name',
    upstream:
      'Timers and deletions go by the name; a new pod of that name is deleted in its place.',
    precise: 'Work goes by the uid, and every request carries it as a precondition.',
    why: 'A StatefulSet pod that came back elsewhere is another pod.',
    proof: 'eviction/machine.test.ts',
  },
  {
    name: 'terminating-again',
    upstream: 'Pods that already terminate are deleted again, with a new event.',
    precise: 'They are left alone.',
    why: 'It does nothing but make noise.',
    proof: 'testdata/eviction/exempt.txt',
  },
  {
    name: 'static-pods',
    upstream: 'Mirror pods are deleted like any other if their tolerations do not keep them.',
    precise:
      'They are left alone: pods with the annotation kubernetes.io/config.mirror whose controller is their node. The annotation alone, which anybody who creates pods can write, protects no pod.',
    why: 'Deleting the mirror does not stop the static pod; the kubelet puts it back.',
    proof: 'testdata/eviction/exempt.txt',
  },
  {
    name: 'last-replica',
    upstream: 'It is a static pod, and no rule spares its own pod or its replicas.',
    precise:
      'The last ready replica of our own stays, and goes when another is ready; so it does with `--semantics=upstream-1.36`.',
    why: 'Nobody would be left who evicts, taints or heeds limits. Only where the controller is told its own pod.',
    proof: 'own-replicas.test.ts',
  },
  {
    name: 'orphan-timer',
    upstream: 'A timer cancelled while its deletion runs can leave a successor nobody can cancel.',
    precise: 'One piece of work per pod; a late answer frees its place and nothing else.',
    why: 'It would delete a pod that may stay.',
    proof: 'testdata/eviction/retries.txt',
  },
  {
    name: 'duplicate-deletion',
    upstream: 'Two node changes in a row can start two deletions of one pod.',
    precise: 'While one is under way no second begins.',
    why: 'One is enough.',
    proof: 'eviction/machine.test.ts',
  },
  {
    name: 'cancel-event-without-cancel',
    upstream:
      '"Cancelling deletion" is written for pods that users deleted or that were just evicted.',
    precise: 'It is written when an eviction was pending and the pod stays.',
    why: 'An event should be true.',
    proof: 'testdata/eviction/cancel.txt',
  },
  {
    name: 'event-without-uid',
    upstream: 'Events name no uid and no taint, so `kubectl describe pod` does not show them.',
    precise: 'They name the uid, the taint and the reason, in the same opening words.',
    why: 'Whoever asks why should find it.',
    proof: 'testdata/eviction/deadlines.txt',
  },
  {
    name: 'seconds-wrap',
    upstream: 'tolerationSeconds above 9223372036 wrap around: 18446744074 s become 0.29 s.',
    precise: 'A time that never comes never comes.',
    why: 'It is what was written.',
    proof: 'differences/simulated-upstream.test.ts',
  },
  {
    name: 'late-binding',
    upstream: 'A pod is given its time from when the controller came to see it.',
    precise:
      'It is given its time from its binding, if that is later than the taint; a binding in the future counts from now.',
    why: 'A deadline that does not depend on who looked when.',
    proof: 'testdata/eviction/start.txt, testdata/eviction/written-taints.txt',
  },
  {
    name: 'no-budget',
    upstream: 'Pods are deleted; disruption budgets are not asked.',
    precise: 'The same by default; by policy evicted, or evicted and then deleted.',
    why: 'Some taints can wait for a budget, others cannot.',
    proof: 'testdata/eviction/policies.txt, testdata/eviction/budgets.txt',
  },
  {
    name: 'no-pacing',
    upstream: 'All pods of a tainted node go at once, whatever their number.',
    precise:
      'The same by default; limits bound how many are disrupted within a window, and queue or stop.',
    why: 'One wrong taint must not empty a cluster.',
    proof: 'eviction/limits/limit-gate.test.ts, testdata/eviction/limits.txt',
  },
  {
    name: 'policies',
    upstream: 'Every taint is dealt with alike, for all pods.',
    precise:
      'An EvictionPolicy says how pods leave for a taint: they are kept, given time that they do not tolerate, evicted, or dealt with as upstream does.',
    why: 'Some pods cannot go for some taints, and whoever may not edit a pod has a say as well.',
    proof: 'testdata/eviction/policy-events.txt, policy/choice.test.ts',
  },
  {
    name: 'pauses',
    upstream: 'Nothing stops running timers but a restart, which forgets them.',
    precise:
      'An EvictionPause holds deadlines, and the time is given back when it is over; it survives a restart.',
    why: 'While people repair something nothing should go, and nobody should have to edit taints.',
    proof: 'testdata/eviction/pause-events.txt, eviction/pauses.test.ts',
  },
  {
    name: 'drain-marks',
    upstream:
      'Pods of a node that is being drained by a NoExecute taint are deleted beside the drain.',
    precise:
      'They are left to the drain, for its own taint and until it has given no sign of life for 60 s.',
    why: 'A drain asks budgets and keeps an order; two who evict one pod do neither.',
    proof: 'testdata/eviction/drains.txt',
  },
  {
    name: 'acts-on-cache',
    upstream: 'Decisions are carried out on a cache, however old it is.',
    precise:
      'With a view cut off or older than 10 s pod and node are read first; so is what was missed.',
    why: 'A taint that is gone again must not cost a pod.',
    proof: 'controller/stale-view.test.ts and loop.test.ts of k8s-adapter',
  },
  {
    name: 'no-exceptions',
    upstream:
      'Finished pods, returning DaemonSet pods and pods that ask to stay go like any other.',
    precise: 'The same by default; each can be left alone by an option.',
    why: 'Logs of finished jobs, loops of DaemonSets and the owner have a say.',
    proof: 'testdata/eviction/left-alone.txt',
  },
  {
    name: 'missing-index',
    upstream:
      'Without two other controllers its pod index is missing and node changes evict nothing.',
    precise: 'It keeps its own index.',
    why: 'A controller that runs alone has to work.',
    proof: 'testdata/eviction/deadlines.txt',
  },
  {
    name: 'head-of-line',
    upstream: 'Eight workers with small buffers: one busy node can hold up all others.',
    precise: 'Decisions take microseconds in one thread; only requests are under way in parallel.',
    why: 'Nothing waits for a node it has nothing to do with.',
    proof: 'testdata/eviction/limit.txt',
  },
] as const;

export type DifferenceName = (typeof evictionDifferences)[number]['name'];

const secondsMax = 9_223_372_036;
const second = 1000;

interface DifferenceCase {
  readonly name: DifferenceName;
  readonly applies: (pod: Pod, ours: Decision, theirs: Decision) => boolean;
}

/** The most telling first. */
const cases: readonly DifferenceCase[] = [
  { name: 'terminating-again', applies: (_, ours) => decisive(ours)?.code === 'Terminating' },
  { name: 'static-pods', applies: (_, ours) => decisive(ours)?.code === 'StaticPod' },
  { name: 'last-replica', applies: (_, ours) => decisive(ours)?.code === 'LastReplica' },
  { name: 'no-exceptions', applies: (_, ours) => isException(decisive(ours)) },
  { name: 'pauses', applies: (_, ours) => ours.because.some(({ code }) => code === 'Paused') },
  { name: 'drain-marks', applies: (_, ours) => isAboutDrain(decisive(ours)) },
  { name: 'policies', applies: (_, ours) => isByPolicy(decisive(ours)) },
  { name: 'no-pacing', applies: (_, ours) => isTooYoung(ours) },
  {
    name: 'node-deletion-keeps-timers',
    applies: (_, ours) => decisive(ours)?.code === 'NodeUnknown',
  },
  { name: 'seconds-wrap', applies: (_, ours, theirs) => [ours, theirs].some(wraps) },
  { name: 'five-tries', applies: (_, _ours, theirs) => decisive(theirs)?.code === 'GivenUp' },
  {
    name: 'first-timer-kept',
    applies: (_, _ours, theirs) => decisive(theirs)?.code === 'TimerKept',
  },
  { name: 'first-timer-kept', applies: (_, ours, theirs) => isOtherTime(ours, theirs) },
  { name: 'rest-of-second', applies: (_, ours, theirs) => isRestOfSecond(ours, theirs) },
  { name: 'late-binding', applies: (_, ours) => startSource(ours) === 'podBound' },
  { name: 'time-added-ignored', applies: () => true },
];

/** The difference between two decisions, by name; empty where there is none. */
export function classify(pod: Pod, ours: Decision, theirs: Decision): readonly DifferenceName[] {
  const same =
    ours.kind === theirs.kind &&
    (ours.kind !== 'evict' || theirs.kind !== 'evict' || ours.deadline === theirs.deadline);
  if (same) return [];
  const found = cases.find(({ applies }) => applies(pod, ours, theirs));
  return found ? [found.name] : [];
}

function decisive({ because }: Decision): Reason | undefined {
  return because[0];
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
 * True when upstream's deadline is not what its own reading of the taints comes to now: then it is
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

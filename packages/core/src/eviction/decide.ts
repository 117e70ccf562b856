import type { DeviceResource } from '../devices/device.ts';
import { endOfSecond, finite, type Instant, type Millis } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Taint } from '../model/taint.ts';
import { decidingToleration, type MatchOptions, type Toleration } from '../model/toleration.ts';
import type { WorkingDrain } from '../model/working-drain.ts';
import type { Governance, PolicyMark } from '../policy/eviction-policy.ts';
import { deviceToleration, type TaintHit, taintedDevice } from './device-taints.ts';
import { givenBack, type Hold, type Pause, type PausedTime } from './pauses.ts';
import type { Reason, StartSource, TaintedDevice } from './reason.ts';
import { countsFrom, type ObservedTaint } from './taint-clock.ts';
import { minTolerationNanos } from './upstream/wait.ts';
import type { SeenDrain } from './working-drains.ts';

/** The verdict on one pod. `because` begins with the reason that decided. */
export type Decision =
  | { readonly kind: 'keep'; readonly because: readonly Reason[] }
  /** To be evicted at `deadline`; in the past means at once. */
  | { readonly kind: 'evict'; readonly deadline: Instant; readonly because: readonly Reason[] }
  /** Deadlines are paused; when they go on it has `remaining` left, negative when overdue. */
  | { readonly kind: 'pause'; readonly remaining: Millis; readonly because: readonly Reason[] };

/** The decision that a pod leaves. */
export type Eviction = Extract<Decision, { readonly kind: 'evict' }>;

/** The pods that are left alone, beside static ones and those that already terminate. */
export interface LeaveOptions {
  /** Pods in phase Succeeded or Failed. */
  readonly finishedPods: boolean;
  /** Pods of a DaemonSet that tolerate the taint for a while: successors would come straight back. */
  readonly returningDaemonSetPods: boolean;
  /** Pods whose owner asked for it by annotation. */
  readonly optedOutPods: boolean;
}

/** The options on which decisions depend besides the objects. */
export interface DecideOptions extends MatchOptions {
  readonly leave: LeaveOptions;
}

/** A taint of the pod's node, with what governs the two and when their deadlines stood still. */
export interface Concern extends Omit<TaintCase, 'pod' | 'pauses'> {
  readonly paused: PausedTime;
}

/** The result of one taint. */
interface Judged {
  readonly reason: TaintReason;
  readonly deadline: Instant;
  /** The pause of its deadline; null: it runs, or there is none. */
  readonly hold: Hold | null;
}

/**
 * Decides about one pod, keep it or evict it at an instant. Each NoExecute taint of its node, and
 * of its devices where we decide about those, gives a deadline by the policy that counts for pod
 * and taint, and the earliest of those that run acts, by its own policy: a taint whose policy keeps
 * the pod, or whose deadline is paused, does not hold up another. Times kept in whole seconds count
 * from their end, so that no pod goes earlier than it may. The machine that acts and everyone who
 * explains call this. `concerns` is asked only where taints matter to the pod: most changes of a
 * mass eviction are of pods that go already. Where the resources that decide about its devices may
 * not be read (`lacks`), the pod is not said to stay.
 */
export function decide(
  pod: Pod,
  node: Node | null,
  concerns: () => readonly Concern[],
  options: DecideOptions,
  lacks: readonly DeviceResource[] = [],
): Decision {
  const exempt = exemption(pod, node, options.leave);
  if (exempt) return { kind: 'keep', because: [exempt] };
  const decision = byTaints(pod, concerns, options);
  if (decision.kind !== 'keep' || lacks.length === 0) return decision;
  return { kind: 'keep', because: [{ code: 'DevicesUnknown', lacks }, ...decision.because] };
}

function byTaints(pod: Pod, concerns: () => readonly Concern[], options: DecideOptions): Decision {
  const judged = concerns().map((concern) => judge(pod, concern, options));
  const [first] = judged;
  if (!first) return { kind: 'keep', because: [{ code: 'NoTaint' }] };
  const [acting, held] = [earliestOf(judged), earliestHeld(judged)];
  const reasons = inOrder(acting ?? held ?? keeping(judged) ?? first, judged);
  if (options.leave.returningDaemonSetPods && isReturning(pod, reasons)) {
    const isStaying = judged.every(({ deadline }) => deadline >= endOfTime);
    const because = isStaying ? reasons : [{ code: 'ReturningDaemonSetPod' } as const, ...reasons];
    return { kind: 'keep', because };
  }
  if (acting) {
    const because = held ? [...reasons, pausedReason(held.hold)] : reasons;
    return { kind: 'evict', deadline: acting.deadline, because };
  }
  if (!held) return { kind: 'keep', because: reasons };
  const because = [pausedReason(held.hold), ...reasons];
  return { kind: 'pause', remaining: remainingOf(held), because };
}

function judge(pod: Pod, concern: Concern, options: DecideOptions): Judged {
  const { paused, ...known } = concern;
  const of = { ...known, pod, pauses: paused.past };
  const reason = taintReason(of, options);
  const deadline = deadlineOf(reason);
  return { reason, deadline, hold: deadline < endOfTime ? paused.hold : null };
}

/** Of several that keep a pod what would not do so for ever: a drain before all, as that makes it go. */
function keeping(judged: readonly Judged[]): Judged | undefined {
  const byDrain = judged.find(({ reason }) => reason.code === 'LeftToDrain');
  return byDrain ?? judged.find(({ reason }) => reason.code !== 'ToleratedForever');
}

type Held = Judged & { readonly hold: Hold };

/** The earliest deadline that runs; null: there is none. */
function earliestOf(judged: readonly Judged[]): Judged | null {
  let first: Judged | null = null;
  for (const one of judged) {
    const runs = one.deadline < endOfTime && !one.hold;
    if (runs && (first === null || one.deadline < first.deadline)) first = one;
  }
  return first;
}

/** Of those that stand still the one with the least time left; null: none does. */
function earliestHeld(judged: readonly Judged[]): Held | null {
  let least: Held | null = null;
  for (const one of judged) {
    if (isHeld(one) && (least === null || remainingOf(one) < remainingOf(least))) least = one;
  }
  return least;
}

function isHeld(judged: Judged): judged is Held {
  return judged.hold !== null;
}

function remainingOf({ reason, deadline, hold }: Held): Millis {
  return deadline - Math.max(hold.since, startOf(reason));
}

function inOrder({ reason: first }: Judged, judged: readonly Judged[]): readonly TaintReason[] {
  if (judged.length === 1) return [first];
  return [first, ...judged.flatMap(({ reason }) => (reason === first ? [] : [reason]))];
}

function pausedReason({ since, pause: { name, until, zone } }: Hold): Reason {
  return { code: 'Paused', since, pause: name, until, ...(zone !== undefined && { zone }) };
}

/** Why taints do not matter to this pod, if so. */
function exemption(pod: Pod, node: Node | null, leave: LeaveOptions): Reason | null {
  if (pod.nodeName === '') return { code: 'NotBound' };
  if (!node) return { code: 'NodeUnknown', nodeName: pod.nodeName };
  if (pod.deletionTimestamp !== null) return { code: 'Terminating', since: pod.deletionTimestamp };
  if (pod.mirror) return { code: 'StaticPod' };
  if (leave.optedOutPods && pod.optedOut) return { code: 'OptedOut' };
  const finished = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  return leave.finishedPods && finished ? { code: 'Finished', phase: pod.phase } : null;
}

/**
 * The DaemonSet controller starts no pod where a taint is not tolerated at all; what a policy gives is
 * nothing to it.
 */
function isReturning({ owner }: Pod, reasons: readonly TaintReason[]): boolean {
  const isTolerated = (reason: TaintReason): boolean =>
    reason.code !== 'NoToleration' && !('given' in reason);
  return owner?.kind === 'DaemonSet' && reasons.every(isTolerated);
}

/** A reason that has to do with a taint. */
export type TaintReason = Extract<Reason, { taint: Taint }>;

/** The facts on which the time of a taint depends for one pod. */
interface TaintCase {
  readonly pod: Pod;
  /** As it counts for the pod's namespace, pauses given back. */
  readonly observed: ObservedTaint;
  /** For pods that count from their binding. */
  readonly pauses: readonly Pause[];
  readonly governance: Governance;
  /** True when we decide; otherwise kube-controller-manager does. */
  readonly isOurs: boolean;
  /** The drain whose taint it is; null: it belongs to no drain. */
  readonly drain: SeenDrain | null;
  /** A drain judges a taint of another effect as if it had this one; left out: as it is. */
  readonly judgedAs?: Taint | undefined;
  /** The taint is that of a device; left out: of the node. */
  readonly hit?: TaintHit;
}

interface Start {
  readonly start: Instant;
  readonly startSource: StartSource;
}

/** A deadline further away than any clock reaches: the largest instant of an ECMAScript Date. */
export const endOfTime: Instant = 8.64e15;

/**
 * Judges one taint for a pod. The policy that counts for the two says so; see choice.ts:
 *
 * - `Keep`: the pod is never evicted for this taint while the policy counts.
 * - `KubeControllerManager`: as kube-controller-manager does it: it counts from when the taint was seen to come
 *   and the pod was there, no minimum age, and seconds that wrap around an int64.
 * - Any other, or none: the first toleration that covers the taint counts, from the taint's start or
 *   from the pod's binding, the later of the two; without one the binding does not matter.
 *
 * For the taint of a device it is the allocation of the claim that tolerates: the shortest toleration counts, from
 * timeAdded, whenever the pod came (device-taints.ts).
 *
 * A pod with no toleration of the taint counts as one with a toleration of the seconds that the
 * policy gives. Where it is unknown whether a policy counts, the pod stays, and so does one about
 * which kube-controller-manager decides. The pods of a drain's taint are left to the drain, for as
 * long as that lives.
 */
function taintReason(of: TaintCase, options: MatchOptions): TaintReason {
  const { pod, observed, governance, drain, hit } = of;
  const { taint } = observed;
  const { by, undecided } = governance;
  const own = hit
    ? deviceToleration(hit, by)
    : decidingToleration(pod.tolerations, of.judgedAs ?? taint, options);
  const onDevice = hit && { device: taintedDevice(hit) };
  const judged = onDevice ?? (of.judgedAs && asExecuted);
  if (own?.tolerationSeconds === null) {
    return { code: 'ToleratedForever', taint, ...judged, toleration: own };
  }
  if (!of.isOurs) return { code: 'NotTakenOver', taint, ...onDevice, namespace: pod.namespace };
  if (undecided) {
    const { name, action } = undecided;
    const policy = { name, action: action ?? 'Keep' };
    return { code: 'PolicyUndecided', taint, ...onDevice, policy, namespace: pod.namespace };
  }
  if (by?.action === 'Keep') return { code: 'KeptByPolicy', taint, ...onDevice, policy: by };
  if (drain && !drain.isStale) return { code: 'LeftToDrain', taint, drain: drain.drain };
  const given = own ? null : givenToleration(taint, governance);
  const toleration = own ?? given;
  const what = {
    taint,
    ...judged,
    ...(given && { given: true as const }),
    ...policyOf(by),
    ...staleOf(drain),
  };
  return by?.action === 'KubeControllerManager'
    ? upstreamReason(of, toleration, what)
    : preciseReason(of, toleration, what);
}

const asExecuted = { asExecuted: true } as const;

type What = {
  readonly taint: Taint;
  readonly asExecuted?: true;
  readonly device?: TaintedDevice;
  readonly given?: true;
  readonly policy?: PolicyMark;
  readonly staleDrain?: WorkingDrain;
};

function preciseReason(of: TaintCase, toleration: Toleration | null, what: What): TaintReason {
  const { observed, governance } = of;
  const { minTaintAgeMs } = governance;
  const notBefore = minTaintAgeMs > 0 ? countsFrom(observed) + minTaintAgeMs : observed.start;
  if (!toleration) {
    const { start, startSource } = observed;
    return { code: 'NoToleration', ...what, start, startSource, deadline: notBefore };
  }
  const from = countsFrom(observed);
  const { startSource: source } = observed;
  const { start, startSource } = of.hit
    ? { start: from, startSource: source }
    : startFor(of, from, source);
  const deadline = Math.max(notBefore, expiry(start, toleration));
  return { code: 'TolerationExpires', ...what, toleration, start, startSource, deadline };
}

/** Pods are deleted at once, or this long after taint and pod were there. */
function upstreamReason(of: TaintCase, toleration: Toleration | null, what: What): TaintReason {
  const { observed, pauses, hit } = of;
  if (hit) return upstreamDeviceReason(observed, hit, toleration, what);
  const seenAt = givenBack(observed.seenAt, pauses);
  const { start, startSource } = startFor(of, seenAt, 'firstSeen');
  if (!toleration) return { code: 'NoToleration', ...what, start, startSource, deadline: start };
  const nanos = minTolerationNanos([toleration]);
  if (nanos < 0n) return { code: 'ToleratedForever', taint: what.taint, toleration };
  const deadline = start + Number(nanos) / 1_000_000;
  return { code: 'TolerationExpires', ...what, toleration, start, startSource, deadline };
}

/** Its seconds wrap around an int64, too. */
function upstreamDeviceReason(
  { start, startSource }: ObservedTaint,
  { wait }: TaintHit,
  toleration: Toleration | null,
  what: What,
): TaintReason {
  const deadline = start + (wait ?? 0);
  return toleration
    ? { code: 'TolerationExpires', ...what, toleration, start, startSource, deadline }
    : { code: 'NoToleration', ...what, start, startSource, deadline };
}

function givenToleration(
  taint: Taint,
  { defaultTolerationSeconds }: Governance,
): Toleration | null {
  if (defaultTolerationSeconds === null) return null;
  const { key, effect } = taint;
  const tolerationSeconds = defaultTolerationSeconds;
  return { key, operator: 'Exists', value: '', effect, tolerationSeconds };
}

/** A pod that came after the taint is given the whole time it tolerates, pauses not counted. */
function startFor(
  { pod, pauses }: TaintCase,
  start: Instant,
  startSource: Start['startSource'],
): Start {
  const written = finite(pod.boundAt);
  if (written === null) return { start, startSource };
  const bound = givenBack(endOfSecond(written), pauses);
  return bound > start ? { start: bound, startSource: 'podBound' } : { start, startSource };
}

/** Negative seconds count as none, and so does what is no number; the end of time never comes. */
function expiry(start: Instant, { tolerationSeconds }: Toleration): Instant {
  const seconds = Number(tolerationSeconds);
  return seconds > 0 ? Math.min(endOfTime, start + seconds * 1000) : start;
}

function policyOf(by: PolicyMark | null): { readonly policy?: PolicyMark } {
  return by ? { policy: by } : {};
}

function staleOf(seen: SeenDrain | null): { readonly staleDrain?: WorkingDrain } {
  return seen ? { staleDrain: seen.drain } : {};
}

/** From when it counts; what never ends has no start. */
function startOf(reason: TaintReason): Instant {
  return 'start' in reason ? reason.start : Number.NEGATIVE_INFINITY;
}

/** When the pod goes for it; infinity: never. */
export function deadlineOf(reason: TaintReason): Instant {
  return 'deadline' in reason ? reason.deadline : Number.POSITIVE_INFINITY;
}

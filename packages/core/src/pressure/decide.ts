// Decides about one node under pressure: keep, reclaim, evict one pod, or withhold.
import type { Setback } from '../attempt/outcome.ts';
import { earliest, type Instant, type Millis } from '../kernel/time.ts';
import { podRef } from '../model/pod.ts';
import type { PressureBehaviour } from './behaviours.ts';
import { type LocalBreach, localBreach } from './local-limits.ts';
import {
  type FilesystemLayout,
  type ReclaimFunction,
  reclaimFunctions,
} from './observation/filesystems.ts';
import { type NodeObservation, type PodUsage, sampleFault } from './observation/observation.ts';
import type { StoredPod } from './pods/pod-store.ts';
import type { PressurePod } from './pods/pressure-pod.ts';
import {
  type ActivePod,
  candidatesFor,
  type PressureCandidate,
  type RankedPod,
  rank,
} from './rank.ts';
import type { PodRefusal, PressureReason } from './reason.ts';
import type { PressureSettings } from './settings/settings.ts';
import { isHard, thresholdKey } from './settings/thresholds.ts';
import { type Signal, signalNames, signals } from './signals.ts';
import type { ThresholdState, ThresholdStateOptions } from './threshold-states.ts';

/** A pod whose eviction was refused, and until when others are tried first. */
export interface PassedOver {
  readonly setback: Setback;
  readonly until: Instant;
}

/** A node as decisions see it. */
export interface PressureSite {
  readonly settings: PressureSettings;
  /** Null: not known. */
  readonly layout: FilesystemLayout | null;
  readonly observation: NodeObservation;
  readonly states: readonly ThresholdState[];
  /** The pods that have not ended. */
  readonly pods: readonly StoredPod[];
  /** The usage of a pod as it was seen; null: not seen. */
  readonly usageOf: (uid: string) => PodUsage | null;
  /** Samples until then do not show the last action. */
  readonly freshAfter: Instant;
  readonly passedOver: ReadonlyMap<string, PassedOver>;
  /** True when unused containers and images were cleared away since pods had to go. */
  readonly reclaimed: boolean;
}

/** The options on which decisions depend besides the node. */
export interface PressureOptions extends ThresholdStateOptions {
  readonly leavingWaitMsMax: Millis;
}

/** The decision about a node; `because` begins with the reason that decided. */
export type PressureDecision =
  | { readonly kind: 'keep'; readonly because: readonly PressureReason[] }
  /** Limits on local storage are exceeded: all these pods go. */
  | { readonly kind: 'enforce'; readonly breaches: readonly PodBreach[] }
  | {
      readonly kind: 'reclaim';
      readonly due: ThresholdState;
      readonly functions: readonly ReclaimFunction[];
      readonly because: readonly PressureReason[];
    }
  | {
      readonly kind: 'evict';
      readonly due: ThresholdState;
      readonly target: RankedPod;
      readonly gracePeriodSeconds: number;
      readonly because: readonly PressureReason[];
    }
  /** A pod has to go and none goes now; `until` null: until something else is seen. */
  | {
      readonly kind: 'withhold';
      readonly due: ThresholdState;
      readonly until: Instant | null;
      readonly because: readonly PressureReason[];
    };

/** A pod and the limit it exceeds. */
interface PodBreach {
  readonly pod: PressurePod;
  readonly breach: LocalBreach;
}

/**
 * Decides about a node. Limits on local storage come first. Else the most urgent threshold that is
 * due makes one pod leave, after unused data was cleared away. The machine that acts and everyone
 * who explains call this.
 */
export function decidePressure(
  now: Instant,
  site: PressureSite,
  options: PressureOptions,
): PressureDecision {
  const breaches = localBreaches(now, site, options);
  if (breaches.length > 0) return { kind: 'enforce', breaches };
  const due = site.states.filter(({ phase }) => phase === 'due').sort(byUrgency);
  const [first] = due;
  if (!first) return { kind: 'keep', because: gracePeriods(site.states) };
  const usable = due.find((state) => doubtAbout(now, state, site, options) === null);
  if (usable) return decideDue(now, usable, site, options);
  const doubts = due.flatMap((state) => doubtAbout(now, state, site, options) ?? []);
  return withhold(first, null, doubts);
}

/** Pods in the order in which the signal lets them go, with why one of them cannot. */
export function orderFor(
  signal: Signal,
  site: PressureSite,
  behaviour: PressureBehaviour,
): readonly { readonly ranked: RankedPod; readonly refusal: PodRefusal | null }[] {
  const pods = site.pods.map(
    ({ pod, demand }): ActivePod => ({ pod, demand, usage: site.usageOf(pod.uid) }),
  );
  const candidates = candidatesFor(pods, signal, site.layout ?? 'single', behaviour);
  return rank(candidates, behaviour.order[signals[signal].resource]).map((ranked) => ({
    ranked,
    refusal: refusalOf(ranked, site, behaviour),
  }));
}

/** Why the threshold is met, or still counts as met. */
export function thresholdReason({
  threshold,
  sample,
  amount,
  clearAt,
}: ThresholdState): readonly PressureReason[] {
  if (!sample || amount === null || clearAt === null) return [];
  return amount > sample.available
    ? [{ code: 'ThresholdMet', threshold, sample, amount }]
    : [{ code: 'MinimumReclaim', threshold, sample, clearAt }];
}

function decideDue(
  now: Instant,
  due: ThresholdState,
  site: PressureSite,
  { behaviour, leavingWaitMsMax }: PressureOptions,
): PressureDecision {
  const { signal } = due.threshold;
  const { settings, layout } = site;
  const because = thresholdReason(due);
  if (signals[signal].filesystem !== null && layout === null) {
    return withhold(due, null, [{ code: 'LayoutUnknown' }, ...because]);
  }
  const functions = reclaimFunctions(signal, layout ?? 'single');
  if (settings.nodeReclaim && !site.reclaimed && functions.length > 0) {
    return { kind: 'reclaim', due, functions, because };
  }
  const order = orderFor(signal, site, behaviour);
  const leaving = behaviour.waitsForLeaving
    ? enoughLeaving(now, due, site, order, leavingWaitMsMax)
    : null;
  if (leaving) return withhold(due, leaving.until, [leaving, ...because]);
  const target = order.find(({ refusal }) => refusal === null)?.ranked;
  if (!target) return withhold(due, nextTry(now, site), [{ code: 'NoCandidate' }, ...because]);
  const max = settings.maxPodGracePeriodSeconds;
  const gracePeriodSeconds = behaviour.gracePeriodSeconds(due.threshold, max, target.pod);
  return { kind: 'evict', due, target, gracePeriodSeconds, because };
}

function withhold(
  due: ThresholdState,
  until: Instant | null,
  because: readonly PressureReason[],
): PressureDecision {
  return { kind: 'withhold', due, until, because };
}

/** When a pod that was passed over may be asked again. */
function nextTry(now: Instant, { passedOver }: PressureSite): Instant | null {
  return earliest(Array.from(passedOver.values(), ({ until }) => (until > now ? until : null)));
}

/** Memory first, hard before soft; then by the table of signals and by the requested amount. */
function byUrgency(a: ThresholdState, b: ThresholdState): number {
  return (
    Number(isMemory(b)) - Number(isMemory(a)) ||
    Number(isHard(b.threshold)) - Number(isHard(a.threshold)) ||
    signalNames.indexOf(a.threshold.signal) - signalNames.indexOf(b.threshold.signal) ||
    (thresholdKey(a.threshold) < thresholdKey(b.threshold) ? -1 : 1)
  );
}

function isMemory({ threshold }: ThresholdState): boolean {
  return signals[threshold.signal].resource === 'memory';
}

/** The reason not to act on a sample; null: there is none. */
function doubtAbout(
  now: Instant,
  { threshold, sample, isNew }: ThresholdState,
  { freshAfter }: PressureSite,
  { behaviour, sampleAgeMsMax }: PressureOptions,
): PressureReason | null {
  const { signal } = threshold;
  const time = sample?.time ?? null;
  if (!behaviour.doubts) return isNew ? null : { code: 'SampleNotNewer', signal, time };
  const fault = sampleFault(now, signal, sample ?? undefined, sampleAgeMsMax);
  if (fault) return fault;
  return time !== null && time > freshAfter ? null : { code: 'SampleNotNewer', signal, time };
}

/** The grace periods that run. */
export function gracePeriods(states: readonly ThresholdState[]): readonly PressureReason[] {
  return states.flatMap(({ threshold, phase, dueAt }): readonly PressureReason[] =>
    phase === 'waiting' && dueAt !== null ? [{ code: 'GracePeriod', threshold, dueAt }] : [],
  );
}

function refusalOf(
  { pod, demand, used }: PressureCandidate,
  { passedOver }: PressureSite,
  behaviour: PressureBehaviour,
): PodRefusal | null {
  const exempt = podRefusal(pod, passedOver, behaviour);
  if (exempt || !behaviour.freesSomething) return exempt;
  if (demand === null) return { code: 'ResourcesUnreadable' };
  if (used === null) return { code: 'UsageUnknown' };
  return used === 0 ? { code: 'UsesNothing' } : null;
}

/** Why the pod is evicted for nothing at all. */
function podRefusal(
  pod: PressurePod,
  passedOver: PressureSite['passedOver'],
  behaviour: PressureBehaviour,
): PodRefusal | null {
  const exempt = behaviour.exemption(pod);
  if (exempt) return exempt;
  if (behaviour.waitsForLeaving && pod.deletionTimestamp !== null) return { code: 'Terminating' };
  const refused = passedOver.get(pod.uid);
  return refused ? { code: 'PassedOver', ...refused } : null;
}

type PodLeaving = Extract<PressureReason, { code: 'PodLeaving' }>;

/** The last of the pods on their way out, where they free enough; null: they do not. */
function enoughLeaving(
  now: Instant,
  { sample, clearAt }: ThresholdState,
  { pods }: PressureSite,
  order: readonly { readonly ranked: RankedPod }[],
  leavingWaitMsMax: Millis,
): PodLeaving | null {
  let missing = (clearAt ?? 0) - (sample?.available ?? 0);
  let last: PodLeaving | null = null;
  for (const { pod, leavingSince } of pods) {
    const until = leavingSince === null ? now : leavingSince + leavingWaitMsMax;
    if (until <= now) continue;
    missing -= order.find(({ ranked }) => ranked.pod === pod)?.ranked.used ?? 0;
    if (last === null || until > last.until) last = { code: 'PodLeaving', pod: podRef(pod), until };
  }
  return missing <= 0 ? last : null;
}

function localBreaches(
  now: Instant,
  { settings, layout, pods, usageOf, observation, passedOver }: PressureSite,
  { behaviour, sampleAgeMsMax }: PressureOptions,
): readonly PodBreach[] {
  if (!settings.localStorageLimits) return [];
  const breaches = pods.flatMap(({ pod, demand }): readonly PodBreach[] => {
    const usage = demand?.limits ? usageOf(pod.uid) : null;
    if (!demand?.limits || !usage || podRefusal(pod, passedOver, behaviour)) return [];
    const breach = localBreach(demand.limits, usage, layout ?? 'dedicatedImages');
    return breach ? [{ pod, breach }] : [];
  });
  const isFresh = signalNames.some(
    (name) => sampleFault(now, name, observation.samples[name], sampleAgeMsMax) === null,
  );
  return isFresh || !behaviour.doubts ? breaches : [];
}

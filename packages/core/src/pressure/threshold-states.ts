// Since when the thresholds of a node are met, and which conditions follow.
import type { Instant, Millis } from '../kernel/time.ts';
import type { PressureBehaviour } from './behaviours.ts';
import {
  type NodeObservation,
  type Sample,
  type SampleFault,
  sampleFault,
} from './observation/observation.ts';
import { amountOf, type Threshold, thresholdKey } from './settings/thresholds.ts';
import {
  type PressureConditionType,
  pressureConditionTypes,
  type Signal,
  signals,
} from './signals.ts';

/** The stage that a threshold has reached. */
export type ThresholdPhase =
  /** Its signal was not seen, or not in a way to be believed. */
  | 'unknown'
  | 'clear'
  /** Met, and its grace period runs. */
  | 'waiting'
  /** Met for long enough: a pod has to go. */
  | 'due';

/** The state of a threshold of a node. */
export interface ThresholdState {
  /** The threshold. */
  readonly threshold: Threshold;
  /** Its phase. */
  readonly phase: ThresholdPhase;
  /** The last sample; null: none. */
  readonly sample: Sample | null;
  /** The fault that makes the sample unusable; null: none. */
  readonly fault: SampleFault | null;
  /** The amount it asks for, in the units of the sample; null while unknown. */
  readonly amount: number | null;
  /** The amount that ends it, or ends it once it was acted on; null as above. */
  readonly clearAt: number | null;
  /** Since when it is met, without having been seen otherwise; null: it is not. */
  readonly metSince: Instant | null;
  /** When it is acted on, if it stays met; null: it is not met. */
  readonly dueAt: Instant | null;
  /** The node measured the sample after the one seen before. */
  readonly isNew: boolean;
}

/** The options on which judging depends besides the observation. */
export interface ThresholdStateOptions {
  readonly behaviour: PressureBehaviour;
  readonly sampleAgeMsMax: Millis;
}

/** The settings at the time of an observation. */
export interface ObservedUnder {
  readonly thresholds: readonly Threshold[];
  readonly transitionPeriodMs: Millis;
  /** The largest distance of two samples, where the node was not asked in between. */
  readonly gapMsMax: Millis;
}

interface Spell {
  readonly since: Instant;
  readonly last: Instant;
  /** The node has answered since then, and its signal could not be seen. */
  readonly isMissed: boolean;
}

/**
 * Remembers for one node since when its thresholds are met, which were acted on, and since when its
 * conditions hold. Learns from observations only: an unseen change did not happen, and a state that
 * can no longer be seen stays as it was.
 */
export class ThresholdStates {
  readonly #options: ThresholdStateOptions;
  readonly #spells = new Map<string, Spell>();
  readonly #pressed = new Map<PressureConditionType, Instant>();
  #acted: ReadonlySet<string> = new Set();
  #times: ReadonlyMap<string, Instant | null> = new Map();
  #states: readonly ThresholdState[] = [];
  #conditions: readonly PressureConditionType[] = [];

  constructor(options: ThresholdStateOptions) {
    this.#options = options;
  }

  /** The thresholds as the last observation showed them. */
  get states(): readonly ThresholdState[] {
    return this.#states;
  }

  /** The conditions that hold. */
  get conditions(): readonly PressureConditionType[] {
    return this.#conditions;
  }

  /** The faults of the samples; one that was believed when it was seen may be too old by now. */
  faults(now: Instant): readonly SampleFault[] {
    return this.#states.flatMap(
      ({ threshold, sample, fault }) => fault ?? this.#faultOf(now, threshold.signal, sample) ?? [],
    );
  }

  /** When a threshold of the condition was last seen to be met; null: never. */
  lastPressed(condition: PressureConditionType): Instant | null {
    return this.#pressed.get(condition) ?? null;
  }

  /** Takes over what an earlier run wrote down: it saw pressure, at some time until now. */
  adopt(now: Instant, conditions: readonly PressureConditionType[]): void {
    for (const condition of conditions) {
      if (!this.#pressed.has(condition)) this.#pressed.set(condition, now);
    }
    this.#conditions = pressureConditionTypes.filter(
      (type) => this.#conditions.includes(type) || conditions.includes(type),
    );
  }

  /** Takes in an observation. */
  observe(
    now: Instant,
    { samples }: NodeObservation,
    { thresholds, transitionPeriodMs, gapMsMax }: ObservedUnder,
  ): void {
    this.#states = thresholds.map((threshold) =>
      this.#judge(now, threshold, samples[threshold.signal] ?? null, gapMsMax),
    );
    for (const { threshold, phase } of this.#states) {
      if (phase === 'waiting' || phase === 'due') {
        this.#pressed.set(signals[threshold.signal].condition, now);
      }
    }
    this.#conditions = pressureConditionTypes.filter((type) =>
      this.#holds(now, type, transitionPeriodMs),
    );
    const acted = this.#states.filter((state) => state.phase === 'due' || this.#stays(state));
    this.#acted = new Set(acted.map(({ threshold }) => thresholdKey(threshold)));
    this.#times = new Map(Object.entries(samples).map(([signal, { time }]) => [signal, time]));
  }

  /** A threshold that cannot be seen any more and was acted on still has to be cleared. */
  #stays({ threshold, phase }: ThresholdState): boolean {
    if (phase !== 'unknown' || this.#options.behaviour.clearsUnseen) return false;
    return this.#acted.has(thresholdKey(threshold));
  }

  #judge(
    now: Instant,
    threshold: Threshold,
    sample: Sample | null,
    gapMsMax: Millis,
  ): ThresholdState {
    const key = thresholdKey(threshold);
    const fault = this.#faultOf(now, threshold.signal, sample);
    if (fault || !sample) return this.#unknown(threshold, key, sample, fault);
    const { available, capacity } = sample;
    const amount = amountOf(threshold.value, capacity);
    const reclaimed = amount + amountOf(threshold.minReclaim, capacity);
    const clearAt = this.#acted.has(key) ? Math.max(amount, reclaimed) : amount;
    const isNew = this.#isNew(threshold, sample);
    const seen = { threshold, sample, fault, amount, clearAt, isNew };
    if (!(amount > available) && !(this.#acted.has(key) && reclaimed > available)) {
      this.#spells.delete(key);
      return { ...seen, phase: 'clear', metSince: null, dueAt: null };
    }
    const clock = this.#options.behaviour.sampleClock ? (sample.time ?? now) : now;
    const since = this.#extend(key, clock, gapMsMax);
    const phase = clock - since >= threshold.gracePeriodMs ? 'due' : 'waiting';
    return { ...seen, phase, metSince: since, dueAt: since + threshold.gracePeriodMs };
  }

  #unknown(
    threshold: Threshold,
    key: string,
    sample: Sample | null,
    fault: SampleFault | null,
  ): ThresholdState {
    if (this.#options.behaviour.clearsUnseen) this.#spells.delete(key);
    const spell = this.#spells.get(key);
    if (spell) this.#spells.set(key, { ...spell, isMissed: true });
    const metSince = spell?.since ?? null;
    const dueAt = metSince === null ? null : metSince + threshold.gracePeriodMs;
    const unseen = { amount: null, clearAt: null, isNew: false } as const;
    return { threshold, phase: 'unknown', sample, fault, ...unseen, metSince, dueAt };
  }

  /** Continues the spell; a spell that was not seen for too long begins again. */
  #extend(key: string, clock: Instant, gapMsMax: Millis): Instant {
    const { behaviour, sampleAgeMsMax } = this.#options;
    const before = this.#spells.get(key);
    const unseenMax = before?.isMissed ? sampleAgeMsMax : gapMsMax;
    const isBroken = behaviour.sampleClock && before && clock - before.last > unseenMax;
    const since = before && !isBroken ? before.since : clock;
    const last = Math.max(clock, before?.last ?? clock);
    this.#spells.set(key, { since, last, isMissed: false });
    return since;
  }

  #faultOf(now: Instant, signal: Signal, sample: Sample | null): SampleFault | null {
    if (!sample) return { code: 'SignalMissing', signal };
    const { behaviour, sampleAgeMsMax } = this.#options;
    return behaviour.doubts ? sampleFault(now, signal, sample, sampleAgeMsMax) : null;
  }

  #isNew({ signal }: Threshold, { time }: Sample): boolean {
    const before = this.#times.get(signal) ?? null;
    return before === null || (time !== null && time > before);
  }

  #holds(now: Instant, type: PressureConditionType, transitionPeriodMs: Millis): boolean {
    const { behaviour } = this.#options;
    const last = this.#pressed.get(type);
    if (last === undefined) return false;
    if (now - last < transitionPeriodMs || (behaviour.showsWhileMet && last === now)) return true;
    return !behaviour.clearsUnseen && this.#conditions.includes(type) && this.#isUnseen(type);
  }

  /** True when its end cannot be known: no signal is seen, or one that was met is not. */
  #isUnseen(type: PressureConditionType): boolean {
    const own = this.#states.filter(
      ({ threshold }) => signals[threshold.signal].condition === type,
    );
    const unknown = own.filter(({ phase }) => phase === 'unknown');
    const wasMet = unknown.some(({ metSince }) => metSince !== null);
    return wasMet || (own.length > 0 && unknown.length === own.length);
  }
}

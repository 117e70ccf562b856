import type { Outcome, Setback } from '../event.ts';
import { blockerOf } from '../eviction/blocker.ts';
import { InFlight, nextAttempt } from '../inflight.ts';
import { TokenBucket } from '../limiter.ts';
import { type PodRef, podRef } from '../model.ts';
import type { Instant } from '../time.ts';
import type { PressureCommand } from './command.ts';
import type { PressureConfig } from './config.ts';
import type { EvictionText } from './messages.ts';
import type { NodeRecord } from './node-record.ts';
import type { PressurePod } from './pod.ts';
import type { PressureReason } from './reason.ts';
import type { PressureRules } from './semantics.ts';
import type { PressureWork } from './work.ts';

/** One pod that is to go, and how. */
export interface PressureEviction {
  readonly pod: PressurePod;
  readonly text: EvictionText;
  /** What metrics count it under. */
  readonly signal: string;
  readonly gracePeriodSeconds: number;
  readonly disruptionTarget: boolean;
  readonly because: readonly PressureReason[];
}

type Evicting = Extract<PressureWork, { kind: 'evicting' }>;

/** Sends evictions within the limits of all nodes together, and sees to what becomes of them. */
export class Evictor {
  readonly #config: PressureConfig;
  readonly #rules: PressureRules;
  readonly #inFlight: InFlight;
  readonly #bucket: TokenBucket | null;

  constructor(config: PressureConfig, rules: PressureRules) {
    const { evictionsInFlightMax, evictionsPerSecond: rate } = config;
    this.#config = config;
    this.#rules = rules;
    this.#inFlight = new InFlight('pressure-eviction', evictionsInFlightMax);
    this.#bucket = rate === null ? null : new TokenBucket(rate, Math.max(1, rate));
  }

  /** When one more may begin; null: when another one is answered. */
  readyAt(now: Instant): Instant | null {
    if (!this.#inFlight.hasRoom) return null;
    return this.#bucket?.readyAt(now) ?? now;
  }

  /** Begins as many as may begin now; what is seen of the node next shows the others again. */
  start(
    now: Instant,
    record: NodeRecord,
    evictions: readonly PressureEviction[],
  ): readonly PressureCommand[] {
    const unanswered = new Map<string, PodRef>();
    const commands: PressureCommand[] = [];
    for (const eviction of evictions) {
      const readyAt = this.readyAt(now);
      if (readyAt === null || readyAt > now) break;
      this.#bucket?.take(now);
      const id = this.#inFlight.start(record.node.name);
      unanswered.set(id, podRef(eviction.pod));
      commands.push(...commandsFor(id, eviction));
    }
    record.work = { kind: 'evicting', unanswered, leaving: [], setback: null };
    record.isSpent = true;
    return commands;
  }

  /** Frees the place of a command; the name of its node, or null for one that is not ours. */
  finish(id: string): string | null {
    return this.#inFlight.finish(id);
  }

  /** Moves the node's work on; what there is to tell. */
  settle(
    now: Instant,
    record: NodeRecord,
    id: string,
    outcome: Outcome,
  ): readonly PressureCommand[] {
    const { work } = record;
    const pod = work?.kind === 'evicting' ? work.unanswered.get(id) : undefined;
    if (work?.kind !== 'evicting' || !pod) return [];
    const unanswered = new Map(work.unanswered);
    unanswered.delete(id);
    if (outcome.kind === 'done' || outcome.kind === 'gone' || this.#rules.failureCounts) {
      const leaving = outcome.kind === 'gone' ? work.leaving : [...work.leaving, pod];
      this.#proceed(now, record, { ...work, unanswered, leaving });
      return [];
    }
    const passes = blockerOf(outcome).verdict !== 'resolves';
    const until = passes
      ? now + (retryAfter(outcome) ?? this.#config.blockedRetryWaitMs)
      : this.#retryAt(now, record, outcome);
    if (passes) record.passedOver.set(pod.uid, { setback: outcome, until });
    const setback = passes ? work.setback : outcome;
    this.#proceed(now, record, { ...work, unanswered, setback });
    return [
      { kind: 'pressureReport', report: { kind: 'pressureRetry', pod, setback: outcome, until } },
    ];
  }

  /** Once all are answered: waits for those that go, else tries again, else looks at the others. */
  #proceed(now: Instant, record: NodeRecord, work: Evicting): void {
    const { unanswered, leaving: pods, setback } = work;
    record.work = work;
    if (unanswered.size > 0) return;
    if (pods.length > 0) {
      record.failures = 0;
      record.work = { kind: 'leaving', pods, until: now + this.#config.leavingWaitMsMax };
    } else if (setback) {
      record.isSpent = false;
      record.work = { kind: 'retrying', setback, at: this.#retryAt(now, record, setback) };
      record.failures += 1;
    } else {
      record.work = null;
      // Who was refused is passed over; who was gone already may have freed something.
      record.isSpent = record.passedOver.size === 0;
      if (record.isSpent) record.settledAt = now;
    }
  }

  #retryAt(now: Instant, { node, failures }: NodeRecord, setback: Setback): Instant {
    const { retryWaitMsMin: min, retryWaitMsMax: max } = this.#config;
    return nextAttempt(now, node.name, failures + 1, { min, max }, retryAfter(setback));
  }
}

function retryAfter(setback: Setback): number | null {
  return setback.kind === 'changed' ? null : setback.retryAfter;
}

function commandsFor(id: string, eviction: PressureEviction): readonly PressureCommand[] {
  const { text, signal, gracePeriodSeconds, disruptionTarget, because } = eviction;
  const { message, annotations } = text;
  const pod = podRef(eviction.pod);
  const { generation } = eviction.pod;
  const marked = disruptionTarget ? ('TerminationByKubelet' as const) : null;
  const status = { phase: 'Failed', reason: 'Evicted', message, disruptionTarget: marked } as const;
  return [
    {
      kind: 'recordPressureEvent',
      pod,
      type: 'Warning',
      reason: 'Evicted',
      message,
      annotations,
    },
    {
      kind: 'evictUnderPressure',
      id,
      pod,
      generation,
      gracePeriodSeconds,
      status,
      signal,
      because,
    },
  ];
}

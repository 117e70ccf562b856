import { blockerOf } from '../attempt/blocker.ts';
import { isSetback, type Outcome, type Setback } from '../attempt/outcome.ts';
import { evenTry, nextAttempt } from '../attempt/retry.ts';
import { InFlight } from '../kernel/inflight.ts';
import type { Instant } from '../kernel/time.ts';
import { TokenBucket } from '../kernel/token-bucket.ts';
import { type PodRef, podRef } from '../model/pod.ts';
import type { PressureConfig } from './config.ts';
import type { EvictionText } from './eviction-message.ts';
import type { NodeState, PressureWork, UnansweredEviction } from './node-state.ts';
import type { PressurePod } from './pods/pressure-pod.ts';
import type { PressureCommand } from './pressure-command.ts';
import type { PressureReason } from './reason.ts';
import type { PressureBehaviour } from './semantics.ts';

/** One pod that is to go, and how. */
interface PressureEviction {
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
  readonly #behaviour: PressureBehaviour;
  readonly #inFlight: InFlight;
  readonly #bucket: TokenBucket | null;

  constructor(config: PressureConfig, behaviour: PressureBehaviour) {
    const { evictionsInFlightMax, evictionsPerSecond: rate } = config;
    this.#config = config;
    this.#behaviour = behaviour;
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
    state: NodeState,
    evictions: readonly PressureEviction[],
  ): readonly PressureCommand[] {
    const unanswered = new Map<string, UnansweredEviction>();
    const commands: PressureCommand[] = [];
    for (const eviction of evictions) {
      const readyAt = this.readyAt(now);
      if (readyAt === null || readyAt > now) break;
      this.#bucket?.take(now);
      const id = this.#inFlight.start(state.node.name);
      const pod = podRef(eviction.pod);
      unanswered.set(id, { pod, text: eviction.text });
      commands.push(evictCommand(id, pod, eviction));
    }
    state.evictionsBegan(unanswered);
    return commands;
  }

  /** Frees the place of a command; the name of its node, or null for one that is not ours. */
  finish(id: string): string | null {
    return this.#inFlight.finish(id);
  }

  /** An eviction of the node was answered; what there is to report. */
  answered(
    now: Instant,
    state: NodeState,
    id: string,
    outcome: Outcome,
  ): readonly PressureCommand[] {
    const { work } = state;
    const eviction = work?.kind === 'evicting' ? work.unanswered.get(id) : undefined;
    if (work?.kind !== 'evicting' || !eviction) return [];
    const { pod, text } = eviction;
    const unanswered = new Map(work.unanswered);
    unanswered.delete(id);
    if (!isSetback(outcome) || this.#behaviour.failureCounts) {
      const leaving = [...work.leaving, pod];
      state.evictionAnswered(this.#next(now, state, { ...work, unanswered, leaving }));
      return outcome.kind === 'gone' ? [] : [evictedEvent(pod, text)];
    }
    const passes = blockerOf(outcome).verdict !== 'resolves';
    const { blockedRetryWaitMs } = this.#config;
    const until = passes
      ? evenTry(now, outcome, blockedRetryWaitMs)
      : this.#retryAt(now, state, outcome);
    if (passes) state.podPassedOver(pod.uid, { setback: outcome, until });
    const setback = passes ? work.setback : outcome;
    state.evictionAnswered(this.#next(now, state, { ...work, unanswered, setback }));
    return [
      { kind: 'pressureReport', report: { kind: 'pressureRetry', pod, setback: outcome, until } },
    ];
  }

  /** Once all are answered: waits for those that go, else tries again, else looks at the others. */
  #next(now: Instant, state: NodeState, work: Evicting): PressureWork | null {
    const { unanswered, leaving: pods, setback } = work;
    if (unanswered.size > 0) return work;
    if (pods.length > 0) {
      return { kind: 'leaving', pods, until: now + this.#config.leavingWaitMsMax };
    }
    return setback && { kind: 'failed', setback, until: this.#retryAt(now, state, setback) };
  }

  #retryAt(now: Instant, { node, failures }: NodeState, setback: Setback): Instant {
    return nextAttempt(now, node.name, failures + 1, this.#config, setback);
  }
}

function evictCommand(id: string, pod: PodRef, eviction: PressureEviction): PressureCommand {
  const { text, signal, gracePeriodSeconds, because } = eviction;
  const disruptionTarget = eviction.disruptionTarget ? 'TerminationByKubelet' : null;
  const { message } = text;
  const status = { phase: 'Failed', reason: 'Evicted', message, disruptionTarget } as const;
  const { generation } = eviction.pod;
  const how = { gracePeriodSeconds, status, signal, because };
  return { kind: 'evictUnderPressure', id, pod, generation, ...how };
}

function evictedEvent(pod: PodRef, { message, annotations }: EvictionText): PressureCommand {
  const event = { type: 'Warning', reason: 'Evicted', message, annotations } as const;
  return { kind: 'recordPressureEvent', pod, ...event };
}

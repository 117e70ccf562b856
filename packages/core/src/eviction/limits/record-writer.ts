import type { Outcome } from '../../attempt/outcome.ts';
import { nextAttempt, type RetryWait } from '../../attempt/retry.ts';
import type { Event } from '../../event.ts';
import { InFlight } from '../../kernel/inflight.ts';
import { type ClusterTime, earliest, type Instant, type Millis } from '../../kernel/time.ts';
import {
  describeCount,
  type LimitHit,
  type LimitStatus,
  limitId,
  resumeCommand,
} from '../../policy/limit.ts';
import { retimed } from '../../policy/limit-record.ts';
import type { MachineCommand } from '../eviction-command.ts';
import type { EvictionLimits } from './limits.ts';

/** Writes and reads the record of limits in time, so that they survive a restart and a failover. */
const pollMs: Millis = 5_000;
/** The delay of a change that no pod waits for; later changes join it. */
const laterMs: Millis = 10_000;
/**
 * Remains are cleared away so late after a start: a server that starts too may say for a while that it
 * has no policies, and is asked again after 30 s.
 */
const tidyMs: Millis = 120_000;
/** The number of tries without an answer: there may be no place for the record. */
const triesMax = 8;
/** Long ago: whatever is due then is due now. */
const atOnce: Instant = 0;
const retryWait: RetryWait = { retryWaitMsMin: 500, retryWaitMsMax: 15_000 };

type State =
  /** The record has to be read, from `at` on. */
  | { readonly kind: 'unread'; readonly at: Instant }
  | { readonly kind: 'reading'; readonly id: string; readonly tidies: boolean }
  /** Known and written; looked at again at `pollAt`, written at `writeAt`, if there is cause to. */
  | { readonly kind: 'idle'; readonly pollAt: Instant; readonly writeAt: Instant }
  | {
      readonly kind: 'writing';
      readonly id: string;
      readonly at: Instant;
      readonly covers: ReadonlySet<string>;
      readonly isEmpty: boolean;
      readonly tidies: boolean;
    };

/**
 * Sees to it that limits survive a restart and a failover. Their counts are stored in a record
 * outside: it is read when we begin to lead, and written before the evictions that it counts. While
 * something has tripped it is read now and then, as a person's request to resume is written there
 * too. Once no limit needs it any more, nothing is left standing there: people would go on asking
 * for what is gone to be opened. No pod waits for that, so that without the right to it nothing is
 * reported.
 */
export class LimitRecordWriter {
  readonly #limits: EvictionLimits;
  readonly #clock: ClusterTime;
  readonly #inFlight = new InFlight('limits', 1);
  #state: State = { kind: 'unread', at: atOnce };
  /** The number of failures in a row. */
  readonly #failures = { reading: 0, writing: 0 };
  /** The content of the record, which may be of limits that are gone. */
  #stored: 'unknown' | 'nothing' | 'something' = 'unknown';
  /** A request to resume was carried out, and has to be taken away. */
  #answered = false;

  constructor(limits: EvictionLimits, clock: ClusterTime) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The limits that have tripped, those in whose window pods were evicted, and rates in use. */
  limits(now: Instant): readonly LimitStatus[] {
    return this.#limits.limits(now).map((status) => this.#byWallClock(status));
  }

  /** The time at which the record has to be read or written; null: when something changes. */
  nextWake(): Instant | null {
    const { isRecorded, isRead, unwritten, isTripped } = this.#limits;
    if (!isRecorded && !this.#hasToTidy) return null;
    const state = this.#state;
    if (state.kind === 'unread') return state.at;
    if (state.kind !== 'idle') return null;
    if (!isRecorded) return state.writeAt;
    if (!isRead) return atOnce;
    const writeAt = unwritten === 'urgent' ? atOnce : state.writeAt;
    return earliest([this.#hasNews ? writeAt : null, isTripped ? state.pollAt : null]);
  }

  /** Reports the limits that tripped, and reads or writes the record when that is due. */
  act(now: Instant): readonly MachineCommand[] {
    this.#limits.sweep(now);
    const tripped = this.#limits.takeTripped().map((status) => this.#byWallClock(status));
    const events = tripped.flatMap(trippedEvents);
    const wake = this.nextWake();
    if (wake === null || wake > now) return events;
    const state = this.#state;
    const { isRecorded, isRead, unwritten } = this.#limits;
    const isForWriting =
      state.kind === 'idle' &&
      (!isRecorded ||
        (isRead && (unwritten === 'urgent' || (state.writeAt <= now && this.#hasNews))));
    return [...events, isForWriting ? this.#write(now) : this.#read()];
  }

  /** Takes what people and the record say of limits. */
  take(
    now: Instant,
    event: Extract<Event, { kind: 'resumeEvictions' | 'limitRecord' }>,
  ): readonly MachineCommand[] {
    if (event.kind === 'resumeEvictions') {
      this.#limits.queue.requeue(now);
      return this.#resume(now, event.limits, 'its caller');
    }
    const { record, resume } = event;
    const isEmpty = Object.keys(record ?? {}).length === 0 && !resume;
    this.#stored = isEmpty ? 'nothing' : 'something';
    const { isRecorded } = this.#limits;
    // Counts that limits without a record have made meanwhile stay as they are.
    const isTidying = this.#state.kind === 'reading' && this.#state.tidies && !isRecorded;
    if (isTidying) this.#answered ||= resume !== null;
    if (isTidying || (!isRecorded && !record)) return [];
    if (!this.#limits.isRead)
      this.#limits.restore(now, record && retimed(record, (at) => this.#clock.when(at)));
    if (!resume) return [];
    this.#answered = true;
    return this.#resume(now, resume.limits, resume.by);
  }

  #resume(now: Instant, ids: readonly string[] | undefined, by: string): readonly MachineCommand[] {
    return this.#limits.resume(now, ids).flatMap((hit) => resumedEvents(hit, by));
  }

  /** Takes the end of a command. */
  answered(now: Instant, id: string, outcome: Outcome): readonly MachineCommand[] {
    this.#inFlight.finish(id);
    const state = this.#state;
    if (!('id' in state) || state.id !== id) return [];
    if (outcome.kind === 'done') {
      this.#failures[state.kind] = 0;
      const isAtStart = state.kind === 'reading' && state.tidies && !this.#limits.isRead;
      const writeAt = now + (isAtStart ? tidyMs : laterMs);
      this.#state = { kind: 'idle', pollAt: now + pollMs, writeAt };
      if (state.kind !== 'writing') return [];
      this.#answered = false;
      this.#stored = state.isEmpty ? 'nothing' : 'something';
      this.#limits.written(now, state.at, state.covers);
      return [];
    }
    const failures = ++this.#failures[state.kind];
    if (state.tidies && isHopeless(outcome, failures)) {
      this.#failures[state.kind] = 0;
      this.#stored = 'nothing';
      this.#state = { kind: 'unread', at: now };
      return [];
    }
    if (state.kind === 'writing') this.#limits.stayedUnwritten();
    // Another replica has written: its record is read at once.
    const isOutrun = outcome.kind === 'changed' && failures === 1;
    const at = isOutrun ? now : nextAttempt(now, 'limits', failures, retryWait, outcome);
    this.#state = { kind: 'unread', at };
    return isOutrun ? [] : this.#limits.heldByRecord();
  }

  /** True when we lead: another replica may write when we do not. */
  lead(now: Instant, held: boolean): void {
    if (held) {
      this.#limits.lead(now);
      return;
    }
    this.#limits.stopLeading();
    this.#state = { kind: 'unread', at: atOnce };
    this.#stored = 'unknown';
    this.#answered = false;
    this.#failures.reading = 0;
    this.#failures.writing = 0;
  }

  #byWallClock({ since, oneAt, ...status }: LimitStatus): LimitStatus {
    return {
      ...status,
      since: since === null ? null : this.#clock.wall(since),
      ...(oneAt !== undefined && { oneAt: this.#clock.wall(oneAt) }),
    };
  }

  /** No limit needs the record, and something may be left there. */
  get #hasToTidy(): boolean {
    return this.#stored !== 'nothing' && this.#limits.isForgotten;
  }

  get #hasNews(): boolean {
    return this.#answered || this.#limits.unwritten !== 'none';
  }

  #read(): MachineCommand {
    const id = this.#inFlight.start('read');
    const tidies = !this.#limits.isRecorded;
    this.#state = { kind: 'reading', id, tidies };
    return { kind: 'readLimits', id, ...(tidies && { tidies }) };
  }

  #write(now: Instant): MachineCommand {
    const id = this.#inFlight.start('write');
    const tidies = !this.#limits.isRecorded;
    const { record, covers: counted } = this.#limits.record(now);
    const covers = tidies ? nobody : counted;
    const isEmpty = Object.keys(record).length === 0;
    this.#state = { kind: 'writing', id, at: now, covers, isEmpty, tidies };
    const stored = retimed(record, (at) => this.#clock.wall(at));
    const resumed = this.#answered;
    return { kind: 'keepLimits', id, record: stored, resumed, ...(tidies && { tidies }) };
  }
}

const nobody: ReadonlySet<string> = new Set();

/** Without the right to it, or without a place for it, it stays as it is until another leads. */
function isHopeless(outcome: Outcome, failures: number): boolean {
  if (outcome.kind !== 'failed') return false;
  return outcome.status === 403 || (outcome.status === null && failures >= triesMax);
}

/** The report and the Event of a limit that has stopped evictions. */
function trippedEvents(status: LimitStatus): readonly MachineCommand[] {
  const count = status.count ? `: ${describeCount(status.count)}` : '';
  const message = `Limit ${status.id} has tripped${count}. Pods under it are not evicted until you run: ${resumeCommand(status.id)}`;
  return [
    { kind: 'report', report: { kind: 'limitTripped', limit: status } },
    { kind: 'recordLimitEvent', type: 'Warning', reason: 'LimitTripped', message },
  ];
}

/** The report and the Event of a limit that a person has opened. */
function resumedEvents(hit: LimitHit, by: string): readonly MachineCommand[] {
  const message = `Limit ${limitId(hit)} is open again: resumed by ${by}`;
  return [
    { kind: 'report', report: { kind: 'limitResumed', limit: hit, by } },
    { kind: 'recordLimitEvent', type: 'Normal', reason: 'LimitResumed', message },
  ];
}

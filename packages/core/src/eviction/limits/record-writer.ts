import type { Outcome } from '../../attempt/outcome.ts';
import { nextAttempt, type RetryWait } from '../../attempt/retry.ts';
import type { Event } from '../../event.ts';
import type { ClusterTime } from '../../kernel/cluster-clock.ts';
import { InFlight } from '../../kernel/inflight.ts';
import { earliest, type Instant, type Millis } from '../../kernel/time.ts';
import {
  describeCount,
  type LimitHit,
  type LimitStatus,
  limitId,
  resumeCommand,
} from '../../policy/limit.ts';
import { retimed } from '../../policy/limit-record.ts';
import type { MachineCommand } from '../eviction-command.ts';
import type { EvictionLimiter } from './limiter.ts';

/** Writes and reads the record of limits in time, so that they survive a restart and a failover. */
const pollMs: Millis = 5_000;
/** A change that no pod waits for is written so much later, with whatever comes until then. */
const laterMs: Millis = 10_000;
/**
 * Remains are cleared away so late after a start: a server that starts too may say for a while that it
 * has no policies, and is asked again after 30 s.
 */
const tidyMs: Millis = 120_000;
/** Without an answer it is given up after so many tries: there may be no place for it. */
const triesMax = 8;
/** Long ago: whatever is due then is due now. */
const atOnce: Instant = 0;
const retryWait: RetryWait = { retryWaitMsMin: 500, retryWaitMsMax: 15_000 };

type State =
  /** It has to be read, from `at` on. */
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

/** The meaning of the end of a command for those who wait. */
type RecordAnswer =
  /** It was no command about the record. */
  | 'notOurs'
  | 'nothing'
  /** There may be room. */
  | 'room'
  /** It did not come about, and is tried again later. */
  | 'failed';

/**
 * Sees to it that limits survive a restart and a failover. What they have counted stands in a record
 * outside: it is read when we begin to lead, and written before the evictions that it counts. While
 * something has tripped it is read now and then, as a person's request to resume is written there too.
 * Once no limit needs it any more, nothing is left standing there: people would go on asking for what is
 * gone to be opened. Nobody waits for that, so that without the right to it nothing is said.
 */
export class LimitRecordWriter {
  readonly #limiter: EvictionLimiter;
  readonly #clock: ClusterTime;
  readonly #inFlight = new InFlight('limits', 1);
  #state: State = { kind: 'unread', at: atOnce };
  /** So many have failed in a row. */
  readonly #failures = { reading: 0, writing: 0 };
  /** The content of the record, which may be of limits that are gone. */
  #stored: 'unknown' | 'nothing' | 'something' = 'unknown';
  /** A request to resume was carried out, and has to be taken away. */
  #answered = false;

  constructor(limiter: EvictionLimiter, clock: ClusterTime) {
    this.#limiter = limiter;
    this.#clock = clock;
  }

  /** The limits that have tripped, those in whose window pods were evicted, and rates in use. */
  limits(now: Instant): readonly LimitStatus[] {
    return this.#limiter.limits(now).map((status) => this.#byWallClock(status));
  }

  /** When the record is to be read or written; null: when something changes. */
  nextWake(): Instant | null {
    const { isRecorded, isRead, unwritten, isTripped } = this.#limiter;
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
    this.#limiter.sweep(now);
    const tripped = this.#limiter.takeTripped().map((status) => this.#byWallClock(status));
    const events = tripped.flatMap(trippedEvents);
    const wake = this.nextWake();
    if (wake === null || wake > now) return events;
    const state = this.#state;
    const { isRecorded, isRead, unwritten } = this.#limiter;
    const isForWriting =
      state.kind === 'idle' &&
      (!isRecorded ||
        (isRead && (unwritten === 'urgent' || (state.writeAt <= now && this.#hasNews))));
    return [...events, isForWriting ? this.#write(now) : this.#read()];
  }

  /** Takes what stands in the record, and what people want; whether that may have made room. */
  take(
    now: Instant,
    { record, resume }: Extract<Event, { kind: 'limitRecord' }>,
  ): { readonly hasRoom: boolean; readonly commands: readonly MachineCommand[] } {
    const isEmpty = Object.keys(record ?? {}).length === 0 && !resume;
    this.#stored = isEmpty ? 'nothing' : 'something';
    const { isRecorded } = this.#limiter;
    // Counts that limits without a record have made meanwhile stay as they are.
    const isTidying = this.#state.kind === 'reading' && this.#state.tidies && !isRecorded;
    if (isTidying) this.#answered ||= resume !== null;
    if (isTidying || (!isRecorded && !record)) return { hasRoom: false, commands: [] };
    const isFirst = !this.#limiter.isRead;
    if (isFirst)
      this.#limiter.restore(now, record && retimed(record, (at) => this.#clock.when(at)));
    if (!resume) return { hasRoom: isFirst, commands: [] };
    this.#answered = true;
    const opened = this.#limiter.resume(resume.limits);
    const commands = opened.flatMap((hit) => resumedEvents(hit, resume.by));
    return { hasRoom: isFirst || opened.length > 0, commands };
  }

  /** Takes the end of a command. */
  answered(now: Instant, id: string, outcome: Outcome): RecordAnswer {
    this.#inFlight.finish(id);
    const state = this.#state;
    if (!('id' in state) || state.id !== id) return 'nothing';
    if (outcome.kind === 'done') {
      this.#failures[state.kind] = 0;
      const isAtStart = state.kind === 'reading' && state.tidies && !this.#limiter.isRead;
      const writeAt = now + (isAtStart ? tidyMs : laterMs);
      this.#state = { kind: 'idle', pollAt: now + pollMs, writeAt };
      if (state.kind !== 'writing') return 'nothing';
      this.#answered = false;
      this.#stored = state.isEmpty ? 'nothing' : 'something';
      this.#limiter.written(state.at, state.covers);
      return 'room';
    }
    const failures = ++this.#failures[state.kind];
    if (state.tidies && isHopeless(outcome, failures)) {
      this.#failures[state.kind] = 0;
      this.#stored = 'nothing';
      this.#state = { kind: 'unread', at: now };
      return 'nothing';
    }
    if (state.kind === 'writing') this.#limiter.stayedUnwritten();
    // Another replica has written: its record is read at once.
    const isOutrun = outcome.kind === 'changed' && failures === 1;
    const at = isOutrun ? now : nextAttempt(now, 'limits', failures, retryWait, outcome);
    this.#state = { kind: 'unread', at };
    return isOutrun ? 'nothing' : 'failed';
  }

  /** True when we lead: another replica may write when we do not. */
  lead(now: Instant, held: boolean): void {
    if (held) {
      this.#limiter.lead(now);
      return;
    }
    this.#limiter.stopLeading();
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
    return this.#stored !== 'nothing' && this.#limiter.isForgotten;
  }

  get #hasNews(): boolean {
    return this.#answered || this.#limiter.unwritten !== 'none';
  }

  #read(): MachineCommand {
    const id = this.#inFlight.start('read');
    const tidies = !this.#limiter.isRecorded;
    this.#state = { kind: 'reading', id, tidies };
    return { kind: 'readLimits', id, ...(tidies && { tidies }) };
  }

  #write(now: Instant): MachineCommand {
    const id = this.#inFlight.start('write');
    const tidies = !this.#limiter.isRecorded;
    const { record, covers: counted } = this.#limiter.record(now);
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
  const message = `Limit ${status.id} has tripped${count}. Pods under it are not evicted until somebody runs: ${resumeCommand(status.id)}`;
  return [
    { kind: 'report', report: { kind: 'limitTripped', limit: status } },
    { kind: 'recordLimitEvent', type: 'Warning', reason: 'LimitTripped', message },
  ];
}

/** The report and the Event of a limit that somebody has opened. */
export function resumedEvents(hit: LimitHit, by: string): readonly MachineCommand[] {
  const message = `Limit ${limitId(hit)} is open again: resumed by ${by}`;
  return [
    { kind: 'report', report: { kind: 'limitResumed', limit: hit, by } },
    { kind: 'recordLimitEvent', type: 'Normal', reason: 'LimitResumed', message },
  ];
}

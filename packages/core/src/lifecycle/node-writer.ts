import type { Outcome } from '../attempt/outcome.ts';
import { nextAttempt } from '../attempt/retry.ts';
import { InFlight } from '../kernel/inflight.ts';
import type { Instant } from '../kernel/time.ts';
import type { LifecycleCommand } from './command.ts';
import type { LifecycleConfig } from './config.ts';
import type { Need } from './needs.ts';
import type { NodeWrite } from './reason.ts';

/** A write that has ended. */
export interface EndedWrite {
  readonly name: string;
  readonly write: NodeWrite;
  /** When the next attempt may begin; null: it succeeded. */
  readonly retryAt: Instant | null;
}

interface Attempt {
  readonly write: NodeWrite;
  /** Attempts that have failed so far. */
  readonly failures: number;
  /** Under way; else when the next one may begin. */
  readonly id: string | null;
  readonly notBefore: Instant;
}

/** Wait for the watch to show what was written. */
const echoWaitMs = 10_000;
const retryWait = { retryWaitMsMin: 100, retryWaitMsMax: 30_000 };
const conflict = 409;

/**
 * The writes to nodes, one at a time for each, since every one would make the next one conflict.
 * After a failure it waits, the longer the more often; after a success until the watch has shown it.
 */
export class NodeWriter {
  readonly #inFlight: InFlight;
  readonly #attempts = new Map<string, Attempt>();
  readonly #names = new Map<string, string>();

  constructor({ writesInFlightMax }: LifecycleConfig) {
    this.#inFlight = new InFlight('node', writesInFlightMax);
  }

  get hasRoom(): boolean {
    return this.#inFlight.hasRoom;
  }

  /** How many more may be under way. */
  get room(): number {
    return this.#inFlight.room;
  }

  /** When a node may be written to for this purpose; null: something is under way there. */
  readyAt(now: Instant, name: string, write: NodeWrite): Instant | null {
    const attempt = this.#attempts.get(name);
    if (!attempt) return now;
    if (attempt.id !== null) return null;
    return attempt.write === write ? attempt.notBefore : now;
  }

  begin(now: Instant, name: string, { write, command }: Need): LifecycleCommand {
    const known = this.#attempts.get(name);
    const failures = known?.write === write ? known.failures : 0;
    const id = this.#inFlight.start(name);
    this.#names.set(id, name);
    this.#attempts.set(name, { write, failures, id, notBefore: now });
    return command(id, failures > 0);
  }

  /** Takes a result; null when it is not one of ours, or the node is another by now. */
  settle(now: Instant, id: string, outcome: Outcome): EndedWrite | null {
    this.#inFlight.finish(id);
    const name = this.#names.get(id);
    this.#names.delete(id);
    const attempt = name === undefined ? undefined : this.#attempts.get(name);
    if (name === undefined || attempt?.id !== id) return null;
    const { write } = attempt;
    const isDone = outcome.kind === 'done' || outcome.kind === 'gone';
    const failures = isDone ? 0 : attempt.failures + 1;
    const notBefore = isDone ? now + echoWaitMs : retryAt(now, name, failures, outcome);
    this.#attempts.set(name, { write, failures, id: null, notBefore });
    return { name, write, retryAt: isDone ? null : notBefore };
  }

  /** Takes in what the node needs now: what it does not need any more has been shown. */
  confirm(name: string, needed: readonly NodeWrite[]): void {
    const attempt = this.#attempts.get(name);
    if (attempt?.id === null && !needed.includes(attempt.write)) this.#attempts.delete(name);
  }

  forget(name: string): void {
    this.#attempts.delete(name);
  }
}

/** A first conflict only means that the node has to be read again. */
function retryAt(now: Instant, name: string, failures: number, outcome: Outcome): Instant {
  const isConflict = outcome.kind === 'failed' && outcome.status === conflict;
  if (isConflict && failures === 1) return now;
  return nextAttempt(now, name, failures, retryWait, outcome);
}

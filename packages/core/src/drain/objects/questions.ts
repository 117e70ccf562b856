// What a NodeDrain has to know of others: it is asked again and again, and an old answer is none.
import { isSetback, type Outcome } from '../../attempt/outcome.ts';
import { InFlight } from '../../kernel/inflight.ts';
import { earliest, type Instant, type Millis } from '../../kernel/time.ts';
import type { DrainQuestion } from './command.ts';

const questionsInFlightMax = 20;
/** How long after an answer it is asked again; and the age from which an answer counts no more. */
const askAgainMs: Millis = 5_000;
const answerAgeMsMax: Millis = 45_000;
/** The same where the answer says until when it holds. */
const askAgainMsWithEnd: Millis = 60_000;
const answerAgeMsMaxWithEnd: Millis = 120_000;

/** What is known by now. */
export interface Known {
  readonly kind: 'yes' | 'no' | 'unknown';
  /** Why not, or why nobody knows. */
  readonly message: string;
}

interface Asked {
  readonly question: DrainQuestion;
  known: Known;
  /** When it is asked again; null: it is being asked. */
  dueAt: Instant | null;
  /** From then on nobody knows. */
  staleAt: Instant;
}

const notAsked: Known = { kind: 'unknown', message: 'it is not known yet' };

export class Questions {
  readonly #asked = new Map<string, Asked>();
  readonly #inFlight: InFlight;
  /** By the cluster's clock to ours. */
  readonly #when: (wall: Instant) => Instant;

  constructor(prefix: string, when: (wall: Instant) => Instant) {
    this.#inFlight = new InFlight(prefix, questionsInFlightMax);
    this.#when = when;
  }

  /** What is known; it is asked from now on. */
  known(now: Instant, key: string, question: DrainQuestion): Known {
    const asked = this.#asked.get(key);
    if (!asked) {
      const staleAt = Number.POSITIVE_INFINITY;
      this.#asked.set(key, { question, known: notAsked, dueAt: now, staleAt });
      return notAsked;
    }
    if (now >= asked.staleAt) {
      asked.known = { kind: 'unknown', message: 'the last answer is too old' };
      asked.staleAt = Number.POSITIVE_INFINITY;
    }
    return asked.known;
  }

  /** It is asked no more, but for these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#asked.keys()) if (!keys.has(key)) this.#asked.delete(key);
  }

  /** The questions that are to be asked now. */
  *takeDue(now: Instant): Generator<{ readonly id: string; readonly question: DrainQuestion }> {
    for (const [key, asked] of this.#asked) {
      if (!this.#inFlight.hasRoom) return;
      if (asked.dueAt === null || asked.dueAt > now) continue;
      asked.dueAt = null;
      yield { id: this.#inFlight.start(key), question: asked.question };
    }
  }

  answered(now: Instant, id: string, outcome: Outcome): void {
    const asked = this.#asked.get(this.#inFlight.finish(id) ?? '');
    if (!asked) return;
    const until = 'until' in outcome ? outcome.until : undefined;
    if (until === undefined) {
      asked.dueAt = now + askAgainMs;
      asked.staleAt = now + answerAgeMsMax;
    } else {
      const end = Math.max(now + 1, this.#when(until));
      asked.dueAt = Math.min(end, now + askAgainMsWithEnd);
      asked.staleAt = Math.min(end, now + answerAgeMsMaxWithEnd);
    }
    asked.known = knownBy(outcome);
  }

  /** When the next is to be asked, or an answer is too old; null: none. */
  nextWake(): Instant | null {
    const { hasRoom } = this.#inFlight;
    const all = Array.from(this.#asked.values(), ({ dueAt, staleAt }) =>
      earliest([hasRoom ? dueAt : null, Number.isFinite(staleAt) ? staleAt : null]),
    );
    return earliest(all);
  }
}

function knownBy(outcome: Outcome): Known {
  if (!isSetback(outcome)) return { kind: 'yes', message: '' };
  const { message } = outcome;
  return outcome.kind === 'changed' ? { kind: 'no', message } : { kind: 'unknown', message };
}

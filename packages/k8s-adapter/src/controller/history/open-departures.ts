// The departures about which there may be more to say, and the lines to write about them.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Departure } from '../../history/departure.ts';
import { shortUid } from '../../history/segment.ts';
import type { JsonRecord } from '../../proto/json.ts';

/** More is closed, the earliest first: nothing that happens to them later is recorded. */
const openMax = 20_000;
/**
 * A departure whose pod is gone waits for its successor this long, and so does one without further
 * events.
 */
const successorMsMax: Millis = 600_000;
const idleMsMax: Millis = 3_600_000;
/** News of a departure that has a line already waits this long for more. */
const newsMsMax: Millis = 60_000;
/** A standby writes nothing; the leader may have been about to write what it has seen. */
const standbyMsMax: Millis = 900_000;

interface Open {
  departure: Departure;
  /** As its lines say it; null: it has none. */
  written: Departure | null;
  changedAt: Instant;
}

/**
 * Each departure gets a line at once, and another with the news when it is complete, at the latest
 * a minute after the news. `now` is the time on the cluster's clock.
 */
export class OpenDepartures {
  /** By uid, in the order in which they were opened. */
  readonly #open = new Map<string, Open>();
  /** Departures to write at once, and those that wait, since when. */
  readonly #urgent = new Set<string>();
  readonly #waiting = new Map<string, Instant>();
  /** Lines of those that are closed. */
  #lines: JsonRecord[] = [];
  #closed: (departure: Departure) => void = () => {};

  /** Called with each that is closed. */
  onClose(closed: (departure: Departure) => void): void {
    this.#closed = closed;
  }

  get size(): number {
    return this.#open.size;
  }

  get(uid: string): Departure | undefined {
    return this.#open.get(uid)?.departure;
  }

  /** Opens a departure, or says more about one. `isMinor`: not worth a separate line. */
  put(now: Instant, departure: Departure, isMinor = false): void {
    const { uid } = departure;
    const open = this.#open.get(uid);
    if (open) {
      open.departure = departure;
      open.changedAt = now;
    } else this.#open.set(uid, { departure, written: null, changedAt: now });
    if (!open?.written || isComplete(departure)) this.#hurry(uid);
    else if (!isMinor && !this.#waiting.has(uid)) this.#waiting.set(uid, now);
    if (this.#open.size > openMax) this.#closeOldest();
  }

  /** Takes over the record of a leader before us, who knew the beginning better. */
  adopt(now: Instant, written: Departure): void {
    const { uid } = written;
    const mine = this.#open.get(uid);
    if (!mine && isComplete(written)) return;
    const departure = mine ? joined(mine.departure, written) : written;
    this.#open.set(uid, { departure, written, changedAt: now });
    this.#urgent.delete(uid);
    if (lineOf(departure, written)) this.#hurry(uid);
    if (this.#open.size > openMax) this.#closeOldest();
  }

  /** All have to be written as a whole again. */
  forgetWritten(): void {
    this.#lines = [];
    this.#waiting.clear();
    for (const [uid, open] of this.#open) {
      open.written = null;
      this.#urgent.add(uid);
    }
  }

  /** When lines are due, -Infinity: at once; null: none are. */
  nextDue(): Instant | null {
    if (this.#urgent.size > 0 || this.#lines.length > 0) return Number.NEGATIVE_INFINITY;
    for (const since of this.#waiting.values()) return since + newsMsMax;
    return null;
  }

  /** The lines that are due; `all`: also those that wait. From now on they count as written. */
  take(now: Instant, all = false): readonly JsonRecord[] {
    for (const [uid, since] of this.#waiting) {
      if (!all && since + newsMsMax > now) break;
      this.#hurry(uid);
    }
    const lines = this.#lines;
    this.#lines = [];
    for (const uid of this.#urgent) {
      const open = this.#open.get(uid);
      const line = open ? lineOf(open.departure, open.written) : null;
      if (line) lines.push(line);
      if (open) open.written = open.departure;
      if (open && isComplete(open.departure)) this.#drop(uid);
    }
    this.#urgent.clear();
    return lines;
  }

  /** Lines that are not written yet, for readers of the present state. */
  unwritten(): readonly JsonRecord[] {
    const open = [...this.#open.values()].map((one) => lineOf(one.departure, one.written));
    return [...this.#lines, ...open.filter((line) => line !== null)];
  }

  /** Closes those without further news. Called about once a minute. */
  sweep(now: Instant, leads: boolean): void {
    for (const [uid, { departure, changedAt }] of this.#open) {
      if (leads) {
        const goneAt = departure.goneAt ?? departure.foundGoneAt ?? Number.POSITIVE_INFINITY;
        if (now - goneAt > successorMsMax || now - changedAt > idleMsMax) this.#close(uid);
      } else if (now - departure.seenAt > standbyMsMax) this.#drop(uid);
    }
  }

  #hurry(uid: string): void {
    this.#waiting.delete(uid);
    this.#urgent.add(uid);
  }

  #closeOldest(): void {
    const [uid] = this.#open.keys();
    if (uid !== undefined) this.#close(uid);
  }

  #close(uid: string): void {
    const open = this.#open.get(uid);
    const line = open ? lineOf(open.departure, open.written) : null;
    if (line) this.#lines.push(line);
    if (this.#lines.length > openMax) this.#lines.shift();
    this.#drop(uid);
  }

  #drop(uid: string): void {
    const departure = this.get(uid);
    this.#open.delete(uid);
    this.#urgent.delete(uid);
    this.#waiting.delete(uid);
    if (departure) this.#closed(departure);
  }
}

/** The fields that were written win over ours; the refusals since then are added. */
function joined(mine: Departure, written: Departure): Departure {
  const before = new Map((written.refusals ?? []).map((one) => [one.words, one] as const));
  const since = (mine.refusals ?? []).filter(({ words, lastAt }) => {
    return lastAt > (before.get(words)?.lastAt ?? Number.NEGATIVE_INFINITY);
  });
  for (const { words, count, firstAt, ...one } of since) {
    const known = before.get(words);
    const earlier = known && known.lastAt < firstAt ? known.count : 0;
    const from = Math.min(firstAt, known?.firstAt ?? firstAt);
    before.set(words, { ...one, words, count: count + earlier, firstAt: from });
  }
  return { ...mine, ...written, ...(before.size > 0 && { refusals: [...before.values()] }) };
}

/**
 * Tells whether the departure is complete: the pod is gone, and another one is ready in its place,
 * where one is expected.
 */
function isComplete({ goneAt, foundGoneAt, owner, successor }: Departure): boolean {
  const isGone = goneAt !== undefined || foundGoneAt !== undefined;
  return isGone && (owner === undefined || successor?.readyAt !== undefined);
}

/** A departure as a line, or its news; null: there is none. */
function lineOf(departure: Departure, written: Departure | null): JsonRecord | null {
  if (written === null) return { ...departure };
  const news = Object.entries(departure).filter(([field, value]) => {
    const before: unknown = Reflect.get(written, field);
    return before !== value && JSON.stringify(before) !== JSON.stringify(value);
  });
  if (news.length === 0) return null;
  return { more: shortUid(departure.uid), ...Object.fromEntries(news) };
}

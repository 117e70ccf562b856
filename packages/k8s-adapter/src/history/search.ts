// Finds departures in what a leader has kept of them.
import type { Instant } from '@taintmgr/core/time';
import type { JsonRecord } from '../proto/json.ts';
import { type Departure, departureFrom, type Gap, gapFrom } from './departure.ts';
import { type Compression, linesOf, shortUid } from './segment.ts';

/** A field that is left out does not narrow the search. */
export interface HistoryQuery {
  /** The namespace of the pods; left out: any. */
  readonly namespace?: string;
  /** The name of the pod; left out: any. */
  readonly pod?: string;
  /** The name of the node; left out: any. */
  readonly node?: string;
  /** Departures to which something happened, and gaps that ended, then or later. */
  readonly since?: Instant;
}

/** The records that a search has found. */
export interface HistoryFound {
  /** By when they were seen, the earliest first. */
  readonly departures: readonly Departure[];
  /** Times of which no records are kept. */
  readonly gaps: readonly Gap[];
  /** The number of earlier ones that were found too, and left out. */
  readonly leftOut: number;
}

/**
 * Searches line by line, the earliest first. A line is a departure, more of one that has a line already (`more`: the
 * short uid), or a gap. Of departures that are found the latest `most` are kept.
 */
export class HistorySearch {
  readonly #query: HistoryQuery;
  readonly #most: number;
  readonly #found = new Map<string, Departure>();
  readonly #uids = new Map<string, string>();
  readonly #gaps = new Map<string, Gap>();
  #leftOut = 0;

  constructor(query: HistoryQuery, most: number = Number.POSITIVE_INFINITY) {
    this.#query = query;
    this.#most = most;
  }

  /** Reads a segment; one that cannot be unpacked has no records. */
  readBlock(block: string, compression: Compression): void {
    for (const line of linesOf(block, compression)) this.readLine(line);
  }

  /** Reads one record; others than the known forms are passed over. */
  readLine(line: JsonRecord): void {
    if (typeof line.more === 'string') this.#readMore(line.more, line);
    else if (typeof line.uid === 'string') this.#keep(departureFrom(line));
    else this.#readGap(line);
  }

  /** The departures so far, the earliest first, and the gaps between records. */
  get found(): HistoryFound {
    const since = this.#query.since ?? Number.NEGATIVE_INFINITY;
    const departures = [...this.#found.values()]
      .filter((departure) => lastOf(departure) >= since)
      .sort((one, other) => one.seenAt - other.seenAt);
    const over = Math.max(0, departures.length - this.#most);
    return {
      departures: departures.slice(over),
      gaps: [...this.#gaps.values()],
      leftOut: this.#leftOut + over,
    };
  }

  #readGap(line: JsonRecord): void {
    const gap = gapFrom(line);
    const { since, namespace } = this.#query;
    if (!gap || (since !== undefined && gap.to < since)) return;
    const isOfOther = gap.namespace !== undefined && namespace !== undefined;
    if (!isOfOther || gap.namespace === namespace) this.#keepGap(gap);
    // A client that may write ConfigMaps can write any number.
    if (this.#gaps.size <= 2 * gapsMax) return;
    for (const key of [...this.#gaps.keys()].slice(0, gapsMax)) this.#gaps.delete(key);
  }

  /** Where a leader continues to leave out departures of a namespace, the gaps are one. */
  #keepGap(gap: Gap): void {
    const key = gap.why === 'tooMany' && gap.from !== undefined ? endKey(gap, gap.from) : '';
    const before = this.#gaps.get(key);
    this.#gaps.delete(key);
    const count = (before?.count ?? 0) + (gap.count ?? 0);
    const whole = before ? { ...before, to: gap.to, count } : gap;
    const isOfMany = gap.why === 'tooMany';
    this.#gaps.set(isOfMany ? endKey(gap, gap.to) : JSON.stringify(gap), whole);
  }

  #readMore(short: string, { uid: _, ...news }: JsonRecord): void {
    const before = this.#found.get(this.#uids.get(short) ?? '');
    if (before) this.#keep(departureFrom({ ...before, ...news }));
  }

  #keep(departure: Departure | null): void {
    if (!departure || !this.#matches(departure)) return;
    const { uid } = departure;
    this.#uids.set(shortUid(uid), uid);
    this.#found.set(uid, departure);
    if (this.#found.size > 2 * this.#most) this.#forget();
  }

  /** The gaps that were put in first are the earliest, or nearly. */
  #forget(): void {
    for (const uid of this.#found.keys()) {
      if (this.#found.size <= this.#most) return;
      this.#found.delete(uid);
      this.#uids.delete(shortUid(uid));
      this.#leftOut += 1;
    }
  }

  #matches(departure: Departure): boolean {
    const { namespace, pod, node } = departure;
    const { since, ...wanted } = this.#query;
    if (wanted.namespace !== undefined && namespace !== wanted.namespace) return false;
    if (wanted.pod !== undefined && pod !== wanted.pod) return false;
    if (wanted.node !== undefined && node !== wanted.node) return false;
    // Of a pod that is gone little more comes.
    return since === undefined || departure.goneAt === undefined || lastOf(departure) >= since;
  }
}

function lastOf({
  seenAt,
  answeredAt,
  goneAt,
  foundGoneAt,
  refusals = [],
  successor,
}: Departure): Instant {
  const refusedAt = refusals.map(({ lastAt }) => lastAt);
  const times = [seenAt, answeredAt, goneAt, foundGoneAt, successor?.readyAt, ...refusedAt];
  return Math.max(...times.map((at) => at ?? Number.NEGATIVE_INFINITY));
}

function endKey({ leader, namespace }: Gap, at: Instant): string {
  return JSON.stringify([leader, namespace, at]);
}

const gapsMax = 500;

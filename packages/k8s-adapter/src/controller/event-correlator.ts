// Counts equal Kubernetes Events as one, and drops those of an object that has too many.
import type { Instant, Millis } from '@taintmgr/core/time';
import { type ClusterEvent, type EventSeries, eventName } from '../proto/event-requests.ts';

/** Equal events, recorded as one Event object with a count. */
export interface Series extends EventSeries {
  lastAt: Instant;
  count: number;
  /** The count that stands in the API; 0: no such object. */
  written: number;
  state: 'idle' | 'waiting' | 'underWay';
  failures: number;
  /** Of its object. */
  readonly bucket: Bucket;
}

/** The number of events that may still be recorded about one object. */
interface Bucket {
  tokens: number;
  /** When they were counted last; null: all are there. */
  at: Instant | null;
}

/** All that is known of an object that events from one source are about. */
interface Subject {
  readonly bucket: Bucket;
  /** In the order in which each was said last. */
  readonly series: Series[];
}

/** As many objects as client-go remembers. */
const rememberedMax = 4096;
const burst = 25;
/** Of one object: no more can be written at once. */
const seriesMax = burst;
const msPerToken: Millis = 300_000;

/**
 * The limits of client-go's EventCorrelator: equal events become one object whose count goes up, and one
 * object is the subject of 25 requests at once and one more every 5 minutes.
 */
export class EventCorrelator {
  readonly #subjects = new RecentMap<Subject>(rememberedMax);
  readonly #component: string;
  readonly #nextSerial: () => number;

  /**
   * `component`: who reports Events. `nextSerial`: tells those of one object within one millisecond apart.
   */
  constructor(component: string, nextSerial: () => number) {
    this.#component = component;
    this.#nextSerial = nextSerial;
  }

  /** Counts an event; the series that it belongs to. `wall`: the time that dates it. */
  count(wall: Instant, event: ClusterEvent): Series {
    const series = this.#seriesOf(wall, event);
    series.lastAt = wall;
    series.count += 1;
    return series;
  }

  /** Tells whether a series may be written once more. */
  admits(now: Instant, { bucket }: Series): boolean {
    // The tiny addition makes up for what binary fractions lose.
    const added = bucket.at === null ? 0 : (now - bucket.at) / msPerToken + 1e-9;
    bucket.tokens = Math.min(burst, bucket.tokens + added);
    bucket.at = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #seriesOf(wall: Instant, event: ClusterEvent): Series {
    const component = this.#component;
    const key = `${event.component ?? component}\n${subjectKeyOf(event)}`;
    const { bucket, series } = this.#subjects.getOrAdd(key, newSubject);
    const at = series.findIndex((one) => isEqual(one.event, event));
    const [known] = at < 0 ? [] : series.splice(at, 1);
    if (known) {
      series.push(known);
      return known;
    }
    const added: Series = {
      name: eventName(event.subject.name, wall, this.#nextSerial()),
      event,
      component,
      firstAt: wall,
      lastAt: wall,
      count: 0,
      written: 0,
      state: 'idle',
      failures: 0,
      bucket,
    };
    series.push(added);
    if (series.length > seriesMax) series.shift();
    return added;
  }
}

function newSubject(): Subject {
  return { bucket: { tokens: burst, at: null }, series: [] };
}

function isEqual(one: ClusterEvent, other: ClusterEvent): boolean {
  return one.message === other.message && one.reason === other.reason && one.type === other.type;
}

function subjectKeyOf({ subject }: ClusterEvent): string {
  const { apiVersion, kind, namespace, name, uid } = subject;
  return `${apiVersion}\n${kind}\n${namespace}\n${name}\n${uid}`;
}

/** A map of bounded size that forgets the entry that was not asked for the longest. */
export class RecentMap<T> {
  readonly #entries = new Map<string, T>();
  /** Continues from the last forgotten entry: a new start would pass over all that are gone. */
  readonly #oldest = this.#entries.keys();
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** The entry, which becomes the most recent one; made where it is missing. */
  getOrAdd(key: string, make: () => T): T {
    const known = this.#entries.get(key);
    const entry = known ?? make();
    if (known !== undefined) this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#sizeMax) this.#forgetOldest();
    return entry;
  }

  #forgetOldest(): void {
    const { value } = this.#oldest.next();
    if (value !== undefined) this.#entries.delete(value);
  }
}

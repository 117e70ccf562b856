// Which events are the same, and how many of one object are too many.
import type { Instant, Millis } from '@taintmgr/core/time';
import { type ClusterEvent, type EventSeries, eventName } from '../proto/event-requests.ts';
import { RecentMap } from './recent-map.ts';

/** Equal events, recorded as one Event object with a count. */
export interface Series extends EventSeries {
  lastAt: Instant;
  count: number;
  /** The count that stands in the API; 0: no such object. */
  written: number;
  state: 'idle' | 'waiting' | 'underWay';
  failures: number;
}

/** How many events about one object may still be recorded. */
interface Bucket {
  tokens: number;
  at: Instant;
}

/** As many series and objects as client-go remembers. */
const rememberedMax = 4096;
const burst = 25;
const msPerToken: Millis = 300_000;

/**
 * The limits of client-go's EventCorrelator: equal events become one object whose count goes up, and one
 * object is the subject of 25 requests at once and one more every 5 minutes.
 */
export class EventCorrelator {
  readonly #series = new RecentMap<Series>(rememberedMax);
  readonly #buckets = new RecentMap<Bucket>(rememberedMax);
  readonly #component: string;
  readonly #nextSerial: () => number;

  /**
   * `component`: who Events come from, where they do not say it themselves. `nextSerial`: tells those
   * of one object within one millisecond apart.
   */
  constructor(component: string, nextSerial: () => number) {
    this.#component = component;
    this.#nextSerial = nextSerial;
  }

  /** Counts an event; the series that it belongs to. `wall`: what it is dated by. */
  count(wall: Instant, event: ClusterEvent): Series {
    const series = this.#seriesOf(wall, event);
    series.lastAt = wall;
    series.count += 1;
    return series;
  }

  /** Whether a series may be written once more. */
  admits(now: Instant, { component, event }: Series): boolean {
    const key = `${component}\n${subjectKeyOf(event)}`;
    const bucket = this.#buckets.getOrAdd(key, () => ({ tokens: burst, at: now }));
    // The tiny addition makes up for what binary fractions lose.
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / msPerToken + 1e-9);
    bucket.at = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #seriesOf(wall: Instant, event: ClusterEvent): Series {
    const component = event.component ?? this.#component;
    return this.#series.getOrAdd(`${component}\n${keyOf(event)}`, () => ({
      name: eventName(event.subject.name, wall, this.#nextSerial()),
      event,
      component,
      firstAt: wall,
      lastAt: wall,
      count: 0,
      written: 0,
      state: 'idle',
      failures: 0,
    }));
  }
}

function keyOf(event: ClusterEvent): string {
  return `${subjectKeyOf(event)}\n${event.type}\n${event.reason}\n${event.message}`;
}

function subjectKeyOf({ subject }: ClusterEvent): string {
  const { apiVersion, kind, namespace, name, uid } = subject;
  return `${apiVersion}\n${kind}\n${namespace}\n${name}\n${uid}`;
}

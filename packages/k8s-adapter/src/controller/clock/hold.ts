// Keeps events from the machine while nobody knows what time it is in the cluster.
import type { Instant, Millis } from '@taintmgr/core/time';
import { getRequest, type RequestEffect } from '../../proto/api-request.ts';

/** For no longer than this: who is away from the server hears of nothing new anyway. */
const holdMsMax: Millis = 10_000;

/** Whoever may log in may ask for it, and it costs the server next to nothing. */
const timeRequest = getRequest('/version');

/**
 * Keeps events from the machine while nobody knows what the cluster's clock shows: what the
 * machine sees for the first time it dates, and a taint dated by a clock that stood still would make
 * pods go early by as long.
 */
export class Hold<E extends { readonly kind: string }> {
  #serial = 0;
  #until: Instant | null = null;
  #events: E[] = [];

  get isOn(): boolean {
    return this.#until !== null;
  }

  /** When it ends without an answer; null: it is not on. */
  nextWake(): Instant | null {
    return this.#until;
  }

  /** From now on; the request whose answer says what time it is. */
  begin(now: Instant): readonly RequestEffect[] {
    this.#until ??= now + holdMsMax;
    this.#serial += 1;
    return [{ kind: 'send', id: `time/${this.#serial}`, request: timeRequest }];
  }

  /** Whether an event is kept. Ticks are not: there will be others. */
  takes(event: E): boolean {
    if (this.isOn && event.kind !== 'tick') this.#events.push(event);
    return this.isOn;
  }

  /** Ends it when the time is known, or will not be; what was kept meanwhile. */
  end(now: Instant, isKnown: boolean): readonly E[] {
    if (this.#until === null || (!isKnown && now < this.#until)) return [];
    const events = this.#events;
    this.#until = null;
    this.#events = [];
    return events;
  }
}

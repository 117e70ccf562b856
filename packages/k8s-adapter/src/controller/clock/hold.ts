import type { Event, Instant, Millis } from '@taintmgr/core';
import type { ApiRequest } from '../../proto/request.ts';

/** For no longer than this: who is away from the server hears of nothing new anyway. */
const holdMsMax: Millis = 10_000;

/** Whoever may log in may ask for it, and it costs the server next to nothing. */
const timeRequest: ApiRequest = {
  method: 'GET',
  path: '/version',
  headers: { accept: 'application/json' },
  body: null,
};

/** Holds back what the engine would date while nobody knows what the cluster's clock shows. */
export class Hold {
  #serial = 0;
  #until: Instant | null = null;
  #events: Event[] = [];

  get isOn(): boolean {
    return this.#until !== null;
  }

  /** When it ends without an answer; null: it is not on. */
  nextWake(): Instant | null {
    return this.#until;
  }

  /** From now on; the request whose answer says what time it is. */
  begin(now: Instant): readonly [{ kind: 'send'; id: string; request: ApiRequest }] {
    this.#until ??= now + holdMsMax;
    this.#serial += 1;
    return [{ kind: 'send', id: `time/${this.#serial}`, request: timeRequest }];
  }

  /** Whether an event is kept. Ticks are not: there will be others. */
  takes(event: Event): boolean {
    if (this.isOn && event.kind !== 'tick') this.#events.push(event);
    return this.isOn;
  }

  /** Ends it when the time is known, or will not be; what was kept meanwhile. */
  end(now: Instant, isKnown: boolean): readonly Event[] {
    if (this.#until === null || (!isKnown && now < this.#until)) return [];
    const events = this.#events;
    this.#until = null;
    this.#events = [];
    return events;
  }
}

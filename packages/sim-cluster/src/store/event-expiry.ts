// Deletes Events after an hour.
import type { Clock } from '../kernel/clock.ts';
import type { Store } from './store.ts';

/** An event as it was written. */
interface Entry {
  readonly namespace: string;
  readonly name: string;
  readonly rv: string;
  readonly expiresAt: number;
}

/** The time that an expired event may wait for others, so that many events need few timers. */
const gatherMs = 1000;

/** Removes, from now on, events that were last written `ttlMs` ago. */
export function expireEvents(store: Store, clock: Clock, ttlMs: number): void {
  /** In the order in which they expire. */
  const entries: Entry[] = [];
  let isPlanned = false;
  const expire = (): void => {
    const now = clock.now();
    const left = entries.findIndex(({ expiresAt }) => expiresAt > now);
    const due = entries.splice(0, left < 0 ? entries.length : left);
    const [next] = entries;
    isPlanned = next !== undefined;
    if (next) clock.after(next.expiresAt - now + gatherMs, expire);
    for (const { namespace, name, rv } of due) {
      const event = store.get('events', namespace, name);
      if (event?.metadata.resourceVersion === rv) store.remove('events', event);
    }
  };
  store.subscribe(
    ({ type, object: { metadata } }) => {
      if (type === 'DELETED') return;
      const { namespace = '', name, resourceVersion: rv = '' } = metadata;
      entries.push({ namespace, name, rv, expiresAt: clock.now() + ttlMs });
      if (!isPlanned) clock.after(ttlMs + gatherMs, expire);
      isPlanned = true;
    },
    new Set(['events']),
  );
}

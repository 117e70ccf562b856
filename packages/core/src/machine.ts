import type { Command } from './command.ts';
import type { Event } from './event.ts';
import type { Change } from './store.ts';
import type { Instant } from './time.ts';

/**
 * One controller of the engine. Machines share the store and know nothing of each other: they meet
 * through the API, where what one writes is an event for the others.
 */
export interface Machine {
  /** Takes an event, after the store took it (`change`), and answers what is to be done. */
  handle(now: Instant, event: Event, change: Change | null): readonly Command[];
  /** The earliest instant at which a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null;
}

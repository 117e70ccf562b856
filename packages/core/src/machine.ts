import type { Event } from './event.ts';
import type { Instant } from './kernel/time.ts';
import type { Change } from './store.ts';

/**
 * One machine behind the engine: what each takes and gives. Machines share the store and know
 * nothing of each other: they meet through the API, where what one writes is an event for the
 * others.
 */
export interface Machine<C> {
  /** Takes an event, after the store took it (`changes`), and answers what is to be done. */
  handle(now: Instant, event: Event, changes: readonly Change[]): readonly C[];
  /** Who asks by its commands (askerOf of their ids): it alone hears of their results. */
  readonly askers: readonly string[];
  /** The earliest instant at which a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null;
}

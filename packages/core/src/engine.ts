import { assert } from './assert.ts';
import type { Command } from './command.ts';
import { UpstreamShadow } from './compare/shadow.ts';
import { type Config, resolveConfig } from './config.ts';
import type { Event } from './event.ts';
import { PreciseEvictionMachine } from './eviction/machine.ts';
import { UpstreamEvictionMachine } from './eviction/upstream/machine.ts';
import { type Explanation, explain, type Subject } from './explain/explain.ts';
import { Store } from './store.ts';
import type { Instant } from './time.ts';

/**
 * The eviction engine: events in, commands out. It does no I/O, reads no clock and never waits;
 * whoever holds it tells it what happened and carries out what it answers. The same events at the
 * same instants give the same commands.
 */
export interface Engine {
  /**
   * Takes one event. `now` must not go backwards (throws). Commands come in the order in which
   * they are to be started. Those that change the cluster come with a tick only: after an event
   * nextWake() says when, which may be at once.
   */
  handle(now: Instant, event: Event): readonly Command[];
  /** The earliest instant at which a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null;
  /** Why and when; reads only, with the functions that decide. */
  explain(now: Instant, subject: Subject): Explanation;
}

/** A new engine that knows nothing yet. Throws RangeError for an option that is not allowed. */
export function createEngine(options: Partial<Config> = {}): Engine {
  const store = new Store();
  const config = resolveConfig(options);
  const eviction =
    config.semantics === 'precise'
      ? new PreciseEvictionMachine(store, config)
      : new UpstreamEvictionMachine(store, config);
  const shadow = config.compare ? new UpstreamShadow(store, config) : null;
  let latest = Number.NEGATIVE_INFINITY;
  return {
    handle(now, event) {
      assert(now >= latest, `time goes forward: ${now} after ${latest}`);
      latest = now;
      const change = store.apply(event);
      shadow?.handle(now, event, change);
      return eviction.handle(now, event, change);
    },
    nextWake: () => eviction.nextWake(),
    explain: (now, subject) => explain(now, subject, { store, machine: eviction, shadow }),
  };
}

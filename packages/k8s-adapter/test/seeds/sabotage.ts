import type { Command, Config, Engine, Event, Instant } from '@taintmgr/core';
import type { Machine } from '../../src/loop.ts';

/** A fault planted into the controller, to see whether the checkers find it. */
export interface Sabotage {
  /** Changes what the engine is told to do. */
  readonly config?: (config: Partial<Config>) => Partial<Config>;
  /** Stands between the loop and the engine. */
  readonly machine?: (engine: Engine) => Machine;
  /** What the loop takes for a fresh view. */
  readonly viewAgeMsMax?: number;
  /** How likely a request is in trouble even in quiet times, which a rare fault may need to show. */
  readonly trouble?: number;
}

/** The planted faults and the invariants they break. */
export const sabotages: Readonly<
  Record<
    string,
    {
      readonly breaks: readonly string[];
      /** Where to begin looking for a seed that shows it; a few seeds before the first such. */
      readonly from: number;
      readonly sabotage: Sabotage;
    }
  >
> = {
  'evicts a second early': {
    breaks: ['before its deadline'],
    from: 1,
    sabotage: { machine: (engine) => shifted(engine, 1000) },
  },
  'does not mind the uid': {
    breaks: ['wrong uid'],
    from: 1,
    sabotage: {
      trouble: 0.3,
      config: (config) => ({ ...config, mode: 'delete' }),
      machine: (engine) =>
        translated(engine, (command) =>
          command.kind === 'deletePod' ? { ...command, guard: 'name' } : command,
        ),
    },
  },
  'forgets a retry': {
    breaks: ['overdue'],
    from: 23,
    sabotage: { machine: (engine) => deaf(engine) },
  },
  'evicts too fast': {
    breaks: ['rate'],
    from: 7,
    sabotage: {
      config: (config) => ({
        ...config,
        limits: (config.limits ?? []).map((limit) => ({ ...limit, burst: (limit.burst ?? 1) + 1 })),
      }),
    },
  },
  'deletes where it should evict': {
    breaks: ['budget overdrawn'],
    from: 8,
    sabotage: { config: (config) => ({ ...config, mode: 'delete' }) },
  },
  'never looks again': {
    breaks: ['old view'],
    from: 23,
    sabotage: { viewAgeMsMax: Number.POSITIVE_INFINITY },
  },
  'keeps no starts': {
    breaks: ['overdue'],
    from: 2,
    sabotage: { config: (config) => ({ ...config, keepTaintStarts: false }) },
  },
  'takes no heed of the settling time': {
    breaks: ['before its deadline'],
    from: 19,
    sabotage: { config: (config) => ({ ...config, settleMs: 0 }) },
  },
  'evicts what tolerates for ever': {
    breaks: ['tolerates for ever'],
    from: 70,
    sabotage: { machine: (engine) => impatient(engine) },
  },
};

/** An engine whose clock is fast. */
function shifted(engine: Engine, ms: number): Machine {
  return {
    handle: (now, event) => engine.handle(now + ms, event),
    nextWake: () => {
      const wake = engine.nextWake();
      return wake === null ? null : wake - ms;
    },
  };
}

function translated(engine: Engine, translate: (command: Command) => Command): Machine {
  return {
    handle: (now, event) => engine.handle(now, event).map(translate),
    nextWake: () => engine.nextWake(),
  };
}

/** Never hears that something failed. */
function deaf(engine: Engine): Machine {
  return {
    handle: (now, event) =>
      event.kind === 'result' && event.outcome.kind === 'failed' ? [] : engine.handle(now, event),
    nextWake: () => engine.nextWake(),
  };
}

/** Takes a toleration without end for one of a minute. */
function impatient(engine: Engine): Machine {
  const limited = (event: Event): Event =>
    event.kind === 'podUpsert'
      ? {
          ...event,
          pod: {
            ...event.pod,
            tolerations: event.pod.tolerations.map((toleration) => ({
              ...toleration,
              tolerationSeconds: toleration.tolerationSeconds ?? 60,
            })),
          },
        }
      : event;
  return {
    handle: (now: Instant, event: Event) => engine.handle(now, limited(event)),
    nextWake: () => engine.nextWake(),
  };
}

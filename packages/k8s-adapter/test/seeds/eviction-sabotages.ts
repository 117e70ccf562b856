import type { Command, Config, Engine, Event } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { Machine } from '../../src/controller/loop-parts.ts';
import type { Planted } from './sabotages.ts';

/** Faults of who evicts pods. */
export const evictionSabotages: Readonly<Record<string, Planted>> = {
  'evicts a second early': {
    story: 'evictions',
    seed: 3,
    breaks: ['before its deadline'],
    sabotage: { machine: (engine) => shifted(engine, 1000) },
  },
  'does not mind the uid': {
    story: 'evictions',
    seed: 11,
    breaks: ['wrong uid'],
    sabotage: {
      trouble: 0.3,
      config: (config) => ({ ...config, mode: 'delete' }),
      machine: (engine) =>
        translated(engine, (command) =>
          command.kind === 'deletePod' ? { ...command, guard: 'name' } : command,
        ),
    },
  },
  'drops a retry': {
    story: 'evictions',
    seed: 32,
    breaks: ['overdue'],
    sabotage: { machine: (engine) => deaf(engine) },
  },
  'has no limit': {
    story: 'evictions',
    seed: 3,
    breaks: ['rate'],
    sabotage: { config: (config) => ({ ...config, limits: [] }) },
  },
  'evicts one too many at once': {
    story: 'evictions',
    seed: 3,
    breaks: ['rate'],
    sabotage: {
      config: (config) => ({
        ...config,
        limits: (config.limits ?? []).map((limit) => ({ ...limit, burst: (limit.burst ?? 1) + 1 })),
      }),
    },
  },
  'minds no window': {
    story: 'evictions',
    seed: 6,
    breaks: ['window'],
    sabotage: { config: (config) => ({ ...config, limits: changed(config, () => null) }) },
  },
  'counts only pods that go at one moment': {
    story: 'evictions',
    seed: 6,
    breaks: ['window'],
    sabotage: {
      config: (config) => ({
        ...config,
        limits: changed(config, (limit) => ({ ...limit, windowMs: 1000 })),
      }),
    },
  },
  'forgets the window when it starts anew': {
    story: 'evictions',
    seed: 12,
    breaks: ['window'],
    sabotage: { config: (config) => ({ ...config, keepLimits: false }) },
  },
  'counts pods that came after the taint': {
    story: 'evictions',
    seed: 199,
    breaks: ['overdue'],
    sabotage: { machine: (engine) => ignorant(engine) },
  },
  'deletes where it should evict': {
    story: 'evictions',
    seed: 4,
    breaks: ['deletes too early'],
    sabotage: {
      machine: (engine) =>
        translated(engine, (command) =>
          command.kind === 'evictPod'
            ? { ...command, kind: 'deletePod', guard: 'uid', generation: 0, escalated: true }
            : command,
        ),
    },
  },
  'gives pods a second longer': {
    story: 'evictions',
    seed: 5,
    breaks: ['grace period'],
    sabotage: {
      machine: (engine) =>
        translated(engine, (command) =>
          'gracePeriodSeconds' in command && command.gracePeriodSeconds !== null
            ? { ...command, gracePeriodSeconds: command.gracePeriodSeconds + 1 }
            : command,
        ),
    },
  },
  'does not stand still in a pause': {
    story: 'evictions',
    seed: 12,
    breaks: ['evicts in a pause'],
    sabotage: {
      machine: (engine) => ({
        handle: (now, event) => (event.kind === 'pauseUpsert' ? [] : engine.handle(now, event)),
        nextWake: () => engine.nextWake(),
      }),
    },
  },
  'never looks again': {
    story: 'evictions',
    seed: 5,
    breaks: ['stale cache'],
    sabotage: { viewAgeMsMax: Number.POSITIVE_INFINITY },
  },
  'keeps no starts': {
    story: 'evictions',
    seed: 4,
    breaks: ['start not kept'],
    sabotage: { config: (config) => ({ ...config, keepTaintStarts: false }) },
  },
  'ignores the minimum taint age': {
    story: 'evictions',
    seed: 19,
    breaks: ['before its deadline'],
    sabotage: { config: (config) => ({ ...config, minTaintAgeMs: 0, policies: [] }) },
  },
  'evicts what tolerates for ever': {
    story: 'evictions',
    seed: 4,
    breaks: ['tolerates for ever'],
    sabotage: { machine: (engine) => impatient(engine) },
  },
  'believes a stale annotation': {
    story: 'evictions',
    seed: 32,
    breaks: ['before its deadline'],
    sabotage: { machine: credulous() },
  },
  'evicts within the whole second': {
    story: 'evictions',
    seed: 4,
    breaks: ['before its deadline'],
    sabotage: { machine: (engine) => hasty(engine) },
  },
  'acts without being elected': {
    story: 'whole',
    seed: 1,
    breaks: ['acts without the lease'],
    sabotage: { election: false },
  },
};

type Limit = NonNullable<Config['limits']>[number];

/** The limits with those that have a window changed, or (null) left out. */
function changed(
  { limits = [] }: Partial<Config>,
  change: (limit: Limit) => Limit | null,
): readonly Limit[] {
  return limits.flatMap((limit) => (limit.windowMs === undefined ? limit : (change(limit) ?? [])));
}

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

/** Takes every start that was ever written down for one of the taint that is there now. */
function credulous(): (engine: Engine) => Machine {
  const written = new Map<string, Record<string, Instant>>();
  let latest = 0;
  return (engine) => ({
    handle: (now, event) => {
      // Another story begins.
      if (now < latest) written.clear();
      latest = now;
      return engine.handle(now, withStarts(event, written)).map((command) => {
        if (command.kind !== 'keepTaintStarts') return command;
        written.set(command.nodeUid, { ...command.starts, ...written.get(command.nodeUid) });
        return command;
      });
    },
    nextWake: () => engine.nextWake(),
  });
}

function withStarts(event: Event, written: ReadonlyMap<string, Record<string, Instant>>): Event {
  const starts = event.kind === 'nodeUpsert' ? written.get(event.node.uid) : undefined;
  if (event.kind !== 'nodeUpsert' || !starts) return event;
  return { ...event, node: { ...event.node, taintStarts: starts } };
}

/** Takes times in whole seconds as if they had been written to the millisecond. */
function hasty(engine: Engine): Machine {
  const exact = (time: Instant | null): Instant | null => (time === null ? null : time + 1);
  const told = (event: Event): Event => {
    if (event.kind === 'podUpsert') {
      return { ...event, pod: { ...event.pod, boundAt: exact(event.pod.boundAt) } };
    }
    if (event.kind !== 'nodeUpsert') return event;
    const { taints, taintsWrittenAt } = event.node;
    const timed = taints.map((taint) => ({ ...taint, timeAdded: exact(taint.timeAdded) }));
    const written = taintsWrittenAt == null ? {} : { taintsWrittenAt: taintsWrittenAt + 1 };
    return { ...event, node: { ...event.node, taints: timed, ...written } };
  };
  return {
    handle: (now, event) => engine.handle(now, told(event)),
    nextWake: () => engine.nextWake(),
  };
}

/** Does not know when pods came, and so not which of them came after a taint. */
function ignorant(engine: Engine): Machine {
  const told = (event: Event): Event =>
    event.kind === 'podUpsert' ? { ...event, pod: { ...event.pod, boundAt: null } } : event;
  return {
    handle: (now, event) => engine.handle(now, told(event)),
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

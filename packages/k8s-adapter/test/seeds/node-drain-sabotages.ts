// Faults of who carries out NodeDrains.
import type { Command, Engine, Event } from '@taintmgr/core';
import type { NodeDrainSpec } from '@taintmgr/core/policy';
import type { Machine } from '../../src/controller/loop-parts.ts';
import type { Planted } from './sabotages.ts';

const story = { story: 'drains' } as const;

export const nodeDrainSabotages: Readonly<Record<string, Planted>> = {
  'takes the mark of its drain for that of another': {
    ...{ ...story, seed: 33, breaks: ['comes to an end'] },
    sabotage: { machine: (engine) => telling(engine, withoutDrain) },
  },
  'begins with all nodes of a drain at once': {
    ...{ ...story, seed: 6, breaks: ['keeps to its limits'] },
    sabotage: {
      machine: (engine) => told(engine, (spec) => ({ limits: { ...spec.limits, nodesAtOnce: 0 } })),
    },
  },
  'deletes pods of a drain without asking': {
    ...{ ...story, seed: 3, breaks: ['asks budgets'] },
    sabotage: { machine: (engine) => told(engine, () => ({ budgets: { policy: 'Ignore' } })) },
  },
  'drains pods that nobody recreates': {
    ...{ ...story, seed: 5, breaks: ['leaves pods that nobody recreates'] },
    sabotage: {
      machine: (engine) =>
        told(engine, ({ pods }) => ({ pods: { ...pods, withoutController: true } })),
    },
  },
  'says that a drain has ended on a node where it goes on': {
    ...{ ...story, seed: 3, breaks: ['evicts where it shows that it is at work'] },
    sabotage: { machine: (engine) => telling(engine, ended) },
  },
  'minds no waves': {
    ...{ ...story, seed: 8, breaks: ['keeps to its waves'] },
    sabotage: {
      machine: (engine) =>
        told(engine, ({ limits }) => ({ waves: [], limits: { ...limits, nodesAtOnce: 2 } })),
    },
  },
  'minds no windows': {
    ...{ ...story, seed: 12, breaks: ['keeps to its windows'] },
    sabotage: { machine: (engine) => told(engine, () => ({ windows: [] })) },
  },
  'waits for no steps before a node': {
    ...{ ...story, seed: 3, breaks: ['waits for steps of others'] },
    sabotage: { machine: (engine) => told(engine, () => ({ beforeNode: [] })) },
  },
  'lets last pods go with the others': {
    ...{ ...story, seed: 33, breaks: ['keeps its last pods'] },
    sabotage: {
      machine: (engine) => told(engine, ({ pods }) => ({ pods: { ...pods, last: [] } })),
    },
  },
  'does not know pods that come back': {
    ...{ ...story, seed: 20, breaks: ['leaves pods that come back again and again'] },
    sabotage: { machine: evictingAgain },
  },
  'takes its own marks for those of another': {
    ...{ ...story, seed: 42, breaks: ['stops beside another taint manager alone'] },
    sabotage: {
      machine: (engine) => ({
        handle: (now, event) => engine.handle(now, markedByOthers(event)),
        nextWake: () => engine.nextWake(),
      }),
    },
  },
  'leaves cordons behind when a drain is undone': {
    ...{ ...story, seed: 3, breaks: ['is undone'] },
    sabotage: { machine: (engine) => telling(engine, untainted) },
  },
};

/** Its requests are others than the engine asks for. */
function telling(engine: Engine, change: (command: Command) => Command): Machine {
  return {
    handle: (now, event) => engine.handle(now, event).map(change),
    nextWake: () => engine.nextWake(),
  };
}

/** It takes NodeDrains for others than they are. */
function told(engine: Engine, changesOf: (spec: NodeDrainSpec) => Partial<NodeDrainSpec>): Machine {
  const heard = (event: Event): Event => {
    if (event.kind !== 'nodeDrainUpsert') return event;
    const { drain } = event;
    return { ...event, drain: { ...drain, spec: { ...drain.spec, ...changesOf(drain.spec) } } };
  };
  return {
    handle: (now, event) => engine.handle(now, heard(event)),
    nextWake: () => engine.nextWake(),
  };
}

/** Whatever an owner makes in the place of a pod that the drain has evicted, it evicts a second later. */
function evictingAgain(engine: Engine): Machine {
  type Evict = Command & { readonly kind: 'evictPod' };
  const owners = new Map<string, string>();
  const evicted = new Map<string, Evict>();
  const back = new Map<string, { readonly at: number; readonly command: Evict }>();
  const due = (now: number): readonly Command[] =>
    Array.from(back, ([uid, { at, command }]) => {
      if (at > now) return [];
      back.delete(uid);
      return [command];
    }).flat();
  const handle: Machine['handle'] = (now, event) => {
    if (event.kind === 'result' && event.id.startsWith('again/')) return [];
    const commands = [...engine.handle(now, event)];
    for (const command of commands) {
      if (command.kind === 'evictPod') evicted.set(owners.get(command.pod.uid) ?? '', command);
    }
    if (event.kind === 'podDelete') back.delete(event.uid);
    if (event.kind === 'podUpsert' && event.pod.owner) {
      const { uid, namespace, name, nodeName, owner } = event.pod;
      const key = `${nodeName} ${owner.kind} ${namespace}/${owner.name}`;
      const before = evicted.get(key);
      if (before && owners.get(uid) !== key) {
        const pod = { uid, namespace, name, nodeName };
        back.set(uid, { at: now + 1000, command: { ...before, id: `again/${uid}`, pod } });
      }
      owners.set(uid, key);
    }
    return event.kind === 'tick' ? [...commands, ...due(now)] : commands;
  };
  const nextWake = (): number | null => {
    const wakes = [engine.nextWake(), ...Array.from(back.values(), ({ at }) => at)];
    const known = wakes.filter((wake) => wake !== null);
    return known.length > 0 ? Math.min(...known) : null;
  };
  return { handle, nextWake };
}

/** Whoever has marked the pod, the mark is said to be of somebody unknown. */
function markedByOthers(event: Event): Event {
  if (event.kind !== 'podUpsert' || !event.pod.disruption) return event;
  const { pod } = event;
  return { ...event, pod: { ...pod, disruption: { ...event.pod.disruption, manager: 'unknown' } } };
}

function withoutDrain(command: Command): Command {
  if (command.kind !== 'evictPod') return command;
  const { ofDrain: _, ...other } = command;
  return other;
}

function ended(command: Command): Command {
  if (command.kind !== 'writeDrainNode' || command.write.kind !== 'renew') return command;
  return { ...command, write: { kind: 'end', isDrained: true } };
}

function untainted(command: Command): Command {
  if (command.kind !== 'writeDrainNode' || command.write.kind !== 'undo') return command;
  return { ...command, write: { kind: 'untaint' } };
}

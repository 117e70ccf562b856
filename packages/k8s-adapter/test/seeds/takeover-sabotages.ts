import type { Command, Config, Engine } from '@taintmgr/core';
import type { Machine } from '../../src/controller/loop-parts.ts';
import { without } from './machines.ts';
import type { Sabotage } from './sabotage.ts';
import type { Planted } from './sabotages.ts';

/** Watches over nodes otherwise than it promises. */
function watching(changes: NonNullable<Config['lifecycle']>): NonNullable<Sabotage['config']> {
  return (config) => ({ ...config, lifecycle: { ...config.lifecycle, ...changes } });
}

/** The expressions by which the two policies refuse: all of the one, and how the other begins. */
const [refusal, hold] = ['!(variables.fresh && variables.ours)', '!(variables.fresh && has('];

/** Faults of who decides beside kube-controller-manager. */
export const takeoverSabotages: Readonly<Record<string, Planted>> = {
  'has a policy that refuses nothing': {
    story: 'takeover',
    seed: 2,
    breaks: ['marked beside a fresh heartbeat'],
    sabotage: { takeover: { policies: [refusal, `true || ${refusal}`] } },
  },
  'has a policy that refuses for long': {
    story: 'takeover',
    seed: 1,
    breaks: ['refused without a right', 'spared though nobody decides'],
    sabotage: { takeover: { policies: ["duration('60s')", "duration('600s')"] } },
  },
  'installs no policies': {
    story: 'takeover',
    seed: 1,
    breaks: ['policy not put back'],
    sabotage: { takeover: { installs: false } },
  },
  'says that it does not decide': {
    story: 'takeover',
    seed: 1,
    breaks: ['does not say that it decides'],
    sabotage: { takeover: { decides: false } },
  },
  'has a heartbeat that outlives it': {
    story: 'takeover',
    seed: 2,
    breaks: ['spared though nobody decides'],
    sabotage: { takeover: { isUndead: true } },
  },
  'does not say why it holds pods': {
    story: 'takeover',
    seed: 2,
    breaks: ['nothing says why it is held'],
    sabotage: {
      machine: (engine) =>
        silent(engine, (command) => {
          return command.kind === 'recordEvent' && command.reason === 'TaintManagerEvictionHeld';
        }),
    },
  },
  'says nothing of pods that were held before it came': {
    story: 'takeover',
    seed: 2,
    breaks: ['nothing says why it is held'],
    sabotage: { machine: forgetful },
  },
  'does not mind pauses beside kube-controller-manager': {
    story: 'takeover',
    seed: 6,
    breaks: ['evicts in a pause'],
    sabotage: { machine: (engine) => without(engine, ({ kind }) => kind === 'pauseUpsert') },
  },
  'does not hold readiness': {
    story: 'takeover',
    seed: 2,
    breaks: ['readiness not held in a pause'],
    sabotage: { takeover: { holdsReadiness: false } },
  },
  'holds readiness for ever': {
    story: 'takeover',
    seed: 1,
    breaks: ['readiness held for nothing'],
    sabotage: { takeover: { holdsReadiness: true } },
  },
  'has a policy of readiness that refuses nothing': {
    story: 'takeover',
    seed: 2,
    breaks: ['not ready beside a hold'],
    sabotage: { takeover: { policies: [hold, `true || ${hold}`] } },
  },
  'does not mind that many nodes become unreachable at once': {
    story: 'takeover',
    seed: 9,
    breaks: ['readiness not held in doubt'],
    sabotage: { config: watching({ massUnreachable: null }) },
  },
  'does not hold a zone that is down': {
    story: 'takeover',
    seed: 4,
    breaks: ['readiness not held in doubt'],
    sabotage: { config: watching({ fullDisruption: 'evict' }) },
  },
  'has no heartbeat': {
    story: 'takeover',
    seed: 1,
    breaks: ['no heartbeat'],
    sabotage: { takeover: { publishes: false } },
  },
};

/** Says why pods are held that came after it alone. */
function forgetful(engine: Engine): Machine {
  const first = new Set<string>();
  let isSynced = false;
  const machine = silent(engine, (command) => {
    return (
      command.kind === 'recordEvent' &&
      command.reason === 'TaintManagerEvictionHeld' &&
      first.has(command.pod.uid)
    );
  });
  return {
    handle: (now, event) => {
      if (event.kind === 'synced') isSynced = true;
      if (event.kind === 'podUpsert' && !isSynced) first.add(event.pod.uid);
      return machine.handle(now, event);
    },
    nextWake: () => machine.nextWake(),
  };
}

/** Does not do some of what it wants done. */
function silent(engine: Engine, isLost: (command: Command) => boolean): Machine {
  return {
    handle: (now, event) => engine.handle(now, event).filter((command) => !isLost(command)),
    nextWake: () => engine.nextWake(),
  };
}

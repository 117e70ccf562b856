import type { Command, Config } from '@taintmgr/core';
import type { LifecycleConfig } from '@taintmgr/core/lifecycle';
import { swallowing } from './machines.ts';
import type { Planted } from './sabotages.ts';

/** Faults of who watches over nodes. */
export const nodeSabotages: Readonly<Record<string, Planted>> = {
  'taints too fast': {
    story: 'nodes',
    seed: 12,
    breaks: ['taint rate'],
    sabotage: {
      config: lifecycle(({ nodeEvictionRate = 0 }) => ({ nodeEvictionRate: nodeEvictionRate * 4 })),
    },
  },
  'does not mind the state of a zone': {
    story: 'nodes',
    seed: 213,
    breaks: ['tainted in a stopped zone'],
    sabotage: { config: lifecycle(() => ({ unhealthyZoneThreshold: 5 })) },
  },
  'loses patience': {
    story: 'nodes',
    seed: 1,
    breaks: ['false Unknown'],
    sabotage: { config: lifecycle(() => ({ nodeMonitorGracePeriodMs: 20_000 })) },
  },
  'is too patient': {
    story: 'nodes',
    seed: 8,
    breaks: ['unreachable node not Unknown'],
    sabotage: { config: lifecycle(() => ({ nodeMonitorGracePeriodMs: 3_000_000 })) },
  },
  'leaves taints on nodes that are well': {
    story: 'nodes',
    seed: 4,
    breaks: ['healthy node stays tainted'],
    sabotage: { machine: (engine) => swallowing(engine, (command) => untaints(command)) },
  },
  'forgets the pods': {
    story: 'nodes',
    seed: 8,
    breaks: ['pod of unreachable node not marked'],
    sabotage: {
      machine: (engine) => swallowing(engine, ({ kind }) => kind === 'markPodNotReady'),
    },
  },
  'forgets nodes that wait': {
    story: 'nodes',
    seed: 19,
    breaks: ['unhealthy node not tainted'],
    sabotage: { machine: (engine) => swallowing(engine, (command) => taints(command)) },
  },
  'takes taints of others away': {
    story: 'nodes',
    seed: 36,
    breaks: ['foreign field'],
    sabotage: {
      machine: (engine) => ({
        handle: (now, event) => engine.handle(now, event).map(greedy),
        nextWake: () => engine.nextWake(),
      }),
    },
  },
};

function lifecycle(
  change: (before: Partial<LifecycleConfig>) => Partial<LifecycleConfig>,
): (config: Partial<Config>) => Partial<Config> {
  return (config) => {
    const before = config.lifecycle ?? {};
    return { ...config, lifecycle: { ...before, ...change(before) } };
  };
}

function untaints(command: Command): boolean {
  return (
    command.kind === 'changeTaints' &&
    command.add.length === 0 &&
    command.remove.some(({ effect }) => effect === 'NoExecute')
  );
}

function taints(command: Command): boolean {
  return (
    command.kind === 'changeTaints' && command.add.some(({ effect }) => effect === 'NoExecute')
  );
}

function greedy(command: Command): Command {
  if (command.kind !== 'changeTaints') return command;
  const foreign = { key: 'maintenance', effect: 'NoSchedule' };
  return { ...command, remove: [...command.remove, foreign] };
}

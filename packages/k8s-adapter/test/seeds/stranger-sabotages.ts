// Faults of who lets others stop it, or asks for one namespace after the other.
import type { Command, Engine } from '@taintmgr/core';
import type { Machine } from '../../src/controller/loop-parts.ts';
import type { Look } from '../../src/evictors/look.ts';
import type { Planted } from './sabotages.ts';

const story = { story: 'strangers' } as const;

export const strangerSabotages: Readonly<Record<string, Planted>> = {
  'believes a lease that a tenant has written': {
    ...{ ...story, seed: 2, breaks: ['overdue'] },
    sabotage: { look: inKubeSystem },
  },
  'believes what any kubelet says of kube-controller-manager': {
    ...{ ...story, seed: 7, breaks: ['overdue', 'acts beside kube-controller-manager'] },
    sabotage: { look: onControlPlane },
  },
  'takes nobody known for nobody': {
    ...{ ...story, seed: 10, breaks: ['acts beside kube-controller-manager'] },
    sabotage: { look: declared },
  },
  'does not know in which pod it runs': {
    ...{ ...story, seed: 1, breaks: ['keeps its last replica'] },
    sabotage: { config: ({ ownPod: _, ...config }) => config },
  },
  'lets one namespace have all places': {
    ...{ ...story, seed: 2, breaks: ['waits for another namespace'] },
    sabotage: { machine: inOneQueue },
  },
};

function inKubeSystem(look: Look): Look {
  const { installations } = look;
  const leases = installations.leases.map((lease) => ({ ...lease, namespace: 'kube-system' }));
  return { ...look, asker: null, installations: { ...installations, leases } };
}

function onControlPlane(look: Look): Look {
  const { pods, controlPlane } = look;
  if (pods.kind !== 'read' || controlPlane.kind !== 'read') return look;
  const value = pods.value.map((one) => (one as { spec: { nodeName: string } }).spec.nodeName);
  return { ...look, controlPlane: { ...controlPlane, value } };
}

function declared(look: Look): Look {
  return { ...look, asker: look.asker && { ...look.asker, declared: [] } };
}

const placesMax = 16;

/** Asks for pods in the order in which they come due, so many at a time. */
function inOneQueue(engine: Engine): Machine {
  const asked = new Set<string>();
  let waiting: readonly Command[] = [];
  return {
    handle: (now, event) => {
      if (event.kind === 'result') asked.delete(event.id);
      const commands = engine.handle(now, event);
      const removals = commands.filter(isRemoval);
      const others = commands.filter((command) => !isRemoval(command));
      const queue = [...waiting, ...removals];
      const next = queue.slice(0, Math.max(0, placesMax - asked.size));
      waiting = queue.slice(next.length);
      for (const command of next) if ('id' in command) asked.add(command.id);
      return [...others, ...next];
    },
    nextWake: () => engine.nextWake(),
  };
}

function isRemoval({ kind }: Command): boolean {
  return kind === 'evictPod' || kind === 'deletePod';
}

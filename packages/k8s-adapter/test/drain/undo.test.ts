// Several drains of one node, undone in every order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CordonAndTaint, tainting } from '../../src/drain/cordon-and-taint.ts';
import { drainableNode, type NodeChange, patchNodeRequest } from '../../src/drain/node-change.ts';
import { undoing, untainting } from '../../src/drain/undo.ts';
import { ending } from '../../src/drain/working-mark.ts';
import { asRecord, parseJson } from '../../src/proto/json.ts';

/** A node as the API has it, and how many seconds have passed. */
interface Scene {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly at: number;
}

const drains: Readonly<Record<string, CordonAndTaint>> = {
  kernel: drain('kernel', 'NoSchedule', true),
  bios: drain('bios', 'NoSchedule', false),
  disk: drain('disk', 'NoSchedule', true),
  now: drain('kernel', 'NoExecute', true, 'now'),
};

function drain(
  value: string,
  effect: 'NoExecute' | 'NoSchedule',
  cordon: boolean,
  id = value,
): CordonAndTaint {
  const taint = { key: 'maintenance', value, effect, timeAdded: null };
  return { id, run: id, by: 'taintmgr-controller', taint, cordon };
}

/** The node after a change, by the request that is sent. */
function after<T>(scene: Scene, change: NodeChange<T>): Scene {
  const node = drainableNode(scene);
  const changed = change(node, scene.at * 1000);
  if (changed.kind === 'refused') assert.fail(changed.message);
  if (!changed.patch) return scene;
  const { body } = patchNodeRequest(node, changed.patch, 'taintmgr-controller');
  const { metadata, spec } = asRecord(parseJson(body ?? ''));
  return {
    ...scene,
    metadata: { ...scene.metadata, ...asRecord(metadata) },
    spec: { ...scene.spec, ...asRecord(spec) },
  };
}

/** `+kernel` drains, `-kernel` undoes, `-kernel,bios` does both in one write, `~kernel` untaints. */
function step(before: Scene, text: string): Scene {
  const scene = { ...before, at: before.at + 1 };
  const names = text.slice(1).split(',');
  const isMeant = ({ id }: { readonly id: string }): boolean => names.includes(id);
  if (text.startsWith('-')) return after(scene, undoing(isMeant));
  if (text.startsWith('~')) return after(scene, untainting(isMeant));
  const wanted = drains[names[0] ?? ''] ?? assert.fail(text);
  const tainted = after(scene, tainting(wanted));
  return after(tainted, ending(wanted, true));
}

function play(start: Scene, text: string): Scene {
  return text.split(' ').reduce(step, start);
}

/** `maintenance=kernel:NoSchedule, cordoned` */
function shown(scene: Scene): string {
  const { taints, isCordoned } = drainableNode(scene);
  const texts = taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`);
  return [...texts.sort(), ...(isCordoned ? ['cordoned'] : [])].join(', ');
}

const starts: Readonly<Record<string, Scene['spec']>> = {
  'a bare node': {},
  'a cordoned node': { unschedulable: true },
  'a node with such a taint of somebody else': {
    taints: [{ key: 'maintenance', value: 'fan', effect: 'NoSchedule' }],
  },
  'a node with the taint of one drain': {
    taints: [{ key: 'maintenance', value: 'bios', effect: 'NoSchedule' }],
  },
};

function startOf(spec: Scene['spec']): Scene {
  return { metadata: { name: 'n1', resourceVersion: '1' }, spec, at: 0 };
}

describe('several drains of one node', () => {
  const [kernel, bios] = ['maintenance=kernel:NoSchedule', 'maintenance=bios:NoSchedule'];
  const cases: readonly (readonly [steps: string, left: string])[] = [
    ['+kernel +bios', `${bios}, cordoned`],
    ['+kernel +bios -bios', `${kernel}, cordoned`],
    ['+kernel +bios -bios -kernel', ''],
    ['+kernel +bios -kernel', `${bios}, cordoned`],
    ['+kernel +bios -kernel -bios', ''],
    ['+kernel +bios -kernel,bios', ''],
    ['+kernel +bios ~kernel -bios', 'cordoned'],
    ['+kernel +bios ~kernel -bios -kernel', ''],
    ['+kernel +bios +disk -bios -disk', `${kernel}, cordoned`],
    ['+kernel +bios +kernel -bios -kernel', ''],
    ['+kernel +bios +kernel -kernel', `${bios}, cordoned`],
    ['+kernel +now -kernel', 'maintenance=kernel:NoExecute, cordoned'],
    ['+kernel +now -kernel -now', ''],
  ];
  for (const [steps, left] of cases) {
    it(`${steps} leaves ${left === '' ? 'nothing' : left}`, () => {
      assert.equal(shown(play(startOf({}), steps)), left);
    });
  }

  const moves = Object.keys(drains).flatMap((id) => [`+${id}`, `-${id}`]);
  const ends = ['-kernel -bios -disk -now', '-now -disk -bios -kernel', '-kernel,bios,disk,now'];
  for (const [what, spec] of Object.entries(starts)) {
    it(`leave ${what} as it was, in whatever order they come and are undone`, () => {
      const first = startOf(spec);
      const look = (scene: Scene, path: string, depth: number): void => {
        for (const end of ends)
          assert.equal(shown(play(scene, end)), shown(first), `${path} ${end}`);
        if (depth === 0) return;
        for (const move of moves) look(step(scene, move), `${path} ${move}`, depth - 1);
      };
      look(first, '', 4);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node, pod } from '../../src/builders.ts';
import { NodePool } from '../../src/scheduler/node-pool.ts';

// The scores of ImageLocality that kube-scheduler 1.36.2 wrote into its log.

const bytes: Readonly<Record<string, number>> = {
  'big:2': 1_900_000_000,
  'app:1': 400_000_000,
  'pull:latest': 90_000_000,
  'side:1': 24_000_000,
};

function poolOf(nodes: readonly (readonly string[])[]): NodePool {
  const pool = new NodePool();
  for (const [index, names] of nodes.entries()) {
    const images = names.map((name) => ({
      names: [name, `${name}-alias`],
      sizeBytes: bytes[name] ?? 0,
    }));
    pool.setNode(node(`n${index + 1}`, { status: { images } }));
  }
  return pool;
}

function scoresIn(pool: NodePool, images: readonly string[]): readonly number[] {
  const containers = images.map((image, index) => ({ name: `c${index}`, image }));
  const score = pool.images.scorer(pod('shop', 'new', { spec: { containers } }), pool.size);
  return Array.from({ length: pool.size }, (_, index) => score(`n${index + 1}`));
}

const all = ['big:2', 'app:1', 'pull:latest', 'side:1'];
const cases: readonly (readonly [
  name: string,
  images: readonly string[],
  nodes: readonly (readonly string[])[],
  scores: readonly number[],
])[] = [
  ['all nodes have it', ['big:2'], [all, all, all, all, all, all, ['big:2']], Array(7).fill(100)],
  ['one of three has it', ['big:2'], [['app:1'], all, ['app:1']], [0, 59, 0]],
  ['a small one', ['pull'], [['big:2'], all, ['app:1'], ['pull:latest']], [0, 2, 0, 2]],
  ['the tag is left out', ['pull'], [all, all, ['app:1', 'pull:latest']], [6, 6, 6]],
  [
    'two, one of them missing',
    ['app:1', 'pull'],
    [[], ['side:1', 'big:2', 'app:1'], []],
    [0, 5, 0],
  ],
  [
    'the same twice, and an unknown one',
    ['big:2', 'big:2', 'other:3'],
    [[], all, ['big:2'], [], ['pull:latest']],
    [0, 47, 47, 0, 0],
  ],
  [
    'each node has another',
    ['pull', 'big:2'],
    [['app:1', 'pull:latest'], ['app:1', 'big:2'], ['pull:latest'], all.slice(1), ['app:1']],
    [1, 17, 1, 1, 0],
  ],
];

describe('a pod prefers nodes that have its images', () => {
  for (const [name, images, nodes, scores] of cases) {
    it(name, () => assert.deepEqual(scoresIn(poolOf(nodes), images), scores));
  }

  it('as they are now', () => {
    const pool = poolOf([['big:2'], [], ['big:2']]);
    pool.setNode(node('n1', { status: { images: [] } }));
    assert.deepEqual(scoresIn(pool, ['big:2']), [0, 0, 59]);
    pool.deleteNode('n3');
    assert.equal(pool.images.isEmpty, true);
  });
});

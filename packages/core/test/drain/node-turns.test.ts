// The order of nodes and pods in a NodeDrain: waves, zones, limits, priorities, groups that go last.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeInput, PodInput } from '@taintmgr/core';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const selector = { matchLabels: { pool: 'blue' } };

function node(name: string, ring: string, zone: string): NodeInput {
  return { name, zone, labels: { pool: 'blue', ring } };
}

const nodes = [
  ...[node('n1', 'rest', 'a'), node('n2', 'canary', 'b'), node('n3', 'rest', 'b')],
  ...[node('n4', 'rest', 'a'), node('n5', 'none', 'a')],
];
const onEach: readonly PodInput[] = ['n1', 'n2', 'n3', 'n4', 'n5'].map((nodeName) => {
  return { name: `on-${nodeName}`, nodeName };
});
const waves = [
  { name: 'canary', nodeSelector: { matchLabels: { ring: 'canary' } }, nodesAtOnce: 1 },
  { name: 'rest', nodeSelector: { matchLabels: { ring: 'rest' } } },
];

/** Which nodes got their taint, in their order, with a bar where others had to be done with first. */
function turns(spec: object): string {
  const world = new World(drainOf({ nodeSelector: selector, ...spec }), nodes, onEach);
  world.pass(60_000);
  assert.equal(world.state().phase, 'Drained');
  const steps = world.log.filter((line) => !/^(guard|evict)/.test(line));
  return steps
    .map((line, at) => {
      const [verb, name = ''] = line.split(' ');
      if (verb === 'taint') return name;
      return steps[at + 1]?.startsWith('taint') ? '|' : '';
    })
    .filter((text) => text !== '')
    .join(' ');
}

describe('the nodes of a NodeDrain', () => {
  const cases: readonly (readonly [what: string, spec: object, order: string])[] = [
    ['go one by one, in the order of their names', {}, 'n1 | n2 | n3 | n4 | n5'],
    ['go as many at a time as is said', { limits: { nodesAtOnce: 0 } }, 'n1 n2 n3 n4 n5'],
    ['go wave by wave, those of none last', { waves }, 'n2 | n1 | n3 | n4 | n5'],
    ['go by the part of a wave', { waves, limits: { nodesAtOnce: '67%' } }, 'n2 | n1 n3 | n4 | n5'],
    ['go zone by zone', { order: 'ByZone', limits: { nodesAtOnce: 0 } }, 'n1 n4 n5 | n2 n3'],
    [
      'go zone by zone within a wave',
      { order: 'ByZone', waves, limits: { nodesAtOnce: 0 } },
      'n2 | n1 n4 | n3 | n5',
    ],
    [
      'go by names where they are listed, wave by wave',
      { nodeSelector: undefined, nodes: ['n5', 'n4', 'n2', 'n1'], waves },
      'n2 | n4 | n1 | n5',
    ],
  ];
  for (const [what, spec, order] of cases) {
    it(what, () => {
      assert.equal(turns(spec), order);
    });
  }

  it('say in which wave the drain is', () => {
    const world = new World(drainOf({ nodeSelector: selector, waves }), nodes, onEach);
    assert.equal(world.state().wave, 'canary');
    world.pass(60_000);
    assert.equal(world.state().wave, '');
  });

  it('of no wave come last, whatever the waves are called', () => {
    const names = ['the others', 'all the others'];
    const named = waves.map((wave, at) => ({ ...wave, name: names[at] }));
    const spec = { nodeSelector: selector, waves: named, limits: { nodesAtOnce: 0 } };
    const world = new World(drainOf(spec), nodes, onEach);
    const seen = new Set<string>();
    world.onEvicted = () => seen.add(world.state().wave);
    world.pass(60_000);
    assert.deepEqual([...seen], ['the others', 'all the others', 'all all the others']);
  });

  it('do not begin after a wave that failed', () => {
    const spec = { nodeSelector: selector, waves, timeouts: { node: '1m' } };
    const world = new World(drainOf(spec), nodes, onEach);
    world.refuses.add('on-n2');
    world.pass(120_000);
    const { phase, nodes: states } = world.state();
    assert.equal(phase, 'Failed');
    assert.deepEqual(
      states.map(({ name, reason }) => `${name} ${reason}`),
      ['n2 Blocked', 'n1 NotBegun', 'n3 NotBegun', 'n4 NotBegun', 'n5 NotBegun'],
    );
  });

  it('leave their place to others while nothing is left but what is refused', () => {
    const spec = { nodes: ['n1', 'n2', 'n3'] };
    const world = new World(drainOf(spec), nodes, onEach);
    world.refuses.add('on-n1');
    world.refuses.add('on-n2');
    world.pass(59_000);
    const begun = (): readonly string[] => world.log.filter((line) => line.startsWith('taint'));
    assert.deepEqual(begun(), ['taint n1']);
    world.pass(600_000);
    assert.deepEqual(begun(), ['taint n1', 'taint n2']);
    world.refuses.clear();
    world.pass(60_000);
    assert.equal(world.state().phase, 'Drained');
  });
});

describe('the pods of a node', () => {
  const pods = [
    { name: 'agent', nodeName: 'n1', priority: 1000, labels: { app: 'agent' } },
    { name: 'web', nodeName: 'n1' },
    { name: 'batch', nodeName: 'n1', priority: -5 },
    { namespace: 'logs', name: 'shipper', nodeName: 'n1', priority: -10 },
  ];

  it('go in the order of their priorities, and groups that go last after them', () => {
    const last = [{ namespaces: ['log*'] }, { podSelector: { matchLabels: { app: 'agent' } } }];
    const spec = { nodes: ['n1'], pods: { withoutController: true, order: 'ByPriority', last } };
    const world = new World(drainOf(spec), nodes, pods);
    world.pass(10_000);
    const gone = world.log.flatMap((line) => (line.startsWith('evict') ? line.slice(6) : []));
    assert.deepEqual(gone, ['batch', 'web', 'shipper', 'agent']);
  });
});

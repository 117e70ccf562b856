import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plainDrainSpec } from '@taintmgr/core/policy';
import { read } from './read-kind.ts';

describe('NodeDrain and TaintManager', () => {
  it('are read as they are written', () => {
    const drain = read('NodeDrain', { nodes: ['n'], taint: { key: 'maintenance' } });
    assert.deepEqual(drain, {
      kind: 'NodeDrain',
      value: {
        name: 'one',
        uid: '',
        generation: 0,
        created: null,
        isDeleted: false,
        isGuarded: false,
        spec: {
          nodes: ['n'],
          taint: { key: 'maintenance', value: '', effect: 'NoSchedule' },
          ...plainDrainSpec,
        },
        known: [],
        knowsAll: true,
        podsLeft: [],
        podsGoneBefore: 0,
        volumeWaits: [],
        notReplaced: [],
        startedAt: null,
        observedGeneration: null,
        observedSelector: null,
        isOver: false,
      },
    });
    const status = { leader: 'pod-1', settings: { mode: 'evict' }, counts: { nodes: 3 } };
    assert.deepEqual(read('TaintManager', undefined, { status }), {
      kind: 'TaintManager',
      value: { name: 'one', uid: '', status },
    });
    assert.deepEqual(read('TaintManager', undefined), {
      kind: 'TaintManager',
      value: { name: 'one', uid: '', status: null },
    });
  });
});

describe('the time that a node of a NodeDrain may take', () => {
  const cases: readonly (readonly [string, number | null])[] = [
    ['0', 0],
    ['0s', 0],
    ['0.001ms', 1],
    ['10m', 600_000],
  ];
  for (const [node, millis] of cases) {
    it(`${node}: ${millis} ms`, () => {
      const spec = { nodes: ['n'], taint: { key: 'maintenance' }, timeouts: { node } };
      const object = read('NodeDrain', spec);
      assert.equal(object.kind === 'NodeDrain' && object.value.spec.timeouts.node, millis);
    });
  }
});

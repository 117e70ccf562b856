// How a pod counts where limits count pods.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePod, type Pod } from '@taintmgr/core';
import { availabilityOf } from '../../../src/eviction/limits/pod-counts.ts';

describe('a pod counts', () => {
  const cases: readonly (readonly [string, Partial<Pod>, 'available' | 'unavailable' | null])[] = [
    ['as available: ready', { ready: 'True' }, 'available'],
    ['as available: nobody reported', { ready: null }, 'available'],
    ['as unavailable: not ready', { ready: 'False' }, 'unavailable'],
    ['as unavailable: its node is lost', { ready: 'Unknown' }, 'unavailable'],
    ['as unavailable: on its way out', { ready: 'True', deletionTimestamp: 0 }, 'unavailable'],
    ['not: on no node', { nodeName: '' }, null],
    ['not: it has succeeded', { phase: 'Succeeded' }, null],
    ['not: it has failed', { phase: 'Failed', ready: 'False' }, null],
  ];
  for (const [name, fields, expected] of cases) {
    it(name, () => {
      const pod = { ...makePod({ name: 'p', nodeName: 'n' }), ...fields };
      assert.equal(availabilityOf(pod, false), expected);
      assert.equal(availabilityOf(pod, true), null, 'one that came late counts nowhere');
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pdb } from '@taintmgr/sim-cluster';
import { Evictions } from './world/evictions.ts';

describe('budgets', () => {
  const budget = pdb('default', 'both', { minAvailable: 2 }, {});

  it('are not overdrawn, nor passed over', () => {
    const evictions = new Evictions({ mode: 'evict' });
    evictions.scenario.api.create('poddisruptionbudgets', budget);
    evictions.scenario.at(30);
    evictions.remove('p');
    assert.deepEqual(evictions.broken, ['budget overdrawn', 'deletes too early']);
  });

  it('are passed over when their time is over', () => {
    const evictions = new Evictions({ mode: 'evict-then-delete', deleteAfterMs: 8000 });
    evictions.scenario.api.create('poddisruptionbudgets', budget);
    evictions.scenario.at(27);
    evictions.remove('p');
    assert.deepEqual(evictions.broken, ['deletes too early']);
    evictions.scenario.at(29);
    evictions.remove('q');
    assert.equal(evictions.checkers.violations.length, 1);
  });
});

describe('a grace period', () => {
  it('is that of the policy, or the pod’s own', () => {
    const policies = [{ key: 'bad', gracePeriodSeconds: 7 }];
    const evictions = new Evictions({ policies });
    evictions.remove('p', { gracePeriodSeconds: 7 });
    evictions.remove('q');
    assert.deepEqual(evictions.broken, []);
  });

  it('is not another', () => {
    const evictions = new Evictions();
    evictions.remove('p', { gracePeriodSeconds: 7 });
    assert.deepEqual(evictions.broken, ['grace period']);
  });
});

describe('while deadlines stand still', () => {
  it('nobody is evicted there', () => {
    const evictions = new Evictions();
    evictions.checkers.pauses.begin(
      { kind: 'node', name: 'a-1' },
      evictions.scenario.api.clock.now(),
    );
    evictions.scenario.at(30);
    evictions.remove('p');
    assert.deepEqual(evictions.broken, ['evicts in a pause']);
  });

  it('others are, and they themselves afterwards', () => {
    const evictions = new Evictions();
    const { pauses } = evictions.checkers;
    pauses.begin({ kind: 'node', name: 'a-2' }, evictions.scenario.api.clock.now());
    pauses.begin({ kind: 'all' }, evictions.scenario.api.clock.now());
    evictions.scenario.at(30);
    pauses.end({ kind: 'all' }, evictions.scenario.api.clock.now());
    evictions.scenario.at(31);
    evictions.remove('p');
    assert.deepEqual(evictions.broken, []);
  });
});

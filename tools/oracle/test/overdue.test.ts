import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bad, Evictions } from './world/evictions.ts';
import { start } from './world/lifecycle-scenario.ts';

describe('where limits may hold pods for as long as they like', () => {
  const terms = { mayStop: true } as const;

  /** The pods that are said to be overdue long after everything has become calm. */
  function overdue(evictions: Evictions): readonly string[] {
    evictions.scenario.at(1000);
    evictions.checkers.atRest(start + 60_000);
    return evictions.checkers.violations.map(({ invariant, evidence }) => {
      assert.equal(invariant, 'overdue');
      return /default\/\S+/.exec(evidence)?.[0] ?? evidence;
    });
  }

  it('those that were there before the taint may wait', () => {
    assert.deepEqual(overdue(new Evictions(terms)), []);
  });

  it('those that came after it do not count, and have to go', () => {
    const evictions = new Evictions(terms);
    evictions.scenario.at(40);
    evictions.scenario.addPod('a-1', 'late');
    assert.deepEqual(overdue(evictions), ['default/late']);
  });

  it('those that came before it was written anew may wait', () => {
    const evictions = new Evictions(terms);
    const { scenario } = evictions;
    scenario.at(40);
    scenario.addPod('a-1', 'late');
    scenario.at(45);
    const { resourceVersion: _, ...metadata } = scenario.node('a-1').metadata;
    const timeAdded = new Date(start + 45_000).toISOString();
    const spec = { taints: [{ ...bad, timeAdded }] };
    scenario.api.update('nodes', { ...scenario.node('a-1'), metadata, spec });
    assert.deepEqual(overdue(evictions), []);
  });

  it('all have to go where no limit is', () => {
    assert.deepEqual(overdue(new Evictions()), ['default/p', 'default/q']);
  });
});

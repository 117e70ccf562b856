import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Evictions } from './world/evictions.ts';

describe('a share of the pods', () => {
  const terms = { windows: [{ per: 'node', percent: 50, windowMs: 10_000 }] } as const;

  it('may leave within a window', () => {
    const evictions = new Evictions(terms);
    evictions.remove('p');
    evictions.scenario.at(40);
    evictions.remove('q');
    assert.deepEqual(evictions.broken, []);
  });

  it('and no more, though the first is long gone', () => {
    const evictions = new Evictions(terms);
    evictions.remove('p');
    evictions.scenario.at(30);
    evictions.remove('q');
    assert.deepEqual(evictions.broken, ['window']);
  });

  it('nor by another replica, or after a restart', () => {
    const evictions = new Evictions({ windows: [{ per: 'total', pods: 1, windowMs: 10_000 }] });
    evictions.remove('p');
    evictions.checkers.apiHistory.first.beginRun();
    evictions.remove('q');
    assert.ok(evictions.broken.includes('window'));
  });

  it('to which pods that came after the taint do not count', () => {
    const evictions = new Evictions(terms);
    evictions.scenario.addPod('a-1', 'late');
    evictions.remove('p');
    evictions.remove('late');
    assert.deepEqual(evictions.broken, []);
  });
});

describe('a rate that trips', () => {
  const rates = [{ per: 'node', podsPerSecond: 0.01, burst: 1, trips: true }] as const;
  const policies = [{ key: 'bad', gracePeriodSeconds: 0 }];

  /** Two pods leave at once; both are gone in the same instant. */
  function brokenBy(...names: readonly string[]): readonly string[] {
    const evictions = new Evictions({ rates, policies });
    evictions.scenario.addPod('a-1', 'late');
    for (const name of names) evictions.remove(name, { gracePeriodSeconds: 0 });
    return evictions.broken;
  }

  it('lets no second pod go', () => {
    assert.deepEqual(brokenBy('p', 'q'), ['rate']);
  });

  it('does not count pods that came after the taint', () => {
    assert.deepEqual(brokenBy('late', 'p'), []);
  });
});

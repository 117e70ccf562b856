import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deletedOf, reasonText, type ShadowEntry, ShadowTally } from '../../src/shadow/report.ts';

function entry(more: Partial<ShadowEntry>): ShadowEntry {
  const pod = { namespace: 'shop', name: 'web', uid: 'web', nodeName: 'n1' };
  const said = { verdict: 'same', byMs: 0, asksBudgets: false, reason: null, message: '' } as const;
  return { pod, at: 0, taint: 'bad', policy: '', ...said, ...more };
}

const config = { sameMsMax: 0, settleMs: 1, followMs: 1, podsMax: 1, namesMax: 2, recentMax: 2 };

it('counts by name, and together for what there is no room', () => {
  const tally = new ShadowTally(config);
  for (const taint of ['a', 'b', 'b', 'c', 'd']) tally.add(entry({ taint }));
  const { taints, policies, counts, recent } = tally.report();
  const names = taints.map(({ name, same }) => `${name}: ${same}`);
  assert.deepEqual(names, ['b: 2', 'a: 1', '(others): 2']);
  assert.deepEqual([policies.map(({ name }) => name), counts.same], [['(none)'], 5]);
  assert.deepEqual(
    recent.map(({ taint }) => taint),
    ['d', 'c'],
  );
});

it('tells how far apart the two were, and why', () => {
  const tally = new ShadowTally(config);
  tally.add(entry({ verdict: 'later', byMs: 10, reason: 'Paused' }));
  tally.add(entry({ verdict: 'later', byMs: 20, reason: 'Paused' }));
  tally.add(entry({ verdict: 'onlyTaintmgr', byMs: null }));
  const { laterBy, earlierBy, reasons, counts } = tally.report();
  assert.deepEqual([laterBy, earlierBy], [{ meanMs: 15, maxMs: 20 }, null]);
  assert.deepEqual(reasons, [{ verdict: 'later', reason: 'Paused', pods: 2 }]);
  assert.equal(deletedOf(counts), 2);
});

it('knows the words of its reasons', () => {
  assert.equal(reasonText('KeptByPolicy'), 'an EvictionPolicy keeps it');
  assert.equal(reasonText('constructor'), null);
});

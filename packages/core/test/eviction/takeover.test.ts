// How fast it is found out which pods kube-controller-manager would have deleted.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makePod, parseTaint } from '@taintmgr/core';
import type { ObservedTaint } from '../../src/eviction/taint-clock.ts';
import { SparedPods } from '../../src/eviction/takeover.ts';
import { ClusterClock } from '../../src/kernel/time.ts';
import { itAnswersEvictions } from './script.ts';

const observed: readonly ObservedTaint[] = [
  { taint: parseTaint('a:NoExecute'), start: 0, startSource: 'firstSeen', seenAt: 0 },
];

it('a hundred pods are found at once, and twenty in each second after', () => {
  const clock = new ClusterClock();
  const spared = new SparedPods({ comparisonOperators: false });
  for (let n = 0; n < 130; n++) {
    spared.follow(0, makePod({ name: `p${n}`, namespace: 'shop' }), observed, clock);
  }
  const found = (now: number): number => {
    let count = 0;
    for (const uid of spared.takeDue(now)) {
      spared.spare(now, uid);
      count += 1;
    }
    return count;
  };
  assert.equal(spared.nextWake(0), 1000, 'by then its five tries are over');
  assert.deepEqual([999, 1000, 1000].map(found), [0, 100, 0]);
  assert.equal(spared.nextWake(1000), 1050);
  assert.deepEqual([1050, 2000, 3000].map(found), [1, 19, 10]);
  assert.equal(spared.nextWake(3000), null);
  assert.deepEqual([...spared.counts()], [['shop', { spared: 130, held: 130 }]]);
});

itAnswersEvictions('takeover');

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionTrack } from '../../../../src/commands/simulate/record/evictions.ts';
import { loopsOf } from '../../../../src/commands/simulate/result/loops.ts';

/** A pod of shop/web that was on node a for ten seconds, and why it was evicted. */
function evicted(at: number, because: string): EvictionTrack {
  const pod = { namespace: 'shop', pod: `web-${at}`, node: 'a', workload: 'Deployment shop/web' };
  return { ...pod, at, arrivedAt: at - 10, how: 'delete', because: [because], reasons: [] };
}

describe('a loop of evictions', () => {
  const taint = 'no toleration for x:NoExecute';

  it('is of one reason, three times at least', () => {
    const found = loopsOf([evicted(10, taint), evicted(30, taint), evicted(50, taint)]);
    assert.deepEqual(
      found.map(({ name, evictions, firstAt, lastAt, because }) => {
        return [name, evictions, firstAt, lastAt, because];
      }),
      [['Deployment shop/web', 3, 10, 50, [taint]]],
    );
    assert.deepEqual(loopsOf([evicted(10, taint), evicted(30, taint)]), []);
  });

  it('is not made of a failure, a wrong taint and a new kernel that come to a node one after the other', () => {
    const story = [evicted(10, 'unreachable'), evicted(900, 'gpu'), evicted(1800, 'kernel')];
    assert.deepEqual(loopsOf(story), []);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Leadership } from '../../src/leadership/leadership.ts';

describe('leadership', () => {
  it('is held by who is elected, while nobody else does the work', () => {
    const changes: boolean[] = [];
    const leadership = new Leadership(false, (mayAct) => changes.push(mayAct));
    const state = (): readonly boolean[] => [leadership.held, leadership.elected];
    leadership.elect(true);
    assert.deepEqual(state(), [true, true]);
    leadership.collide('kube-controller-manager');
    leadership.collide('kube-controller-manager');
    assert.deepEqual(state(), [false, true]);
    leadership.elect(false);
    leadership.collide(null);
    assert.deepEqual(state(), [false, false]);
    leadership.elect(true);
    assert.deepEqual(state(), [true, true]);
    // Of elections the loop knows by itself.
    assert.deepEqual(changes, [false, true]);
  });

  it('is held beside others where that is accepted', () => {
    const leadership = new Leadership(true, () => assert.fail('nothing to stand by for'), true);
    leadership.collide('kube-controller-manager');
    assert.deepEqual(
      [leadership.held, leadership.overlap, leadership.standsBackFor],
      [true, 'kube-controller-manager', null],
    );
  });
});

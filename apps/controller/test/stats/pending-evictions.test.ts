import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dueAt, PendingEvictions } from '../../src/stats/pending-evictions.ts';
import { because, due, pod, reported } from '../metrics/measured.ts';

describe('evictions that wait', () => {
  it('are overdue from their deadline on, and stay so while a limit holds them', () => {
    let now = due - 1;
    const pending = new PendingEvictions(() => now);
    const cause = 'NodeChanged';
    const to = due;
    pending.observe(reported({ kind: 'deadline', pod, from: null, to, cause, because }), now);
    assert.deepEqual(pending.waiting(), { pending: 1, overdue: 0, next: due });
    now = due;
    assert.deepEqual(pending.waiting(), { pending: 1, overdue: 1, next: null });
    const hit = { per: 'zone', name: 'a', limit: 'pods', tripped: false } as const;
    // What is reported may be a moment ahead of who asks.
    pending.observe(reported({ kind: 'queued', pod, hit, until: null }), due + 5);
    assert.deepEqual(pending.waiting(), { pending: 1, overdue: 1, next: null });
  });

  it('are due for the first of their reasons that names a time', () => {
    const [reason = assert.fail()] = because;
    assert.ok(reason.code === 'NoToleration');
    const later = { ...reason, deadline: due + 1000 };
    assert.equal(dueAt([later, reason, later]), due);
    assert.equal(dueAt([]), null);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LiveInput, LivePod } from '../../../src/live.ts';
import { inOrder, liveCounts, liveSentence, whenText } from '../../../src/model/live/pods.ts';
import { liveEnd, liveHome } from '../../../src/model/live/rows.ts';

const waits: LivePod = {
  ...{ uid: 'u', namespace: 'shop', pod: 'web-1', node: 'a-1', workload: null, state: 'Evict' },
  ...{ setAt: 50, dueAt: 100, remainingSeconds: null, isEstimate: false },
  ...{ evictor: 'taintmgr-controller', because: ['no toleration'], holds: [] },
};
const held: LivePod = { ...waits, state: 'Held', dueAt: null, remainingSeconds: 90.7 };
const leaving: LivePod = { ...waits, state: 'Terminating', dueAt: null };
const unknown: LivePod = { ...waits, state: 'Unknown', dueAt: null };
const hold = { kind: 'PDB', name: 'web', text: 'PDB web' };

function input(...pods: readonly LivePod[]): LiveInput {
  const record = {
    zones: [],
    nodes: [],
    deadlines: [],
    holds: [],
    evictions: [],
    gaps: [],
    events: [],
  };
  const nodes: LiveInput['nodes'] = [
    { name: 'a-1', zone: 'a', ready: 'True', cordoned: false, taints: ['kernel:NoExecute'] },
    { name: 'a-2', zone: 'a', ready: 'Unknown', cordoned: false, taints: ['old:NoSchedule'] },
  ];
  return {
    ...{ source: 'test', startsAt: 0, openedAt: 60, now: 80, lost: null, evictedBy: 'nobody' },
    ...{ warnings: [], notes: [], zones: [], nodes, pods, podsLeftOut: 0, actions: [] },
    record: { ...record, isCut: false },
  };
}

describe('when a pod leaves', () => {
  const cases: readonly (readonly [string, LivePod, number, string])[] = [
    ['counts down', waits, 80, 'in 20s'],
    ['says that nobody can tell exactly', { ...waits, isEstimate: true }, 80, 'in ~20s'],
    ['rounds down', waits, 80.9, 'in 19s'],
    ['is now', waits, 99.5, 'now'],
    ['is still now', waits, 100.5, 'now'],
    ['is overdue from a second on', waits, 101.5, 'overdue by 1s'],
    ['is overdue', waits, 165, 'overdue by 1m5s'],
    ['stands still', held, 80, 'held, 1m30s left'],
    ['is over after the pause', { ...held, remainingSeconds: -5 }, 80, 'held, due after it'],
    ['is past', leaving, 80, 'terminating'],
    ['is unknown', unknown, 80, 'unknown'],
    ['is not known', { ...waits, dueAt: null }, 80, 'at an unknown time'],
  ];
  for (const [name, pod, now, expected] of cases) {
    it(name, () => assert.equal(whenText(pod, now), expected));
  }

  it('decides the order: the next first, then held ones, then those on their way out', () => {
    const later = { ...waits, pod: 'web-0', dueAt: 300 };
    const order = inOrder([leaving, unknown, held, later, waits]).map(({ state, dueAt }) => [
      state,
      dueAt,
    ]);
    assert.deepEqual(order, [
      ['Evict', 100],
      ['Evict', 300],
      ['Held', null],
      ['Unknown', null],
      ['Terminating', null],
    ]);
  });
});

describe('the sentence of a live cluster', () => {
  const blocked = { ...waits, pod: 'web-2', dueAt: 70, holds: [hold] };
  const due = { ...waits, pod: 'web-3', dueAt: 70 };
  const cases: readonly (readonly [string, readonly LivePod[], string])[] = [
    ['none', [], 'No pod will leave.'],
    ['one', [waits], 'Next to leave: shop/web-1 on a-1, in 20s.'],
    ['one that no controller evicts', [due], '1 pod is overdue by 10s.'],
    [
      'two that no controller evicts',
      [due, { ...due, pod: 'web-4', dueAt: 75 }],
      '2 pods are due, the first overdue by 10s.',
    ],
    ['one that is due now', [{ ...due, dueAt: 80 }], '1 pod is due.'],
    ['one that is blocked', [blocked], '1 pod is due and blocked.'],
    [
      'several',
      [waits, blocked, due],
      '2 pods are due, 1 of them blocked; next to leave: shop/web-1 on a-1, in 20s.',
    ],
    ['a held one', [held], '1 pod is held by a pause, and no other will leave.'],
    ['an unknown one', [unknown], 'Unknown for 1 pod; no other will leave.'],
    ['one on its way out', [leaving], '1 pod is on the way out, and no other will leave.'],
  ];
  for (const [name, pods, expected] of cases) {
    it(`is of ${name}`, () => assert.equal(liveSentence(input(...pods)), expected));
  }

  it('goes with numbers, pods without room in the list too', () => {
    assert.equal(
      liveCounts({ ...input(waits, held, leaving), podsLeftOut: 4 }),
      '5 to leave, 1 held, 1 terminating, 1 of 2 nodes tainted NoExecute, 1 not ready',
    );
    assert.match(liveCounts(input(unknown)), /^0 to leave, 0 held, 1 unknown, 0 terminating, /);
  });
});

describe('the time of a live chart', () => {
  const at = (dueAt: number) => input({ ...waits, dueAt });

  it('ends after the last deadline, in steps of five minutes, and after eight days at most', () => {
    assert.equal(liveEnd(input(), 80), 600);
    assert.equal(liveEnd(at(5000), 80), 5100);
    assert.equal(liveEnd(at(1e9), 80), liveEnd(input(), 80));
  });

  it('shows first a little of the past and the deadlines of the next hour', () => {
    assert.deepEqual(liveHome(input(), 80, 600), { from: 0, until: 380 });
    assert.deepEqual(liveHome(at(1080), 80, 1200), { from: 0, until: 1180 });
    assert.deepEqual(liveHome(at(90_000), 1000, 99_000), { from: 900, until: 1300 });
  });
});

// What is read again right before an eviction, and what of it keeps the pod after all.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  confirmEviction,
  makeNode,
  makePod,
  type Node,
  type Pod,
  type Reason,
  type Toleration,
  type WorkingDrain,
} from '@taintmgr/core';

const at = Date.parse('2026-01-01T00:00:00Z');

const taint = { key: 'm', value: '', effect: 'NoExecute', timeAdded: at } as const;

const toleration: Toleration = {
  ...{ key: 'm', operator: 'Exists', value: '', effect: '', tolerationSeconds: 60 },
};

const since = { taint, start: at, startSource: 'timeAdded' } as const;

const now: Reason = { code: 'NoToleration', ...since, deadline: at };

const later: Reason = { code: 'TolerationExpires', ...since, toleration, deadline: at + 60_000 };

const drain: WorkingDrain = { id: 'kernel', by: 'ann', heartbeat: 'first', taint: 'm:NoExecute' };

const forgotten: Reason = { ...now, staleDrain: drain };

const other = { ...taint, key: 'other' };

const options = { comparisonOperators: false };

describe('an eviction that is due', () => {
  const cases: readonly (readonly [
    name: string,
    decided: Reason,
    pod: Partial<Pod>,
    node: Partial<Node> | null,
    objection: RegExp | null,
  ])[] = [
    ['holds while the taint is there', now, {}, {}, null],
    ['holds beside other taints', now, {}, { taints: [other, taint] }, null],
    ['does not without the node', now, {}, null, /^node n1 is gone$/],
    [
      'does not without the taint',
      now,
      {},
      { taints: [other] },
      /has no taint m:NoExecute any more/,
    ],
    [
      'does not where the taint is of another effect by now',
      now,
      {},
      { taints: [{ ...taint, effect: 'NoSchedule' }] },
      /has no taint/,
    ],
    [
      'does not where the taint was taken off and put on again',
      now,
      {},
      { taints: [{ ...taint, timeAdded: at + 1000 }] },
      /was added at another time/,
    ],
    [
      'does not where the taint says its time no more',
      now,
      {},
      { taints: [{ ...taint, timeAdded: null }] },
      /was added at another time/,
    ],
    ['does not where the pod tolerates it', now, { tolerations: [toleration] }, {}, /differently/],
    ['holds where it is tolerated as before', later, { tolerations: [toleration] }, {}, null],
    ['does not where it is tolerated no more', later, {}, {}, /differently/],
    [
      'does not where it is tolerated for longer',
      later,
      { tolerations: [{ ...toleration, tolerationSeconds: 61 }] },
      {},
      /differently/,
    ],
    ['does not where a drain evicts for the taint', now, {}, { drains: [drain] }, /^drain kernel/],
    [
      'holds where a drain is at work for another taint',
      now,
      {},
      { drains: [{ ...drain, taint: 'other:NoExecute' }] },
      null,
    ],
    ['holds where the drain was given up', forgotten, {}, { drains: [drain] }, null],
    [
      'does not where that drain gives signs of life',
      forgotten,
      {},
      { drains: [{ ...drain, heartbeat: 'second' }] },
      /^drain kernel/,
    ],
    [
      'does not where another drain has begun',
      forgotten,
      {},
      { drains: [{ ...drain, id: 'bios' }] },
      /^drain bios/,
    ],
  ];
  for (const [name, decided, fields, changed, objection] of cases) {
    it(name, () => {
      const pod = { ...makePod({ name: 'p', nodeName: 'n1' }), ...fields };
      const node = changed && { ...makeNode({ name: 'n1' }), taints: [taint], ...changed };
      const found = confirmEviction([decided], pod, node, options);
      if (objection === null) assert.equal(found, null);
      else assert.match(found ?? '', objection);
    });
  }

  it('holds beside a drain for whoever is that drain', () => {
    const node = { ...makeNode({ name: 'n1' }), taints: [taint], drains: [drain] };
    const pod = makePod({ name: 'p', nodeName: 'n1' });
    assert.equal(confirmEviction([now], pod, node, { ...options, ignoresDrains: true }), null);
  });
});

const working: WorkingDrain = { id: 'd1', taint: 'work:NoExecute', by: 'ann', heartbeat: '1' };

function nodeWith(drains: readonly WorkingDrain[]): Node {
  return { ...makeNode({ name: 'n1', taints: ['work:NoExecute'] }), drains };
}

describe('confirmEviction', () => {
  const pod = makePod({ name: 'web-0', nodeName: 'n1' });
  const because: readonly Reason[] = [
    {
      code: 'NoToleration',
      taint: { key: 'work', value: '', effect: 'NoExecute', timeAdded: null },
      start: 0,
      startSource: 'firstSeen',
      deadline: 0,
      staleDrain: working,
    },
  ];
  const cases = [
    { name: 'there is no drain any more', drains: [], expected: null },
    { name: 'the drain has no heartbeat still', drains: [working], expected: null },
    {
      name: 'it has given a sign of life since',
      drains: [{ ...working, heartbeat: '2' }],
      expected: 'drain d1 evicts for work:NoExecute on node n1',
    },
    {
      name: 'another one has come',
      drains: [{ ...working, id: 'd2' }],
      expected: 'drain d2 evicts for work:NoExecute on node n1',
    },
    {
      name: 'one of another taint',
      drains: [{ ...working, id: 'd2', taint: 'b:NoExecute' }],
      expected: null,
    },
  ];
  for (const { name, drains, expected } of cases) {
    it(`holds unless a drain evicts: ${name}`, () => {
      const options = { comparisonOperators: false };
      assert.equal(confirmEviction(because, pod, nodeWith(drains), options), expected);
      const node = nodeWith(drains);
      assert.equal(confirmEviction(because, pod, node, { ...options, ignoresDrains: true }), null);
    });
  }
});

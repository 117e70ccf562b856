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

import {
  confirmDeviceTaint,
  type DeviceSources,
  type DeviceTaintRule,
  type ResourceClaim,
  type ResourceSlice,
} from '@taintmgr/core/devices';

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

describe('an eviction for a taint of a device', () => {
  const id = { driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' };
  const claim: ResourceClaim = {
    ...{ namespace: 'shop', name: 'gpu', uid: 'c', ownerUid: null, reservedFor: ['u'] },
    allocated: [{ ...id, request: 'r', tolerations: [] }],
  };
  const selector = { driver: null, pool: 'n1', device: null };
  const rule: DeviceTaintRule = {
    ...{ name: 'ecc', uid: 'r', generation: 1, selector, taint, progress: null },
  };
  const devices = [{ name: 'gpu-0', taints: [other, taint] }];
  const slice: ResourceSlice = {
    ...{ name: 's', driver: id.driver, pool: 'n1', generation: 1, devices },
  };
  const found = { claim, rule: null, slice: null };
  const byRule = { kind: 'rule', name: 'ecc' } as const;
  const bySlice = { kind: 'slice', name: 's', index: 1 } as const;
  const later = { ...taint, timeAdded: at + 1000 };
  const cases: readonly [string, DeviceSources, RegExp | null, by?: typeof bySlice][] = [
    ['holds while the rule taints it', { ...found, rule }, null],
    ['holds while the slice does', { ...found, slice }, null, bySlice],
    [
      'holds while the slice has the taint twice, of two times',
      { ...found, slice: { ...slice, devices: [{ name: 'gpu-0', taints: [later, taint] }] } },
      null,
      bySlice,
    ],
    ['does not without the claim', { ...found, claim: null, rule }, /^claim gpu is gone$/],
    [
      'does not where the claim is of another pod',
      { ...found, claim: { ...claim, reservedFor: ['v'] }, rule },
      /^claim gpu is not reserved for the pod$/,
    ],
    [
      'does not where the claim holds another device',
      { ...found, claim: { ...claim, allocated: [] }, rule },
      /^claim gpu does not hold device gpu.example.com\/n1\/gpu-0 any more$/,
    ],
    ['does not without the rule', found, /is not tainted m:NoExecute by DeviceTaintRule ecc any/],
    [
      'does not where the rule selects others',
      { ...found, rule: { ...rule, selector: { ...selector, pool: 'n2' } } },
      /is not tainted/,
    ],
    [
      'does not where the rule has another effect',
      { ...found, rule: { ...rule, taint: { ...taint, effect: 'None' } } },
      /is not tainted/,
    ],
    [
      'does not where the rule counts from another time',
      { ...found, rule: { ...rule, taint: later } },
      /^the taint m:NoExecute of device \S+ was added at another time$/,
    ],
    ['does not without the slice', found, /by its driver in ResourceSlice s \(#1\) any/, bySlice],
    [
      'does not where the slice is of another pool',
      { ...found, slice: { ...slice, pool: 'n2' } },
      /is not tainted/,
      bySlice,
    ],
  ];
  for (const [name, sources, objection, source = byRule] of cases) {
    it(name, () => {
      const pod = { namespace: 'shop', name: 'a', uid: 'u', nodeName: 'n1' };
      const tainted = { device: id, claim: 'gpu', source };
      const answer = confirmDeviceTaint({ pod, tainted, taint }, sources);
      if (objection === null) assert.equal(answer, null);
      else assert.match(answer ?? '', objection);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, type Node, type Pod, parseTaint, type Toleration } from '@taintmgr/core';
import { itIsAsRecorded } from '../../conformance/recorded.ts';

// When kube-controller-manager evicts a pod of a node that was tainted before anybody told of it.

const second = 1_000;
const now = Date.parse('2026-05-01T12:10:00Z');
const before = (seconds: number): number => now - seconds * second;

/** A pod that came to the node so many seconds ago. */
function podOf(tolerations: readonly Toleration[], boundAgo: number): Pod {
  return {
    ...{ namespace: 'shop', name: 'web', uid: 'u1', nodeName: 'a', phase: 'Running' },
    ...{ tolerations, deletionTimestamp: null, boundAt: before(boundAgo) },
    ...{ generation: 1, mirror: false, owner: null, hasEmptyDir: false },
  };
}

const forSeconds = (key: string, tolerationSeconds: number): Toleration => {
  return { key, operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds };
};

interface Case {
  /** How many seconds ago each taint came; null: it does not say so. */
  readonly taints: Readonly<Record<string, number | null>>;
  readonly writtenAgo?: number;
  readonly tolerations: readonly Toleration[];
  readonly boundAgo: number;
  /** Since when it acts: so many seconds ago; null: it begins now. */
  readonly since: number | null;
}

/** In how many seconds the pod is deleted; null: never. */
function deletedIn({ taints, writtenAgo, tolerations, boundAgo, since }: Case): number | null {
  const node: Node = {
    ...{ name: 'a', uid: 'a' },
    taints: Object.entries(taints).map(([key, ago]) => {
      return { ...parseTaint(`${key}:NoExecute`), timeAdded: ago === null ? null : before(ago) };
    }),
    ...(writtenAgo !== undefined && { taintsWrittenAt: before(writtenAgo) }),
  };
  const pod = podOf(tolerations, boundAgo);
  const engine = createEngine({ semantics: 'upstream-1.36' });
  if (since !== null) engine.handle(now, { kind: 'leadership', held: true, since: before(since) });
  engine.handle(now, { kind: 'nodeUpsert', node });
  engine.handle(now, { kind: 'podUpsert', pod });
  let commands = engine.handle(now, { kind: 'synced' });
  for (let at: number | null = now; at !== null; at = engine.nextWake()) {
    if (at > now) commands = engine.handle(at, { kind: 'tick' });
    const deletes = commands.filter(({ kind }) => kind === 'deletePod').length;
    assert.ok(deletes <= 1, `deletes it ${deletes} times`);
    if (deletes > 0) return (at - now) / second;
  }
  return null;
}

const [m, n] = ['m', 'n'];
const usual = { taints: { [m]: 100 }, tolerations: [forSeconds(m, 300)], boundAgo: 900 };
const allAlong = Number.POSITIVE_INFINITY;

// Times of the API are in whole seconds: what came within a second may have come up to a second later.
const cases: readonly (readonly [string, Case, number | null])[] = [
  ['begins now', { ...usual, since: null }, 300],
  ['acts all along', { ...usual, since: allAlong }, 200],
  ['acts since after the taint', { ...usual, since: 40 }, 260],
  ['has a pod that came after the taint', { ...usual, boundAgo: 30, since: allAlong }, 270],
  [
    'is told by the write alone when the taint came',
    { ...usual, taints: { [m]: null }, writtenAgo: 60, since: allAlong },
    240,
  ],
  ['cannot know when the taint came', { ...usual, taints: { [m]: null }, since: allAlong }, 300],
  ['should have done it before', { ...usual, taints: { [m]: 500 }, since: allAlong }, 0],
  ['meets a pod that tolerates nothing', { ...usual, tolerations: [], since: allAlong }, 0],
  [
    'meets a pod that tolerates neither of two taints',
    { ...usual, taints: { [m]: 100, [n]: 50 }, tolerations: [], since: allAlong },
    0,
  ],
  [
    'keeps the first of two timers',
    {
      ...{ taints: { [m]: 100, [n]: 50 }, boundAgo: 900, since: allAlong },
      tolerations: [forSeconds(m, 300), forSeconds(n, 60)],
    },
    200,
  ],
  [
    'has set one timer alone for a pod that came after two taints',
    {
      ...{ taints: { [m]: 100, [n]: 50 }, boundAgo: 20, since: allAlong },
      tolerations: [forSeconds(m, 300), forSeconds(n, 60)],
    },
    40,
  ],
  [
    'has a taint that is tolerated for ever beside it',
    {
      ...{ taints: { [m]: 100, [n]: 50 }, boundAgo: 900, since: allAlong },
      tolerations: [{ ...forSeconds(m, 0), tolerationSeconds: null }, forSeconds(n, 60)],
    },
    10,
  ],
];

describe('a pod of a tainted node leaves by kube-controller-manager', () => {
  for (const [what, given, expected] of cases) {
    it(`${expected === 0 ? 'at once' : `in ${expected} s`} where it ${what}`, () => {
      assert.equal(deletedIn(given), expected);
    });
  }

  it('in the whole time where it loses its lead and acts anew', () => {
    const engine = createEngine({ semantics: 'upstream-1.36' });
    const since = Number.NEGATIVE_INFINITY;
    const taint = { ...parseTaint('m:NoExecute'), timeAdded: before(100) };
    const pod = podOf(usual.tolerations, 900);
    engine.handle(now, { kind: 'leadership', held: true, since });
    engine.handle(now, { kind: 'nodeUpsert', node: { name: 'a', uid: 'a', taints: [taint] } });
    engine.handle(now, { kind: 'podUpsert', pod });
    engine.handle(now, { kind: 'synced' });
    assert.equal(engine.nextWake(), now + 200 * second);
    engine.handle(now, { kind: 'leadership', held: false });
    engine.handle(now, { kind: 'leadership', held: true });
    assert.equal(engine.nextWake(), now + 300 * second);
  });
});

itIsAsRecorded('taint-eviction-scenarios', 300);

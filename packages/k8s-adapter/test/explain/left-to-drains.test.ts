import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Decision, makePod, parseTaint, type Reason } from '@taintmgr/core';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { Drained, LeftToDrains } from '../../src/explain/left-to-drains.ts';
import { nodeFacts } from '../../src/survey/facts.ts';
import { followed, noPolicies } from '../../src/survey/policies.ts';
import { node, nodeFactsOf, now, pod, podFactsOf, taint, tolerates } from '../world/values.ts';

const heartbeat = new Date(now - 1000).toISOString();
const mark = { id: 'd1', taint: 'level=10:NoExecute', tainted: true, by: 'ann', run: 'r' };
const nodes = [
  nodeFacts({
    metadata: {
      name: 'n1',
      uid: 'n1',
      annotations: { 'taintmgr.dev/drain': JSON.stringify([{ ...mark, heartbeat }]) },
    },
    spec: { taints: [{ key: 'level', value: '10', effect: 'NoExecute' }] },
  }),
];
const facts = podFactsOf(
  makePod({
    name: 'below-50',
    nodeName: 'n1',
    tolerations: [{ key: 'level', operator: 'Lt', value: '50', tolerationSeconds: 60 }],
  }),
);

it('a pod that is left to a drain goes when the drain takes it: Lt and Gt count where they do for the controller', () => {
  const taint = parseTaint(mark.taint);
  const drain = { id: 'd1', taint: mark.taint, by: 'ann', heartbeat };
  const engineSays = { kind: 'keep', because: [{ code: 'LeftToDrain', taint, drain }] } as const;
  const wait = (comparisonOperators: boolean): number | null => {
    const given = { now, nodes, pods: [facts], policies: noPolicies, comparisonOperators };
    const decision = new LeftToDrains(given).decisionOn(facts, engineSays);
    return decision?.kind === 'evict' ? Math.round((decision.deadline - now) / 10_000) * 10 : null;
  };
  assert.deepEqual([wait(true), wait(false)], [60, 0]);
});

// What a drain at work does with a pod that the engine leaves to it, and what the engine still does.
describe('a pod that is left to a drain', () => {
  const second = 1000;
  const heartbeat = new Date(now).toISOString();
  /** Put on 40 seconds ago; the pod tolerates it for a minute. */
  const drained = (effect: string) => ({ ...taint('k:NoExecute', 40), effect });
  const facts = podFactsOf(pod('web', tolerates('k', 60)));

  /** For how many seconds yet the pod stays, or what else becomes of it by the drain; null: the engine decides. */
  function byDrain(
    because: Reason,
    engine: Pick<Decision, 'kind'> | number,
    pausedAgo?: number,
  ): unknown {
    const effect = 'taint' in because ? because.taint.effect : '';
    const drain = { id: 'd', by: '', taint: `k:${effect}`, heartbeat };
    const one = { ...node('n1', drained(effect)), drains: [drain] };
    const created = new Date(now - (pausedAgo ?? 0) * second).toISOString();
    const metadata = { name: 'p', uid: 'u', creationTimestamp: created };
    const pause = { apiVersion: policyApiVersion, kind: 'EvictionPause', metadata, spec: {} };
    const policies =
      pausedAgo === undefined ? noPolicies : { ...noPolicies, ...followed('EvictionPause', pause) };
    const site = {
      now,
      nodes: [nodeFactsOf(one)],
      pods: [facts],
      policies,
      comparisonOperators: false,
    };
    const says: Decision =
      typeof engine === 'number'
        ? { kind: 'evict', deadline: now + engine * second, because: [because] }
        : { kind: 'keep', because: [because] };
    const found = new LeftToDrains(site).decisionOn(facts, says);
    if (found?.kind === 'evict') return Math.round((found.deadline - now) / second);
    return found?.kind === 'pause' ? `paused, ${Math.round(found.remaining / second)}` : found;
  }

  const left = (effect: string): Reason => {
    const drain = { id: 'd', by: '', taint: `k:${effect}`, heartbeat };
    return { code: 'LeftToDrain', taint: drained(effect), drain };
  };
  const notTakenOver = (effect: string): Reason => {
    return { code: 'NotTakenOver', taint: drained(effect), namespace: 'shop' };
  };
  const keep = { kind: 'keep' } as const;

  describe('a pod that is left to a drain', () => {
    const cases: readonly (readonly [string, unknown, unknown])[] = [
      ['goes when the drain says so', byDrain(left('NoExecute'), keep), 21],
      [
        'goes by the drain, if that is sooner than other taints',
        byDrain(left('NoExecute'), 30),
        21,
      ],
      ['goes by other taints, if that is sooner', byDrain(left('NoExecute'), 10), null],
      [
        'goes by a drain for whose taint nobody else acts',
        byDrain(notTakenOver('NoSchedule'), keep),
        21,
      ],
      [
        'is none where kube-controller-manager takes it',
        byDrain(notTakenOver('NoExecute'), keep),
        null,
      ],
      ['is none that nothing is said of', byDrain({ code: 'TimerKept' }, keep), null],
      [
        'is paused with the time that it had left',
        byDrain(left('NoExecute'), keep, 10),
        'paused, 31',
      ],
      ['is paused with its whole time', byDrain(left('NoExecute'), keep, 90), 'paused, 60'],
      ['is not paused where other taints take it', byDrain(left('NoExecute'), 10, 10), null],
    ];
    for (const [name, found, expected] of cases) {
      it(name, () => assert.equal(found, expected));
    }
  });
});

describe('a node that is drained', () => {
  const now = Date.parse('2026-01-01T00:01:00Z');

  function drainsFor(heartbeat: string, isHeeded: boolean): number {
    const mark = { id: 'd1', taint: 'a:NoExecute', tainted: true, by: 'ann', run: 'r', heartbeat };
    const annotations = { 'taintmgr.dev/drain': JSON.stringify([mark]) };
    const facts = nodeFacts({ metadata: { name: 'n1', uid: 'n1', annotations } });
    return new Drained(facts, now, isHeeded).node(facts.node).drains?.length ?? 0;
  }

  it('a drain counts while it is at work, where the controller that acts heeds it', () => {
    assert.equal(drainsFor('2026-01-01T00:00:30Z', true), 1);
    assert.equal(drainsFor('2026-01-01T00:00:00Z', true), 0);
    assert.equal(drainsFor('2026-01-01T00:00:30Z', false), 0);
  });

  it('a taint that somebody has put on again has no time that only the mark of the drain has', () => {
    const work = { by: 'ann', run: 'r', heartbeat: '2026-01-01T00:00:30Z' };
    const timeAdded = '2026-01-01T00:00:10Z';
    const mark = { id: 'd1', taint: 'a:NoSchedule', timeAdded, tainted: true, ...work };
    const annotations = { 'taintmgr.dev/drain': JSON.stringify([mark]) };
    const taints = [{ key: 'a', effect: 'NoSchedule' }];
    const facts = nodeFacts({ metadata: { name: 'n1', uid: 'n1', annotations }, spec: { taints } });
    const drained = new Drained(facts, now, true);
    const [judged] = drained.node(facts.node).taints;
    assert.equal(judged?.effect, 'NoExecute');
    const shown = judged && drained.taint(judged);
    assert.deepEqual([shown?.effect, shown?.timeAdded], ['NoSchedule', null]);
  });
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makePod, parseTaint } from '@taintmgr/core';
import { nodeFacts } from '../../src/cluster/facts.ts';
import { noPolicies } from '../../src/cluster/policies.ts';
import { LeftToDrains } from '../../src/report/left-to-drains.ts';
import { now, podFactsOf } from '../world/values.ts';

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

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nodeFacts } from '../../src/cluster/facts.ts';
import { Drained } from '../../src/report/left-to-drains.ts';

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

// The conditions that a NodeDrain writes on a node: the request, and what its answers come to.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conditionsSetting } from '../../../src/controller/procedures/drain-conditions.ts';

const node = { name: 'n1', uid: 'uid-n1' };
const said = { type: 'Drained', status: 'True', reason: 'NodeDrain', message: 'NodeDrain kernel' };
const wall = Date.parse('2026-01-01T00:00:05Z');

function setting() {
  const target = { kind: 'setDrainConditions', id: 'c1', drain: 'kernel', node } as const;
  const command = { ...target, conditions: [{ ...said, status: 'True' }] } as const;
  const { first } = conditionsSetting(command, { wall, isStale: () => false });
  return first.kind === 'send' ? first : assert.fail();
}

describe('conditions of a node by a NodeDrain', () => {
  it('are dated, and for that node alone: another of its name has another uid', () => {
    const { method, path, body } = setting().request;
    assert.deepEqual([method, path.split('?')[0]], ['PATCH', '/api/v1/nodes/n1/status']);
    const at = '2026-01-01T00:00:05Z';
    assert.deepEqual(JSON.parse(body ?? ''), {
      metadata: { uid: 'uid-n1' },
      status: { conditions: [{ ...said, lastHeartbeatTime: at, lastTransitionTime: at }] },
    });
  });

  const missing = { kind: 'Status', reason: 'NotFound', code: 404, details: { name: 'n1' } };
  for (const [status, body, kind] of [
    [200, {}, 'done'],
    [404, missing, 'gone'],
    [403, { kind: 'Status', code: 403, message: 'nodes/status is forbidden' }, 'failed'],
  ] as const) {
    it(`answered with ${status} they are ${kind}`, () => {
      const answer = { kind: 'response', status, headers: {}, body: JSON.stringify(body) } as const;
      const step = setting().onAnswer(answer, wall);
      assert.equal(step.kind === 'finished' && step.outcome.kind, kind);
    });
  }
});

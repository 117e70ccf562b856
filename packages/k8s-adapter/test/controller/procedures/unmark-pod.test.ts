import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import { ApiServer, namespace, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { unmarking } from '../../../src/controller/procedures/unmark-pod.ts';
import type { Answer } from '../../../src/proto/answer.ts';
import type { ApiRequest } from '../../../src/proto/api-request.ts';
import { markDisruptedRequest } from '../../../src/proto/pod-requests.ts';
import { answerOf } from '../../world/answer-of.ts';

// Our condition DisruptionTarget is taken away, and nobody else's, as the API server has it.

const ours = 'taintmgr-controller';

function send(api: ApiServer, request: ApiRequest, program: string): Answer {
  const headers = { ...request.headers, 'user-agent': `${program}/1` };
  return answerOf(api, { ...request, headers });
}

interface Played {
  readonly outcome: Outcome;
  readonly conditions: readonly string[];
}

/** Marked by a program; `between` happens when the pod has been read. */
function play(program: string, between: (api: ApiServer) => void = () => {}, uid?: string): Played {
  const api = new ApiServer({ clock: new VirtualClock(0), random: seededRandom(1) });
  api.create('namespaces', namespace('shop'));
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  const { metadata } = api.create('pods', pod('shop', 'web', { spec: { nodeName: 'n1' } }));
  const bare = api.get('pods', 'shop', 'web') ?? assert.fail();
  api.update('pods', { ...bare, status: ready }, 'status');
  const ref = { namespace: 'shop', name: 'web', uid: uid ?? metadata.uid ?? '', nodeName: 'n1' };
  send(api, markDisruptedRequest({ ...ref, uid: metadata.uid ?? '' }, 1, 0), program);
  let step = unmarking({ kind: 'unmarkPod', id: 'c1', pod: ref }).first;
  let isRead = false;
  while (step.kind === 'send') {
    step = step.onAnswer(send(api, step.request, ours), 0);
    if (!isRead) between(api);
    isRead = true;
  }
  const conditions: readonly { readonly type: string }[] =
    api.get('pods', 'shop', 'web')?.status?.conditions ?? [];
  return { outcome: step.outcome, conditions: conditions.map(({ type }) => type) };
}

describe('the condition DisruptionTarget', () => {
  it('of ours is taken away, and the others stay', () => {
    const { outcome, conditions } = play(ours);
    assert.deepEqual(outcome, { kind: 'done' });
    assert.ok(!conditions.includes('DisruptionTarget'));
    assert.ok(conditions.includes('Ready'));
  });

  it('of kube-controller-manager stays', () => {
    const { outcome, conditions } = play('kube-controller-manager');
    assert.equal(outcome.kind, 'changed');
    assert.ok(conditions.includes('DisruptionTarget'));
  });

  it('of a pod that has changed since it was read stays', () => {
    const { outcome, conditions } = play(ours, (api) => {
      const one = api.get('pods', 'shop', 'web') ?? assert.fail();
      api.update('pods', { ...one, metadata: { ...one.metadata, labels: { a: 'b' } } });
    });
    assert.equal(outcome.kind, 'changed');
    assert.ok(conditions.includes('DisruptionTarget'));
  });

  it('of a pod that is gone, terminates or is another one is nobody’s', () => {
    const gone = play(ours, undefined, 'another');
    assert.deepEqual(gone.outcome, { kind: 'gone' });
    assert.ok(gone.conditions.includes('DisruptionTarget'));
  });
});

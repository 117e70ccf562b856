// The Deployment of a single pod is restarted as kubectl does it, or it is said why not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import type { Outcome } from '@taintmgr/core';
import { deployment, namespace, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { rolloutRestarting } from '../../../src/controller/procedures/rollout-restart.ts';
import type { Answer } from '../../../src/proto/answer.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { answerOf } from '../../world/answer-of.ts';
import { playSteps } from '../../world/steps.ts';

type Spec = Readonly<Record<string, unknown>>;

interface Played {
  readonly outcome: Outcome;
  /** When the rollout was restarted, by the template. */
  readonly restartedAt: string | undefined;
  readonly requests: readonly string[];
}

const revision = 'deployment.kubernetes.io/revision';
const start = Date.parse('2026-01-31T18:00:00Z');

interface Given {
  readonly spec?: Spec;
  /** Of the Deployment; its ReplicaSet is the first. */
  readonly revision?: string;
  readonly observed?: boolean;
  readonly owner?: object;
  /** Happens when the Deployment has been read. */
  readonly between?: (api: ApiServer) => void;
}

function play({
  spec = {},
  revision: current = '1',
  observed = true,
  owner,
  between,
}: Given): Played {
  const api = new ApiServer({ clock: new VirtualClock(start), random: seededRandom(1) });
  api.create('namespaces', namespace('shop'));
  const made = deployment('shop', 'web', { replicas: 1 });
  const { metadata } = api.create('deployments', {
    ...made,
    metadata: { ...made.metadata, annotations: { [revision]: current } },
    spec: { ...made.spec, ...spec },
  });
  const stored = api.get('deployments', 'shop', 'web') ?? assert.fail();
  const observedGeneration = observed ? stored.metadata.generation : 0;
  api.update('deployments', { ...stored, status: { observedGeneration } }, 'status');
  const { name, uid = '' } = metadata;
  const deploymentOwner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    uid,
    controller: true,
  };
  api.create('replicasets', {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web-1',
      namespace: 'shop',
      annotations: { [revision]: '1' },
      ownerReferences: [{ ...deploymentOwner, ...owner }],
    },
    spec: { ...made.spec },
  });
  const requests: string[] = [];
  const pod = { namespace: 'shop', name: 'web-1-abc', uid: 'u', nodeName: 'n1' };
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1' };
  const command = {
    kind: 'restartRollout',
    id: 'c1',
    drain: 'd',
    uid: 'd1',
    pod,
    owner: set,
  } as const;
  const outcome = playSteps(rolloutRestarting(command).steps, answered, start);
  function answered(request: ApiRequest): Answer {
    const { method, path } = request;
    requests.push(`${method} ${path}`);
    const answer = answerOf(api, request);
    if (method === 'GET' && path.includes('/deployments/') && requests.length === 2) between?.(api);
    return answer;
  }
  const { template } = (api.get('deployments', 'shop', 'web') ?? assert.fail()).spec;
  const restartedAt = template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt'];
  return { outcome, restartedAt, requests };
}

describe('the restart of a rollout', () => {
  it('is another one within the second of the last', () => {
    const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-31T18:00:00Z' };
    const { template } = deployment('shop', 'web', { replicas: 1 }).spec;
    const spec = { template: { ...template, metadata: { ...template.metadata, annotations } } };
    assert.equal(play({ spec }).restartedAt, '2026-01-31T18:00:01Z');
  });

  it('is the patch of kubectl rollout restart', () => {
    const { outcome, restartedAt, requests } = play({});
    assert.deepEqual(outcome, { kind: 'done' });
    assert.equal(restartedAt, '2026-01-31T18:00:00Z');
    const path = '/apis/apps/v1/namespaces/shop';
    assert.deepEqual(requests, [
      `GET ${path}/replicasets/web-1`,
      `GET ${path}/deployments/web`,
      `PATCH ${path}/deployments/web?fieldManager=taintmgr-controller`,
    ]);
  });

  it('reads the Deployment again when somebody else has written it', () => {
    const { outcome, restartedAt, requests } = play({
      between: (api) => {
        const one = api.get('deployments', 'shop', 'web') ?? assert.fail();
        api.update('deployments', { ...one, metadata: { ...one.metadata, labels: { a: 'b' } } });
      },
    });
    assert.deepEqual(outcome, { kind: 'done' });
    assert.notEqual(restartedAt, undefined);
    assert.equal(requests.length, 5);
  });

  it('is left to a rollout that is under way', () => {
    for (const given of [{ revision: '2' }, { observed: false }]) {
      const { outcome, restartedAt } = play(given);
      assert.deepEqual([outcome, restartedAt], [{ kind: 'done' }, undefined]);
    }
  });

  const unfit: readonly (readonly [given: Given, why: RegExp])[] = [
    [{ spec: { replicas: 2 } }, /^Deployment web has 2 replicas$/],
    [{ spec: { paused: true } }, /is paused$/],
    [{ spec: { strategy: { type: 'Recreate' } } }, /strategy Recreate/],
    [{ spec: rolling({ maxSurge: 0, maxUnavailable: 1 }) }, /maxSurge/],
    [{ spec: rolling({ maxSurge: 1, maxUnavailable: 1 }) }, /maxUnavailable/],
    [{ spec: rolling({ maxSurge: 1, maxUnavailable: '100%' }) }, /maxUnavailable/],
    [{ owner: { kind: 'Rollout', apiVersion: 'argoproj.io/v1alpha1' } }, /is of no Deployment$/],
  ];
  for (const [given, why] of unfit) {
    it(`is not asked for: ${why.source}`, () => {
      const { outcome, restartedAt } = play(given);
      assert.ok(outcome.kind === 'changed');
      assert.match(outcome.message, why);
      assert.equal(restartedAt, undefined);
    });
  }

  it('is of no Deployment of another uid', () => {
    assert.deepEqual(play({ owner: { uid: 'other' } }).outcome, { kind: 'gone' });
  });
});

function rolling(rollingUpdate: object): Spec {
  return { strategy: { type: 'RollingUpdate', rollingUpdate } };
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCommand, Taint } from '@taintmgr/core';
import { nodeWrite } from '../../../src/controller/procedures/node-write.ts';
import type { Answer } from '../../../src/proto/answer.ts';
import { PlayedSteps } from '../../world/steps.ts';

// Commands about nodes as requests: each line of a story is an answer, the last one the outcome.

const now = Date.parse('2026-01-01T00:01:00Z');
const node = { name: 'n1', uid: 'u-n1' };
const pod = { namespace: 'shop', name: 'web', uid: 'u-web', nodeName: 'n1' };
const heard = '2026-01-01T00:00:00Z';
const silent = [
  {
    type: 'Ready',
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'm',
    heartbeatAt: Date.parse(heard),
    transitionAt: now,
  },
];
const seen = { status: 'True', heartbeatAt: Date.parse(heard) };
const unreachable = { key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoExecute' };
const added: Taint = { ...unreachable, timeAdded: now };
const kept = { key: 'dedicated', value: 'db', effect: 'NoSchedule', extra: 'stays' };

describe('changeTaints', () => {
  const change = {
    kind: 'changeTaints',
    id: 'c',
    node,
    add: [added],
    remove: [],
    fresh: false,
  } as const;
  const command: NodeCommand = { ...change, seen: 'Unknown', because: [] };

  it('reads from the cache, and writes the whole list with the version it read', () => {
    const run = start(command);
    assert.equal(run.asked(), 'GET /api/v1/nodes/n1?resourceVersion=0');
    run.answer(200, nodeObject({ taints: [kept] }, 'Unknown'));
    assert.equal(run.asked(), 'PATCH /api/v1/nodes/n1');
    assert.deepEqual(run.body(), {
      metadata: { resourceVersion: '7' },
      spec: {
        taints: [
          kept,
          { key: unreachable.key, effect: 'NoExecute', timeAdded: '2026-01-01T00:01:00Z' },
        ],
      },
    });
    assert.deepEqual(run.answer(200, {}), { kind: 'done' });
  });

  it('reads past the cache when asked to', () => {
    assert.equal(start({ ...command, fresh: true }).asked(), 'GET /api/v1/nodes/n1');
  });

  it('leaves a taint that is there as it is, unless it is to be overwritten', () => {
    const there = { ...unreachable, timeAdded: heard };
    const object = nodeObject({ taints: [there] }, 'Unknown');
    assert.deepEqual(start(command).answer(200, object), { kind: 'done' });
    const run = start({ ...command, overwrite: true });
    run.answer(200, object);
    assert.match(JSON.stringify(run.body()), /2026-01-01T00:01:00Z/);
  });

  it('writes null for no taints', () => {
    const run = start({ ...command, add: [], remove: [unreachable] });
    run.answer(200, nodeObject({ taints: [unreachable] }, 'Unknown'));
    assert.deepEqual(run.body(), { metadata: { resourceVersion: '7' }, spec: { taints: null } });
  });

  it('notes what rules own in the same write', () => {
    const run = start({ ...command, owned: { 'a:NoExecute': 'rule' } });
    run.answer(200, nodeObject({}, 'Unknown'));
    assert.deepEqual(run.body().metadata, {
      annotations: { 'taintmgr.dev/owned-taints': '{"a:NoExecute":"rule"}' },
      resourceVersion: '7',
    });
  });

  const failures: [string, number, object, object][] = [
    ['another node of the name', 200, nodeObject({}, 'Unknown', 'u-other'), { kind: 'gone' }],
    ['a node that is gone', 404, {}, { kind: 'gone' }],
    [
      'a node that is ready by now',
      200,
      nodeObject({}, 'True'),
      { kind: 'changed', message: 'Ready is True by now' },
    ],
  ];
  for (const [name, status, object, outcome] of failures) {
    it(name, () => assert.deepEqual(start(command).answer(status, object), outcome));
  }

  it('meets a conflict with what it read from the cache: it reads the node itself, once', () => {
    const run = start(command);
    run.answer(200, nodeObject({}, 'Unknown'));
    assert.equal(run.answer(409, { kind: 'Status', message: 'modified', code: 409 }), null);
    assert.equal(run.asked(), 'GET /api/v1/nodes/n1');
    run.answer(200, nodeObject({}, 'Unknown'));
    assert.deepEqual(run.answer(200, {}), { kind: 'done' });
  });

  it('says of a conflict with what it has just read that it is one', () => {
    const run = start({ ...command, fresh: true });
    run.answer(200, nodeObject({}, 'Unknown'));
    const outcome = run.answer(409, { kind: 'Status', message: 'modified', code: 409 });
    assert.deepEqual(outcome, {
      kind: 'failed',
      status: 409,
      message: 'modified',
      retryAfter: null,
    });
  });
});

describe('setNodeConditions', () => {
  const command: NodeCommand = {
    kind: 'setNodeConditions',
    id: 'c',
    node,
    conditions: silent,
    seen,
    leaseRenewedAt: Date.parse(heard),
  };

  it('reads node and lease, and puts the whole status back', () => {
    const run = start(command);
    assert.equal(run.asked(), 'GET /api/v1/nodes/n1');
    run.answer(200, nodeObject({ providerID: 'x' }, 'True'));
    assert.equal(
      run.asked(),
      'GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1',
    );
    run.answer(200, leaseObject(heard));
    assert.equal(run.asked(), 'PUT /api/v1/nodes/n1/status');
    const body = run.body();
    assert.deepEqual(body.spec, { providerID: 'x' });
    assert.equal(body.metadata.resourceVersion, '7');
    assert.deepEqual(body.status.conditions, [
      { type: 'NetworkUnavailable', status: 'False' },
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'm',
        lastHeartbeatTime: heard,
        lastTransitionTime: '2026-01-01T00:01:00Z',
      },
    ]);
    assert.deepEqual(run.answer(200, {}), { kind: 'done' });
  });

  it('stops when the kubelet has posted since', () => {
    const object = nodeObject({}, 'True', 'u-n1', '2026-01-01T00:00:50Z');
    const outcome = { kind: 'changed', message: 'its kubelet has reported' };
    assert.deepEqual(start(command).answer(200, object), outcome);
  });

  it('stops when the lease has been renewed since', () => {
    const run = start(command);
    run.answer(200, nodeObject({}, 'True'));
    const outcome = { kind: 'changed', message: 'its lease has been renewed' };
    assert.deepEqual(run.answer(200, leaseObject('2026-01-01T00:00:50Z')), outcome);
  });

  it('takes no lease for none', () => {
    const run = start({ ...command, leaseRenewedAt: null });
    run.answer(200, nodeObject({}, 'True'));
    run.answer(404, {});
    assert.equal(run.asked(), 'PUT /api/v1/nodes/n1/status');
  });

  it('does not look at the lease where that is not asked for', () => {
    const { leaseRenewedAt: _, ...blind } = command;
    const run = start(blind);
    run.answer(200, nodeObject({}, 'True'));
    assert.equal(run.asked(), 'PUT /api/v1/nodes/n1/status');
  });
});

describe('markPodNotReady', () => {
  const command: NodeCommand = { kind: 'markPodNotReady', id: 'c', pod };

  it('keeps reason and message', () => {
    const run = start(command);
    assert.equal(run.asked(), 'GET /api/v1/namespaces/shop/pods/web');
    run.answer(200, podObject('True'));
    assert.equal(run.asked(), 'PUT /api/v1/namespaces/shop/pods/web/status');
    assert.deepEqual(run.body().status.conditions, [
      {
        type: 'Ready',
        status: 'False',
        reason: 'r',
        lastTransitionTime: '2026-01-01T00:01:00Z',
      },
    ]);
  });

  it('on an old view looks at the node first', () => {
    const run = start(command, true);
    run.answer(200, podObject('True'));
    assert.equal(run.asked(), 'GET /api/v1/nodes/n1');
    const outcome = run.answer(200, nodeObject({}, 'True'));
    assert.deepEqual(outcome, { kind: 'changed', message: 'its node has reported' });
  });

  it('a pod that is not ready already is left alone, and so is another of the name', () => {
    assert.deepEqual(start(command).answer(200, podObject('False')), { kind: 'gone' });
    assert.deepEqual(start(command).answer(200, podObject('True', 'u-2')), { kind: 'gone' });
  });
});

describe('markPodLost and setNodeLabels', () => {
  it('a lost pod is told why, once', () => {
    const command: NodeCommand = { kind: 'markPodLost', id: 'c', pod, message: 'gone silent' };
    const run = start(command);
    run.answer(200, podObject('True'));
    const { reason, message } = run.body().status;
    assert.deepEqual([reason, message], ['NodeLost', 'gone silent']);
    const again = podObject('True', 'u-web', { reason: 'NodeLost' });
    assert.deepEqual(start(command).answer(200, again), { kind: 'done' });
  });

  it('a webhook’s 404 does not say that the node is gone', () => {
    const command: NodeCommand = { kind: 'setNodeLabels', id: 'c', node, labels: { a: 'b' } };
    const message = 'admission webhook "w.example.com" denied the request: not here';
    const failed = { kind: 'failed', status: 404, message, retryAfter: null };
    assert.deepEqual(start(command).answer(404, { message }), failed);
    const missing = { kind: 'gone' };
    assert.deepEqual(start(command).answer(404, { message: 'nodes "n1" not found' }), missing);
  });

  it('labels are patched without a read', () => {
    const run = start({ kind: 'setNodeLabels', id: 'c', node, labels: { a: 'b' } });
    assert.equal(run.asked(), 'PATCH /api/v1/nodes/n1');
    assert.deepEqual(run.body(), { metadata: { labels: { a: 'b' } } });
  });
});

interface Running {
  /** Method and path of the request under way. */
  asked(): string;
  body(): ReturnType<typeof JSON.parse>;
  /** Answers it; the outcome, if that was the end. */
  answer(status: number, object: object): object | null;
}

function start(command: NodeCommand, confirm = false): Running {
  const played = new PlayedSteps(nodeWrite(command, confirm), now);
  return {
    asked: () => `${played.request.method} ${played.request.path}`,
    body: () => JSON.parse(played.request.body ?? 'null'),
    answer: (status, object) => {
      const answer: Answer = {
        kind: 'response',
        status,
        headers: {},
        body: JSON.stringify(object),
      };
      return played.answer(answer).outcome;
    },
  };
}

function nodeObject(
  spec: object,
  ready: string,
  uid: string = node.uid,
  lastHeartbeatTime: string = heard,
): object {
  const conditions = [
    { type: 'NetworkUnavailable', status: 'False' },
    { type: 'Ready', status: ready, reason: 'old', lastHeartbeatTime },
  ];
  return { metadata: { name: 'n1', uid, resourceVersion: '7' }, spec, status: { conditions } };
}

function leaseObject(renewTime: string): object {
  return { metadata: { name: 'n1' }, spec: { renewTime } };
}

function podObject(ready: string, uid: string = pod.uid, status: object = {}): object {
  const conditions = [{ type: 'Ready', status: ready, reason: 'r' }];
  return { metadata: { name: 'web', namespace: 'shop', uid }, status: { conditions, ...status } };
}

// How EvictionRequests are listed, made and taken back, by the requests that are sent and their answers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import type { WriteEvictionRequest } from '@taintmgr/core/drain';
import {
  evictionRequestsFrom,
  evictionRequestsReading,
  evictionRequestWriting,
} from '../../../src/controller/procedures/eviction-requests.ts';
import { PlayedSteps } from '../../world/steps.ts';

const command = { id: 'c1', drain: 'kernel', uid: 'u1' };
const pod = { namespace: 'shop', name: 'web', uid: 'p1', nodeName: 'n1' };

/** What each request was, what the machine hears of, and the outcome. */
interface Played {
  readonly requests: readonly string[];
  readonly notice: object | null;
  readonly outcome: Outcome;
}

function play(
  task: ReturnType<typeof evictionRequestsReading>,
  answers: readonly (readonly [status: number, body: object])[],
): Played {
  const requests: string[] = [];
  const played = new PlayedSteps(task.steps);
  for (const [status, body] of answers) {
    requests.push(`${played.request.method} ${played.request.path}`);
    played.answer({ kind: 'response', status, headers: {}, body: JSON.stringify(body) });
  }
  const outcome = played.outcome ?? assert.fail('it has not ended');
  return { requests, notice: task.ended?.(outcome, 0) ?? null, outcome };
}

const group = '/apis/lifecycle.k8s.io/v1alpha1';
const list = `${group}/evictionrequests?limit=500`;
const evictions = `${group}/evictions?limit=500`;
const kinds = (...names: string[]): readonly [number, object] => [
  200,
  { resources: names.map((name) => ({ name })) },
];

const reading = (): ReturnType<typeof evictionRequestsReading> =>
  evictionRequestsReading({ kind: 'readEvictionRequests', ...command });

describe('EvictionRequests that are listed', () => {
  const spec = { target: { pod: { name: 'web', uid: 'p1' } }, requester: 'a.io/b' };
  const creationTimestamp = '1970-01-01T00:00:05Z';
  const labels = { 'taintmgr.dev/nodedrain': 'u1' };
  const ours = {
    metadata: { namespace: 'shop', name: 'one', labels, creationTimestamp },
    spec: { ...spec, intent: 'Eviction' },
  };
  const common = { namespace: 'shop', podUid: 'p1', requester: 'a.io/b', responder: null };
  const one = { ...common, name: 'one', intent: 'Eviction', drain: 'u1', failed: null };

  it('fail where the pages do not go on', () => {
    const same = [200, { metadata: { continue: 'more' }, items: [ours] }] as const;
    const { requests, notice } = play(reading(), [kinds('evictionrequests'), same, same]);
    assert.equal(requests.length, 3);
    assert.equal(notice, null);
  });

  it('come page by page, ours with the uid of their drain', () => {
    const failed = { type: 'Failed', status: 'True', reason: 'NoFurtherResponder', message: '' };
    const theirs = {
      metadata: { namespace: 'shop', name: 'two' },
      spec: { ...spec, intent: 'Withdrawn' },
      status: { conditions: [failed] },
    };
    const { requests, notice } = play(reading(), [
      kinds('evictionrequests'),
      [200, { metadata: { continue: 'more' }, items: [ours] }],
      [200, { items: [theirs, {}] }],
    ]);
    assert.deepEqual(requests, [`GET ${group}`, `GET ${list}`, `GET ${list}&continue=more`]);
    const why = 'NoFurtherResponder';
    const withdrawn = { intent: 'Withdrawn', drain: null, failed: why, createdAt: null };
    assert.deepEqual(notice, {
      ...{ kind: 'evictionRequests', drain: 'kernel', isServed: true },
      requests: [
        { ...one, createdAt: 5000 },
        { ...common, name: 'two', ...withdrawn },
        {
          ...{ namespace: '', name: '', podUid: '', requester: '', createdAt: null },
          ...{ intent: 'Eviction', drain: null, failed: null, responder: null },
        },
      ],
    });
  });

  it('come with whoever answers for their pods, as Evictions say', () => {
    const eviction = {
      spec: { target: { pod: { name: 'web', uid: 'p1' } } },
      status: {
        targetResponders: [
          { name: 'a.io/first', state: 'Interrupted' },
          { name: 'a.io/second', state: 'Active' },
        ],
        responders: [
          { name: 'a.io/first', message: 'gave up' },
          {
            ...{ name: 'a.io/second', heartbeatTime: '1970-01-01T00:01:00Z', message: 'half' },
            expectedCompletionTime: '1970-01-01T00:02:00Z',
          },
        ],
      },
    };
    const { requests, notice } = play(reading(), [
      kinds('evictionrequests', 'evictions'),
      [200, { items: [ours] }],
      [200, { items: [eviction, {}] }],
    ]);
    assert.deepEqual(requests, [`GET ${group}`, `GET ${list}`, `GET ${evictions}`]);
    const times = { heartbeatAt: 60_000, expectedAt: 120_000 };
    const responder = { name: 'a.io/second', ...times, message: 'half' };
    assert.deepEqual(notice, {
      ...{ kind: 'evictionRequests', drain: 'kernel', isServed: true },
      requests: [{ ...one, createdAt: 5000, responder }],
    });
  });

  it('come without whoever answers where that may not be seen', () => {
    const { notice, outcome } = play(reading(), [
      kinds('evictionrequests', 'evictions'),
      [200, { items: [ours] }],
      [403, { message: 'no right' }],
    ]);
    assert.deepEqual(outcome, { kind: 'done' });
    assert.deepEqual(notice, {
      ...{ kind: 'evictionRequests', drain: 'kernel', isServed: true },
      requests: [{ ...one, createdAt: 5000 }],
    });
  });

  it('are none where the cluster does not have them', () => {
    const found = { isServed: false, requests: [] };
    const answers: (readonly [number, object])[][] = [
      [[404, {}]],
      [kinds('others')],
      [kinds('evictionrequests'), [404, {}]],
    ];
    for (const one of answers) {
      const { notice, outcome } = play(reading(), one);
      assert.deepEqual(notice, { kind: 'evictionRequests', drain: 'kernel', ...found });
      assert.deepEqual(outcome, { kind: 'done' });
    }
  });

  it('are unknown where that was not allowed', () => {
    const { notice, outcome } = play(reading(), [
      kinds('evictionrequests'),
      [403, { message: 'no right' }],
    ]);
    assert.equal(notice, null);
    assert.equal(outcome.kind === 'failed' && outcome.status, 403);
  });
});

describe('an EvictionRequest of ours', () => {
  const one = '/apis/lifecycle.k8s.io/v1alpha1/namespaces/shop/evictionrequests';
  const create = { kind: 'create', pod } as const;
  const withdraw = { kind: 'withdraw', namespace: 'shop', name: 'drain-u1.p1' } as const;
  const write = (given: WriteEvictionRequest['write'], status: number, reason = ''): Played =>
    play(evictionRequestWriting({ kind: 'writeEvictionRequest', ...command, write: given }), [
      [status, { kind: 'Status', status: 'Failure', reason, message: reason }],
    ]);

  it('is named by drain and pod, and says whose it is', () => {
    const task = evictionRequestWriting({
      kind: 'writeEvictionRequest',
      ...command,
      write: create,
    });
    const { request } = new PlayedSteps(task.steps);
    assert.equal(request.path, `${one}?fieldManager=taintmgr-controller`);
    assert.deepEqual(JSON.parse(request.body ?? ''), {
      apiVersion: 'lifecycle.k8s.io/v1alpha1',
      kind: 'EvictionRequest',
      metadata: {
        namespace: 'shop',
        name: 'drain-u1.p1',
        labels: { 'taintmgr.dev/nodedrain': 'u1' },
      },
      spec: {
        target: { pod: { name: 'web', uid: 'p1' } },
        requester: 'taintmgr.dev/node-drain',
        intent: 'Eviction',
      },
    });
  });

  it('of the taint eviction says that, and is known by that', () => {
    const owner = { ...command, drain: '', uid: 'taint-eviction', write: create };
    const task = evictionRequestWriting({ kind: 'writeEvictionRequest', ...owner });
    const { request } = new PlayedSteps(task.steps);
    const { metadata, spec } = JSON.parse(request.body ?? '');
    assert.deepEqual(metadata, {
      ...{ namespace: 'shop', name: 'taint.p1' },
      labels: { 'taintmgr.dev/taint-eviction': 'true' },
    });
    assert.equal(spec.requester, 'taintmgr.dev/taint-eviction');
    const [known] = evictionRequestsFrom([{ metadata, spec }], []);
    assert.equal(known?.drain, 'taint-eviction');
  });

  it('is there already, or gone already: that is as well', () => {
    assert.deepEqual(write(create, 409, 'AlreadyExists').outcome, { kind: 'done' });
    const { requests, outcome } = write(withdraw, 404, 'NotFound');
    assert.deepEqual(requests, [`DELETE ${one}/drain-u1.p1`]);
    assert.deepEqual(outcome, { kind: 'done' });
  });

  it('was refused: the outcome says so', () => {
    for (const [given, status] of [
      [create, 404],
      [create, 403],
      [withdraw, 403],
    ] as const) {
      const { outcome } = write(given, status);
      assert.equal(outcome.kind === 'failed' && outcome.status, status);
    }
  });
});

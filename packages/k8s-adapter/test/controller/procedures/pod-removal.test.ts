import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import type { Outcome } from '@taintmgr/core';
import { namespace, pod as podObject, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  keepTaintStarts,
  type MarkRefused,
  type Removal,
  type RemovePodOptions,
  removePod,
  unmarking,
} from '../../../src/controller/procedures/pod-removal.ts';
import type { Answer } from '../../../src/proto/answer.ts';
import { type ApiRequest, markDisruptedRequest } from '../../../src/proto/requests.ts';
import { answerOf } from '../../world/answer-of.ts';
import { PlayedSteps } from '../../world/steps.ts';

const pod = { namespace: 'wire-golden', name: 'tol-0s', uid: '<uid-3>', nodeName: 'g3' };
const deletePod = {
  kind: 'deletePod',
  id: 'c1',
  pod,
  guard: 'uid',
  confirm: false,
  generation: 1,
  gracePeriodSeconds: null,
  escalated: false,
  because: [],
} as const;
const evictPod = {
  kind: 'evictPod',
  id: 'c2',
  pod,
  confirm: false,
  gracePeriodSeconds: null,
  because: [],
} as const;
const now = Date.parse('2026-01-01T00:00:00.999Z');

interface Recorded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

const recorded: { answers: Record<string, Recorded> } = JSON.parse(
  readFileSync(
    new URL('../../testdata/controller/procedures/answers.json', import.meta.url),
    'utf8',
  ),
);
const golden = JSON.parse(
  readFileSync(
    new URL('../../testdata/controller/procedures/golden-eviction.json', import.meta.url),
    'utf8',
  ),
);

function answer(name: string): Answer {
  const { status, headers, body } = recorded.answers[name] ?? assert.fail(`no answer ${name}`);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'response', status, headers, body: text };
}

function plain(status: number, headers: Record<string, string> = {}): Answer {
  return { kind: 'response', status, headers, body: '{}' };
}

function said(status: number, message: string): Answer {
  return { kind: 'response', status, headers: {}, body: JSON.stringify({ message }) };
}

const none: Answer = { kind: 'none', message: 'read ECONNRESET' };

describe('the requests of a deletion', () => {
  it('mark the pod as kube-controller-manager does', () => {
    const step = removing(deletePod);
    assert.equal(step.request.method, golden.patch.method);
    assert.equal(step.request.path, golden.patch.path);
    assert.equal(step.request.headers['content-type'], golden.patch.contentType);
    const body = JSON.parse(step.request.body ?? '');
    // Without a read of the pod we do not know its other conditions, so we do not order them.
    const { $setElementOrder: _, ...expected } = structuredClone(golden.patch.body.status);
    delete expected['$setElementOrder/conditions'];
    expected.conditions[0].lastTransitionTime = '2026-01-01T00:00:00Z';
    assert.deepEqual(body, { metadata: { uid: '<uid-3>' }, status: expected });
  });

  it('mark the pod with a message of our own, where kube-controller-manager is refused its mark', () => {
    const [theirs, ours] = [{}, { ownMark: true }].map((options) => {
      const step = removing(deletePod, options);
      return JSON.parse(step.request.body ?? '').status.conditions[0];
    });
    const message = 'taintmgr: deleting due to NoExecute taint';
    assert.deepEqual(ours, { ...theirs, message });
    assert.notEqual(theirs.message, message);
  });

  it('then delete this very pod, with its own grace period', () => {
    const step = removing(deletePod).answer(plain(200));
    assert.equal(step.notice, null);
    assert.equal(step.request.method, golden.delete.method);
    assert.equal(step.request.path, golden.delete.path);
    assert.deepEqual(JSON.parse(step.request.body ?? ''), {
      ...golden.delete.body,
      apiVersion: 'v1',
      preconditions: { uid: '<uid-3>' },
    });
  });

  it('carry a grace period and a dry run', () => {
    const options = { gracePeriodSeconds: 0, dryRun: true };
    const step = removing(deletePod, options);
    assert.ok(step.request.path.endsWith('/status?dryRun=All'));
    step.answer(plain(200));
    const { gracePeriodSeconds, dryRun } = JSON.parse(step.request.body ?? '');
    assert.deepEqual([gracePeriodSeconds, dryRun], [0, ['All']]);
  });
});

describe('a deletion guarded by the name alone', () => {
  const command = { ...deletePod, guard: 'name' } as const;

  it('names no uid in either request, as kube-controller-manager’s DELETE', () => {
    const step = removing(command);
    assert.equal(JSON.parse(step.request.body ?? '').metadata, undefined);
    step.answer(plain(200));
    assert.deepEqual(JSON.parse(step.request.body ?? ''), {
      ...golden.delete.body,
      apiVersion: 'v1',
    });
  });

  it('does not follow where the mark is refused', () => {
    const { outcome } = removing(command).answer(answer('forbidden'));
    assert.ok(outcome?.kind === 'failed');
    assert.equal(outcome.status, 403);
  });
});

describe('the request of an eviction', () => {
  it('names the pod and its uid', () => {
    const step = removing(evictPod, { gracePeriodSeconds: 5 });
    const { method, path, body } = step.request;
    assert.equal(method, 'POST');
    assert.equal(path, '/api/v1/namespaces/wire-golden/pods/tol-0s/eviction');
    assert.deepEqual(JSON.parse(body ?? ''), {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'tol-0s', namespace: 'wire-golden' },
      deleteOptions: { preconditions: { uid: '<uid-3>' }, gracePeriodSeconds: 5 },
    });
  });
});

describe('the answer to the mark', () => {
  const byWebhook = 'admission webhook "w.example.com" denied the request: UID in precondition';
  const byPolicy =
    "pods \"tol-0s\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
  const answers: [string, Answer, Outcome | 'delete' | 'delete, unmarked'][] = [
    ...[400, 401, 403, 404, 409, 413, 422, 429, 500].map(
      (status): [string, Answer, 'delete, unmarked'] => [
        `denied by a webhook that says ${status}`,
        said(status, byWebhook),
        'delete, unmarked',
      ],
    ),
    ...[401, 403, 413, 422].map((status): [string, Answer, 'delete, unmarked'] => [
      `denied by a policy that says ${status}`,
      said(status, byPolicy),
      'delete, unmarked',
    ]),
    ['200', plain(200), 'delete'],
    ['no such pod', answer('not found'), { kind: 'gone' }],
    ['another uid', answer('patch: other uid'), { kind: 'gone' }],
    ['another uid, as a conflict', answer('delete: other uid'), { kind: 'gone' }],
    ['another conflict', plain(409), failed(409, 'HTTP status 409')],
    ['not allowed', answer('forbidden'), 'delete, unmarked'],
    ['not valid', said(422, 'admission says no'), 'delete, unmarked'],
    ['overloaded', answer('overloaded'), overloaded()],
    ['bad token', answer('unauthorized'), failed(401, 'Unauthorized')],
    ['500', said(500, 'etcd'), failed(500, 'etcd')],
    ['none', none, failed(null, 'read ECONNRESET')],
  ];
  for (const [name, given, expected] of answers) {
    it(name, () => {
      const step = removing(deletePod).answer(given);
      if (step.outcome) return assert.deepEqual(step.outcome, expected);
      assert.equal(step.request.method, 'DELETE');
      assert.equal(step.notice === null ? 'delete' : 'delete, unmarked', expected);
    });
  }
});

describe('the answer to what is kept on a node', () => {
  const command = {
    kind: 'keepTaintStarts',
    id: 'c3',
    nodeName: 'g3',
    nodeUid: '<uid-g3>',
    starts: {},
    pauses: [],
    taintsWrittenAt: null,
  } as const;
  const denial = 'admission webhook "w.example.com" denied the request: UID in precondition';
  const answers: [string, Answer, Outcome][] = [
    ['no such node', answer('not found'), { kind: 'gone' }],
    ['another uid', answer('patch: other uid'), { kind: 'gone' }],
    ['a webhook that says 404', said(404, denial), failed(404, denial)],
    ['a webhook that says 409', said(409, denial), failed(409, denial)],
  ];
  for (const [name, given, expected] of answers) {
    it(name, () =>
      assert.deepEqual(new PlayedSteps(keepTaintStarts(command)).answer(given).outcome, expected),
    );
  }
});

describe('the answer to the deletion', () => {
  const answers: [string, Answer, Outcome][] = [
    ['200', plain(200), { kind: 'done' }],
    ['202', plain(202), { kind: 'done' }],
    ['no such pod', answer('not found'), { kind: 'gone' }],
    ['another uid', answer('delete: other uid'), { kind: 'gone' }],
    [
      'another uid, seen by the storage layer',
      said(409, 'Precondition failed: UID in precondition: a, UID in object meta: '),
      { kind: 'gone' },
    ],
    [
      'another conflict',
      answer('delete: other resourceVersion'),
      failed(409, messageOf('delete: other resourceVersion')),
    ],
    ['not allowed', answer('forbidden'), failed(403, messageOf('forbidden'))],
    ['overloaded', answer('overloaded'), overloaded()],
    ['a redirect', plain(302), failed(302, 'HTTP status 302')],
    ['none', none, failed(null, 'read ECONNRESET')],
  ];
  for (const [name, given, expected] of answers) {
    it(name, () =>
      assert.deepEqual(removing(deletePod).answer(plain(200)).answer(given).outcome, expected),
    );
  }
});

describe('the answer to the eviction', () => {
  const budget = 'The disruption budget web-pdb needs 1 healthy pods and has 1 currently';
  const denial = 'admission webhook "w.example.com" denied the request: UID in precondition';
  const fresh = 'The disruption budget fresh is still being processed by the server.';
  const answers: [string, Answer, Outcome][] = [
    ['201', plain(201), { kind: 'done' }],
    ['no such pod', answer('not found'), { kind: 'gone' }],
    ['another uid', answer('delete: other uid'), { kind: 'gone' }],
    [
      'held by a budget',
      answer('eviction: budget'),
      {
        kind: 'blocked',
        message: budget,
        retryAfter: null,
        budget: { name: 'web-pdb', needs: 1, has: 1 },
      },
    ],
    [
      'held by a budget nobody has looked at',
      answer('eviction: budget not yet observed'),
      { kind: 'blocked', message: fresh, retryAfter: 10_000, budget: null },
    ],
    ...['poddisruptionbudget', 'poddisruptionbudgets'].map(
      (resource): [string, Answer, Outcome] => {
        const message = `${resource}.policy "web" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller`;
        return [
          `held by a budget that waits for too many evictions, of ${resource}`,
          said(403, message),
          { kind: 'blocked', message, retryAfter: null, budget: null },
        ];
      },
    ),
    [
      'its namespace is going',
      {
        kind: 'response',
        status: 403,
        headers: {},
        body: JSON.stringify({
          message: 'forbidden',
          details: { causes: [{ reason: 'NamespaceTerminating', message: 'x' }] },
        }),
      },
      {
        kind: 'failed',
        status: 403,
        cause: 'NamespaceTerminating',
        message: 'forbidden',
        retryAfter: null,
      },
    ],
    [
      'two budgets',
      answer('eviction: two budgets'),
      failed(500, messageOf('eviction: two budgets')),
    ],
    ...[400, 403, 404, 409, 429, 500].map((status): [string, Answer, Outcome] => [
      `kept by a webhook that says ${status}`,
      said(status, denial),
      failed(status, denial),
    ]),
    ['overloaded', answer('overloaded'), overloaded()],
    ['none', none, failed(null, 'read ECONNRESET')],
  ];
  for (const [name, given, expected] of answers) {
    it(name, () => assert.deepEqual(removing(evictPod).answer(given).outcome, expected));
  }
});

describe('the budget that refuses the eviction of a NodeDrain', () => {
  const command = { ...evictPod, ofDrain: true, readsBudget: true } as const;
  const refusedBy = (given: Answer) => removing(command).answer(given);

  it('is read by the name in the refusal', () => {
    const step = refusedBy(answer('eviction: budget'));
    const path = '/apis/policy/v1/namespaces/wire-golden/poddisruptionbudgets/web-pdb';
    assert.deepEqual([step.request.method, step.request.path], ['GET', path]);
    const status = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    const body = JSON.stringify({ metadata: { name: 'web-pdb' }, status });
    const found = step.answer({ kind: 'response', status: 200, headers: {}, body }).outcome;
    assert.ok(found?.kind === 'blocked');
    assert.deepEqual([found.found?.name, found.found?.expected], ['web-pdb', 1]);
  });

  for (const [name, given] of [
    ['forbidden', plain(403)],
    ['gone', plain(404)],
    ['not answered', none],
  ] as const) {
    it(`is not known where that is ${name}`, () => {
      const found = refusedBy(answer('eviction: budget')).answer(given).outcome;
      assert.deepEqual(found?.kind === 'blocked' && found.found, null);
    });
  }
});

describe('a pod that goes for the taint of a device', () => {
  const taint = { key: 'health', value: 'bad', effect: 'NoExecute', timeAdded: now } as const;
  const device = { driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' };
  const source = { kind: 'rule', name: 'ecc' } as const;
  const counts = { start: now, startSource: 'timeAdded', deadline: now } as const;
  const tainted = { device, claim: 'gpu', source };
  const because = [{ code: 'NoToleration', taint, device: tainted, ...counts }] as const;
  const devices = {
    resourceslices: '/apis/resource.k8s.io/v1/resourceslices',
    resourceclaims: '/apis/resource.k8s.io/v1/resourceclaims',
    devicetaintrules: '/apis/resource.k8s.io/v1beta2/devicetaintrules',
  };
  const json = (body: object): Answer => {
    return { kind: 'response', status: 200, headers: {}, body: JSON.stringify(body) };
  };
  const podRead = json({ metadata: { name: pod.name, namespace: pod.namespace, uid: pod.uid } });
  const claim = json({
    metadata: { name: 'gpu' },
    status: {
      allocation: { devices: { results: [{ ...device, request: 'r' }] } },
      reservedFor: [{ resource: 'pods', name: pod.name, uid: pod.uid }],
    },
  });
  const rule = (timeAdded: number): Answer =>
    json({
      metadata: { name: 'ecc' },
      spec: {
        deviceSelector: { pool: 'n1' },
        taint: { ...taint, timeAdded: new Date(timeAdded).toISOString() },
      },
    });
  const asked = (removal: RemovePodOptions = { devices }): PlayedSteps<Outcome, MarkRefused> => {
    const command = { ...evictPod, because, confirm: true };
    return new PlayedSteps(removePod(command, now, removal, true), now);
  };

  it('goes when its claim and the rule are as they were; its node is not asked for', () => {
    const step = asked();
    const paths = [podRead, claim, rule(now)].map((given) => {
      const { path } = step.request;
      step.answer(given);
      return path;
    });
    assert.deepEqual(paths, [
      '/api/v1/namespaces/wire-golden/pods/tol-0s',
      '/apis/resource.k8s.io/v1/namespaces/wire-golden/resourceclaims/gpu',
      '/apis/resource.k8s.io/v1beta2/devicetaintrules/ecc',
    ]);
    assert.match(step.request.path, /\/eviction$/);
  });

  const kept: readonly [string, readonly Answer[], string | RegExp][] = [
    ['the claim is gone', [plain(404)], 'claim gpu is gone'],
    ['the rule is gone', [claim, plain(404)], /is not tainted health=bad:NoExecute/],
    ['the rule counts anew', [claim, rule(now + 60_000)], /was added at another time$/],
  ];
  for (const [name, answers, message] of kept) {
    it(`stays where ${name}`, () => {
      const step = asked().answer(podRead);
      for (const given of answers) step.answer(given);
      assert.ok(step.outcome?.kind === 'changed');
      assert.match(step.outcome.message, new RegExp(message));
    });
  }

  it('is tried again where one of them cannot be read', () => {
    for (const answers of [[plain(500)], [claim, plain(500)]]) {
      const step = asked().answer(podRead);
      for (const given of answers) step.answer(given);
      assert.equal(step.outcome?.kind, 'failed');
    }
    assert.equal(asked({}).answer(podRead).outcome?.kind, 'changed');
  });

  it('is marked with the reason for devices, and with a message of our own beside another', () => {
    for (const [ownMark, message] of [
      [false, 'Device Taint manager: deleting due to NoExecute taint'],
      [true, 'taintmgr: deleting due to NoExecute taint'],
    ] as const) {
      const step = removing({ ...deletePod, because }, { ownMark });
      const [condition] = JSON.parse(step.request.body ?? '').status.conditions;
      assert.equal(condition.reason, 'DeletionByDeviceTaintManager');
      assert.equal(condition.message, message);
    }
  });
});

function removing(
  command: Removal,
  options: RemovePodOptions = {},
): PlayedSteps<Outcome, MarkRefused> {
  return new PlayedSteps(removePod(command, now, options), now);
}

function failed(status: number | null, message: string): Outcome {
  return { kind: 'failed', status, message, retryAfter: null };
}

function overloaded(): Outcome {
  const message = 'Too many requests, please try again later.';
  return { kind: 'failed', status: 429, message, retryAfter: 1000 };
}

function messageOf(name: string): string {
  const body = recorded.answers[name]?.body as { message: string };
  return body.message;
}

// Our condition DisruptionTarget is taken away, and nobody else's, as the API server has it.

const ours = 'taintmgr-controller';

function sendAs(api: ApiServer, request: ApiRequest, program: string): Answer {
  const headers = { ...request.headers, 'user-agent': `${program}/1` };
  return answerOf(api, { ...request, headers });
}

interface Unmarked {
  readonly outcome: Outcome;
  readonly conditions: readonly string[];
}

/** Marked by a program; `between` happens when the pod has been read. */
function unmarkPlayed(
  program: string,
  between: (api: ApiServer) => void = () => {},
  uid?: string,
): Unmarked {
  const api = new ApiServer({ clock: new VirtualClock(0), random: seededRandom(1) });
  api.create('namespaces', namespace('shop'));
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  const { metadata } = api.create('pods', podObject('shop', 'web', { spec: { nodeName: 'n1' } }));
  const bare = api.get('pods', 'shop', 'web') ?? assert.fail();
  api.update('pods', { ...bare, status: ready }, 'status');
  const ref = { namespace: 'shop', name: 'web', uid: uid ?? metadata.uid ?? '', nodeName: 'n1' };
  sendAs(api, markDisruptedRequest({ ...ref, uid: metadata.uid ?? '' }, 1, 0), program);
  const played = new PlayedSteps(unmarking({ kind: 'unmarkPod', id: 'c1', pod: ref }).steps);
  played.answer(sendAs(api, played.request, ours));
  between(api);
  if (played.outcome === null) played.answer(sendAs(api, played.request, ours));
  const conditions: readonly { readonly type: string }[] =
    api.get('pods', 'shop', 'web')?.status?.conditions ?? [];
  return {
    outcome: played.outcome ?? assert.fail(),
    conditions: conditions.map(({ type }) => type),
  };
}

describe('the condition DisruptionTarget', () => {
  it('of ours is taken away, and the others stay', () => {
    const { outcome, conditions } = unmarkPlayed(ours);
    assert.deepEqual(outcome, { kind: 'done' });
    assert.ok(!conditions.includes('DisruptionTarget'));
    assert.ok(conditions.includes('Ready'));
  });

  it('of kube-controller-manager stays', () => {
    const { outcome, conditions } = unmarkPlayed('kube-controller-manager');
    assert.equal(outcome.kind, 'changed');
    assert.ok(conditions.includes('DisruptionTarget'));
  });

  it('of a pod that has changed since it was read stays', () => {
    const { outcome, conditions } = unmarkPlayed(ours, (api) => {
      const one = api.get('pods', 'shop', 'web') ?? assert.fail();
      api.update('pods', { ...one, metadata: { ...one.metadata, labels: { a: 'b' } } });
    });
    assert.equal(outcome.kind, 'changed');
    assert.ok(conditions.includes('DisruptionTarget'));
  });

  it('of a pod that is gone, terminates or is another one is nobody’s', () => {
    const gone = unmarkPlayed(ours, undefined, 'another');
    assert.deepEqual(gone.outcome, { kind: 'gone' });
    assert.ok(gone.conditions.includes('DisruptionTarget'));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ApiRequest, node, pdb, pod, taint, toleration } from '@taintmgr/sim-cluster';
import {
  type TaintManagerOptions,
  TaintManagerStandIn,
} from '../../src/server/taint-manager-stand-in.ts';
import { fixture, start } from '../world/api-fixture.ts';

// What kube-controller-manager's taint eviction sends, as recorded from a real one.

function world(options: Partial<TaintManagerOptions> = {}) {
  const { api, pass } = fixture();
  const sent: ApiRequest[] = [];
  api.create('nodes', node('n1'));
  const exchange: TaintManagerOptions['exchange'] = (request, sink) => {
    sent.push(request);
    return api.exchange(request, sink);
  };
  const manager = new TaintManagerStandIn({ api, exchange, ...options });
  const place = (name: string, seconds: readonly (number | undefined)[] = []): void => {
    const tolerations = seconds.map((one) => ({ ...toleration('bad:NoExecute', one) }));
    api.create('pods', pod('default', name, { spec: { nodeName: 'n1', tolerations } }));
  };
  const setTaints = (...texts: readonly string[]): void => {
    const known = api.get('nodes', '', 'n1');
    assert.ok(known);
    api.update('nodes', { ...known, spec: { ...known.spec, taints: texts.map(taint) } });
  };
  const deleted = (): readonly string[] =>
    sent.flatMap(({ method, path }) => (method === 'DELETE' ? [path.split('/').at(-1) ?? ''] : []));
  return { api, pass, sent, manager, place, setTaints, deleted };
}

it('marks a pod and deletes it with empty options, and asks no budget', () => {
  const { api, pass, sent, manager, place, setTaints } = world();
  api.create('poddisruptionbudgets', pdb('default', 'web', { minAvailable: 1 }));
  place('web');
  const { uid } = api.get('pods', 'default', 'web')?.metadata ?? {};
  manager.start();
  setTaints('bad:NoExecute');
  pass(0);
  const path = '/api/v1/namespaces/default/pods/web';
  assert.deepEqual(
    sent.map((request) => [request.method, request.path]),
    [
      ['GET', path],
      ['PATCH', `${path}/status`],
      ['DELETE', path],
    ],
  );
  assert.deepEqual(JSON.parse(String(sent[1]?.body)), {
    metadata: { uid },
    status: {
      conditions: [
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'DeletionByTaintManager',
          message: 'Taint manager: deleting due to NoExecute taint',
          lastTransitionTime: new Date(start).toISOString().replace('.000', ''),
          lastProbeTime: null,
          observedGeneration: 1,
        },
      ],
    },
  });
  assert.equal(sent[2]?.body, null);
  assert.match(sent[0]?.headers['user-agent'] ?? '', /^kube-controller-manager\//);
});

describe('a pod that is marked already', () => {
  const mark = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: '2025-12-31T23:00:00Z',
  };
  const cases: readonly [string, object, boolean][] = [
    ['with the very mark', {}, false],
    ['by another generation', { observedGeneration: 7 }, false],
    ['with another message', { message: 'by somebody else' }, true],
    ['without a message', { message: undefined }, true],
    ['for another reason', { reason: 'PreemptionByScheduler' }, true],
    ['and is not any more', { status: 'False' }, true],
    ['with a time of a probe', { lastProbeTime: '2025-12-31T23:00:00Z' }, true],
  ];
  for (const [name, more, isPatched] of cases) {
    it(`${name}, is ${isPatched ? 'marked anew' : 'deleted without a patch'}`, () => {
      const { api, pass, sent, manager, place, setTaints, deleted } = world();
      place('web');
      const found = api.get('pods', 'default', 'web');
      assert.ok(found);
      const status = { ...found.status, conditions: [{ ...mark, ...more }] };
      api.update('pods', { ...found, status }, 'status');
      manager.start();
      setTaints('bad:NoExecute');
      pass(0);
      const patches = sent.filter(({ method }) => method === 'PATCH');
      assert.equal(patches.length, isPatched ? 1 : 0);
      assert.deepEqual(deleted(), ['web']);
      if (!isPatched) return;
      const [condition] = JSON.parse(String(patches[0]?.body)).status.conditions;
      const isNew = 'status' in more;
      assert.equal(condition.message, mark.message);
      assert.equal(
        condition.lastTransitionTime !== mark.lastTransitionTime,
        isNew,
        'its time stays',
      );
    });
  }
});

it('lets the first toleration of each taint say how long, and moves no deadline', () => {
  const { pass, manager, place, setTaints, deleted } = world();
  place('first', [2, 9]);
  place('for-ever', [undefined, 2]);
  manager.start();
  setTaints('bad:NoExecute');
  pass(1000);
  setTaints('bad:NoExecute', 'other:NoSchedule');
  pass(999);
  assert.deepEqual(deleted(), []);
  pass(1);
  assert.deepEqual(deleted(), ['first']);
});

it('of several taints takes the shortest time, and those for ever do not count', () => {
  const { api, pass, manager, setTaints, deleted } = world();
  const place = (name: string, bad?: number, worse?: number): void => {
    const tolerations = [
      { ...toleration('bad:NoExecute', bad) },
      { ...toleration('worse:NoExecute', worse) },
    ];
    api.create('pods', pod('default', name, { spec: { nodeName: 'n1', tolerations } }));
  };
  place('short', 60, 10);
  place('one', undefined, 20);
  place('none');
  place('at-once', 60, -1);
  manager.start();
  setTaints('bad:NoExecute', 'worse:NoExecute');
  pass(0);
  assert.deepEqual(deleted(), ['at-once']);
  pass(10_000);
  assert.deepEqual(deleted(), ['at-once', 'short']);
  pass(10_000);
  assert.deepEqual(deleted(), ['at-once', 'short', 'one']);
  pass(600_000);
  assert.deepEqual(deleted(), ['at-once', 'short', 'one']);
});

it('forgets a deadline when the taint goes, and starts anew when it comes back', () => {
  const { pass, manager, place, setTaints, deleted } = world();
  place('web', [2]);
  manager.start();
  setTaints('bad:NoExecute');
  pass(1000);
  setTaints();
  pass(5000);
  setTaints('bad:NoExecute');
  pass(1999);
  assert.deepEqual(deleted(), []);
  pass(1);
  assert.deepEqual(deleted(), ['web']);
});

it('gives a pod up after five refused attempts', () => {
  const { api, pass, sent, manager, place, setTaints } = world();
  const fault = { kind: 'answer', code: 500 } as const;
  api.faults.add({ fault, verbs: ['patch'], resource: 'pods/status' });
  place('web');
  manager.start();
  setTaints('bad:NoExecute');
  pass(60_000);
  const tries = Array.from({ length: 5 }, () => ['GET', 'PATCH']);
  assert.deepEqual(
    sent.map(({ method }) => method),
    tries.flat(),
  );
});

it('holds a lease and has a pod only where it is told to', () => {
  const bare = world();
  bare.manager.start();
  bare.pass(10_000);
  assert.deepEqual(bare.sent, []);
  assert.deepEqual(bare.api.list('pods', 'kube-system'), []);

  const flags = ['--leader-elect=false'];
  const { api, pass, manager } = world({ lease: true, pod: { nodeName: 'n1', flags } });
  manager.start();
  const renewed = (): string =>
    api.get('leases', 'kube-system', 'kube-controller-manager')?.spec.renewTime;
  const first = renewed();
  pass(2000);
  assert.notEqual(renewed(), first);
  const [seen] = api.list('pods', 'kube-system');
  assert.equal(seen?.metadata.labels?.component, 'kube-controller-manager');
  assert.ok(seen?.spec.containers[0].command.includes('--leader-elect=false'));
  manager.stop();
  const last = renewed();
  pass(60_000);
  assert.equal(renewed(), last);
});

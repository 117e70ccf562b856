import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { describeReason } from '@taintmgr/core';
import {
  ApiClient,
  ApiError,
  ConnectionError,
  HttpTransport,
  loadKubeconfig,
  type Notice,
  resumeLimitsRequest,
} from '@taintmgr/k8s-adapter';
import { node, pdb, pod, type Rule, toleration } from '@taintmgr/sim-cluster';
import { readPolicies } from '../../src/flags/policy-files.ts';
import { errorLines } from '../../src/process/program.ts';
import { type ControllerOptions, runController } from '../../src/process/run-controller.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

// The controller in this process, against an API server over HTTPS.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const bad = { key: 'bad', effect: 'NoExecute' };

const limitsLease = { namespace: 'default', name: 'limits' };

interface Running {
  /** Resolves with the first notice of this kind about this pod. */
  saw(kind: Notice['kind'], podName?: string): Promise<Notice>;
  stop(): Promise<void>;
  readonly result: Promise<void>;
}

async function start(
  t: TestContext,
  { kubeconfig }: TestApi,
  engine: ControllerOptions['engine'] = {},
  others: Partial<ControllerOptions> = {},
): Promise<Running> {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const notices: Notice[] = [];
  let wake = (): void => {};
  const running = runController({
    cluster: await loadKubeconfig({ kubeconfig }),
    engine,
    signal: stop.signal,
    onNotice: (notice) => {
      notices.push(notice);
      wake();
    },
    limitsLease,
    ...others,
  });
  const find = (kind: Notice['kind'], podName: string) =>
    notices.find(
      (notice) => notice.kind === kind && (podName === '' || nameIn(notice) === podName),
    );
  return {
    saw: async (kind, podName = '') => {
      for (;;) {
        const found = find(kind, podName);
        if (found) return found;
        const more = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await Promise.race([more, running.then(() => assert.fail(`ended without ${kind}`))]);
      }
    },
    stop: () => {
      stop.abort();
      return running;
    },
    result: running,
  };
}

function nameIn(notice: Notice): string {
  if (notice.kind === 'report') return 'pod' in notice.report ? notice.report.pod.name : '';
  if ('event' in notice) return notice.event.subject.name;
  return 'command' in notice && 'pod' in notice.command ? notice.command.pod.name : '';
}

async function startWithNode(t: TestContext, rules: readonly Rule[] = [everything]) {
  const started = await startTestApi(rules);
  t.after(() => started.stop());
  started.api.create('nodes', node('n1'));
  return started;
}

function createPod({ api }: TestApi, name: string, spec: object = {}): void {
  const onNode = { nodeName: 'n1', terminationGracePeriodSeconds: 0, ...spec };
  api.create('pods', pod('default', name, { spec: onNode }));
}

function taintNode({ api }: TestApi): void {
  const one = api.get('nodes', '', 'n1');
  assert.ok(one);
  api.update('nodes', { ...one, spec: { ...one.spec, taints: [bad] } });
}

function setReady({ api }: TestApi, name: string, status: 'True' | 'False'): void {
  const one = api.get('nodes', '', name);
  assert.ok(one);
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  const conditions = [{ type: 'Ready', status, reason: 'Test', message: '', ...times }];
  api.update('nodes', { ...one, status: { ...one.status, conditions } }, 'status');
}

const policyText = `
apiVersion: taintmgr.dev/v1alpha1
kind: EvictionPolicy
metadata: {name: kept}
spec:
  priority: 10
  match:
    namespaceSelector: {matchLabels: {protected: 'yes'}}
  action: Keep
---
apiVersion: taintmgr.dev/v1alpha1
kind: EvictionPolicy
metadata: {name: others}
spec: {action: Evict, gracePeriodSeconds: 7}
`;

describe('runController', () => {
  it('acts by the policies of files, and reads the namespaces that they select', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'taintmgr-run-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'policies.yaml'), policyText);
    const cluster = await startWithNode(t);
    const labels = { protected: 'yes' };
    cluster.api.create('namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'vault', labels },
    });
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0 };
    cluster.api.create('pods', pod('vault', 'stays', { spec }));
    createPod(cluster, 'goes');
    taintNode(cluster);
    const running = await start(
      t,
      cluster,
      {},
      { policies: readPolicies([folder]).map(({ object }) => object) },
    );
    const evicted = await running.saw('commandFinished', 'goes');
    assert.ok(evicted.kind === 'commandFinished' && evicted.command.kind === 'evictPod');
    assert.equal(evicted.command.gracePeriodSeconds, 7);
    const [why] = evicted.command.because.map(describeReason);
    assert.match(why ?? '', /by policy others/);
    await running.stop();
    assert.ok(cluster.api.get('pods', 'vault', 'stays'));
  });

  it('evicts who does not tolerate, later who does for a while, and ends when told to', async (t) => {
    const cluster = await startWithNode(t);
    createPod(cluster, 'at-once');
    createPod(cluster, 'later', { tolerations: [toleration('bad:NoExecute', 1)] });
    createPod(cluster, 'never', { tolerations: [toleration('bad:NoExecute')] });
    const controller = await start(t, cluster);
    await controller.saw('synced');
    const taintedAt = Date.now();
    taintNode(cluster);
    await controller.saw('commandFinished', 'at-once');
    await controller.saw('commandFinished', 'later');
    assert.ok(Date.now() - taintedAt >= 1000, 'not before its time');
    await controller.saw('eventRecorded', 'later');
    await controller.stop();
    const { api } = cluster;
    assert.deepEqual(
      api.list('pods').map(({ metadata }) => metadata.name),
      ['never'],
    );
    createPod(cluster, 'after');
    assert.ok(api.get('pods', 'default', 'after'), 'nobody acts any more');
  });

  it('stops at a limit that trips, stays so after a restart, and goes on when it is resumed', async (t) => {
    const cluster = await startWithNode(t);
    for (const name of ['a', 'b', 'c']) createPod(cluster, name);
    const limits = [{ per: 'total', pods: 1, onLimit: 'trip' }] as const;
    const engine = { limits, keepLimits: true };
    const first = await start(t, cluster, engine);
    await first.saw('synced');
    taintNode(cluster);
    await first.saw('commandFinished');
    const reasons = (): unknown[] => cluster.api.list('events').map((event) => event.reason);
    await first.saw('eventRecorded', limitsLease.name);
    assert.ok(reasons().includes('LimitTripped'));
    await first.stop();
    const left = (): number => cluster.api.list('pods').length;
    assert.equal(left(), 2);

    const second = await start(t, cluster, engine);
    const held = await second.saw('report', 'b');
    assert.ok(held.kind === 'report' && held.report.kind === 'queued' && held.report.hit.tripped);
    assert.equal(left(), 2, 'a third pod goes after a restart');
    const { access } = await loadKubeconfig({ kubeconfig: cluster.kubeconfig });
    const transport = new HttpTransport(access, 'test');
    t.after(() => transport.close());
    const signal = AbortSignal.timeout(120_000);
    const client = new ApiClient({ transport, server: access.server, requestTimeout: 0, signal });
    await client.send(resumeLimitsRequest(limitsLease, { limits: ['total'], by: 'ada' }));
    await second.saw('commandFinished');
    assert.equal(left(), 1);
    const [lease] = cluster.api.list('leases', 'default');
    assert.deepEqual(Object.keys(lease?.metadata.annotations ?? {}), ['taintmgr.dev/limits']);
    await second.stop();
    const message = cluster.api.list('events').find(({ reason }) => reason === 'LimitResumed');
    assert.equal(message?.message, 'Limit total is open again: resumed by ada');
  });

  it('asks disruption budgets in mode evict', async (t) => {
    const cluster = await startWithNode(t);
    createPod(cluster, 'web');
    const { api } = cluster;
    const one = api.get('pods', 'default', 'web');
    assert.ok(one);
    const conditions = [{ type: 'Ready', status: 'True' }];
    api.update(
      'pods',
      { ...one, status: { ...one.status, phase: 'Running', conditions } },
      'status',
    );
    const budget = api.create('poddisruptionbudgets', pdb('default', 'web', { minAvailable: 1 }));
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    api.update('poddisruptionbudgets', { ...budget, status }, 'status');
    taintNode(cluster);
    const controller = await start(t, cluster, { mode: 'evict' });
    const notice = await controller.saw('report', 'web');
    assert.ok(notice.kind === 'report' && notice.report.kind === 'retry');
    assert.equal(
      notice.report.setback.message,
      'The disruption budget web needs 1 healthy pods and has 1 currently',
    );
    await controller.stop();
    assert.ok(api.get('pods', 'default', 'web'));
  });

  it('taints a node that is not ready, and evicts its pods, as the node lifecycle', async (t) => {
    const cluster = await startWithNode(t);
    cluster.api.create('nodes', node('n2'));
    const key = 'node.kubernetes.io/not-ready';
    createPod(cluster, 'web', { tolerations: [toleration(`${key}:NoExecute`, 0)] });
    setReady(cluster, 'n1', 'False');
    setReady(cluster, 'n2', 'True');
    const lifecycle = { nodeMonitorPeriodMs: 50, nodeEvictionRate: 100 };
    const controller = await start(t, cluster, { lifecycle });
    await controller.saw('commandFinished', 'web');
    const taints = cluster.api.get('nodes', '', 'n1')?.spec.taints ?? [];
    assert.ok(
      taints.some((taint: { key: string }) => taint.key === key),
      JSON.stringify(taints),
    );
    await controller.stop();
  });

  it('goes on after the API server was away', async (t) => {
    const cluster = await startWithNode(t);
    createPod(cluster, 'web');
    const controller = await start(t, cluster);
    await controller.saw('synced');
    cluster.api.faults.down = true;
    await controller.saw('reconnecting');
    taintNode(cluster);
    cluster.api.faults.down = false;
    await controller.saw('commandFinished', 'web');
    assert.equal(cluster.api.get('pods', 'default', 'web'), null);
    await controller.stop();
  });

  it('ends at the start without the right to read, and says what it needs', async (t) => {
    const cluster = await startWithNode(t, [
      { verbs: ['list'], apiGroups: [''], resources: ['nodes'] },
    ]);
    const { result } = await start(t, cluster);
    await assert.rejects(result, (error) => {
      assert.ok(error instanceof ApiError);
      assert.match(
        errorLines(error) ?? '',
        /^error: Error from server \(Forbidden\): pods is forbidden: User "controller" cannot list resource "pods" .*\nhint: the permissions it needs are in deploy\/, one ClusterRole for each mode$/,
      );
      return true;
    });
  });

  it('ends at the start when nobody answers, and says what to check', async () => {
    const cluster = await loadKubeconfig({ server: 'https://127.0.0.1:1' });
    const options = { cluster, engine: {}, signal: new AbortController().signal };
    await assert.rejects(runController({ ...options, onNotice: assert.fail }), (error) => {
      assert.ok(error instanceof ConnectionError);
      assert.match(
        errorLines(error) ?? '',
        /^error: request to https:\/\/127\.0\.0\.1:1 failed: .*; check that /,
      );
      return true;
    });
  });

  it('ends in order when told to before it began', async (t) => {
    const { kubeconfig } = await startWithNode(t);
    const cluster = await loadKubeconfig({ kubeconfig });
    const options = { cluster, engine: {}, signal: AbortSignal.abort() };
    await runController({ ...options, onNotice: assert.fail });
  });

  it('errors of ours are not hidden behind a line', () => {
    assert.equal(errorLines(new TypeError('x is undefined')), null);
  });

  for (const protobuf of [false, true]) {
    it(`${protobuf ? 'asks' : 'does not ask'} for protobuf where it is to`, async (t) => {
      const { kubeconfig } = await startWithNode(t);
      const stop = new AbortController();
      const accepted = new Set<string>();
      await runController({
        cluster: await loadKubeconfig({ kubeconfig }),
        engine: {},
        protobuf,
        signal: stop.signal,
        outgoing: (transport) => ({
          send: (request, sink) => {
            if (request.path.includes('watch=true')) accepted.add(`${request.headers.accept}`);
            return transport.send(request, sink);
          },
        }),
        onNotice: ({ kind }) => {
          if (kind === 'synced') stop.abort();
        },
      });
      const json = 'application/json';
      const wanted = protobuf ? `application/vnd.kubernetes.protobuf,${json}` : json;
      assert.deepEqual([...accepted], [wanted]);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type KubeconfigOptions, loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import { node, pdb, pod, type Rule, toleration, type User } from '@taintmgr/sim-cluster';
import { OverlapError } from '../../src/overlap/overlap.ts';
import { ask } from '../harness/https-client.ts';
import { startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

// The controller with its log, its server and its guards, against an API server over HTTPS.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const prometheus: User = {
  name: 'prometheus',
  groups: [],
  rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/metrics/slis'] }],
};
const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
const onlyEviction = '--controllers=taint-eviction-controller';

async function startCluster(t: TestContext): Promise<TestApi> {
  const cluster = await startTestApi([everything], { prometheus, admin });
  t.after(() => cluster.stop());
  cluster.api.create('nodes', node('n1'));
  return cluster;
}

function at({ kubeconfig }: TestApi): KubeconfigOptions {
  return { kubeconfig };
}

function taintNode({ api }: TestApi, name = 'n1'): void {
  const one = api.get('nodes', '', name);
  assert.ok(one);
  api.update('nodes', {
    ...one,
    spec: { ...one.spec, taints: [{ key: 'bad', effect: 'NoExecute' }] },
  });
}

function createPods(cluster: TestApi): void {
  createPod(cluster, 'at-once');
  createPod(cluster, 'later', { tolerations: [toleration('bad:NoExecute', 60)] });
}

function createPod({ api }: TestApi, name: string, spec: object = {}): void {
  const onNode = { nodeName: 'n1', terminationGracePeriodSeconds: 0, ...spec };
  api.create('pods', pod('default', name, { spec: onNode }));
}

describe('--dry-run', () => {
  const ways = ['delete', 'evict'].flatMap((mode) =>
    ['client', 'server'].map((judge) => [mode, judge] as const),
  );
  for (const [mode, dryRun] of ways) {
    it(`=${dryRun} decides and reports in mode ${mode}, and changes nothing`, async (t) => {
      const cluster = await startCluster(t);
      createPods(cluster);
      taintNode(cluster);
      const resources = ['pods', 'nodes', 'events', 'leases'];
      const state = (): object => resources.map((resource) => cluster.api.list(resource));
      const before = structuredClone(state());
      const flags = [`--dry-run=${dryRun}`, `--mode=${mode}`, onlyEviction];
      const controller = await startProcess(t, { connection: at(cluster), flags });
      await controller.saw('dry run: would have evicted', { pod: 'default/at-once', dryRun });
      await controller.saw('dry run: eviction scheduled', { pod: 'default/later', dryRun });
      await controller.saw('recorded event', { pod: 'default/at-once', dryRun });
      await controller.stop();
      assert.deepEqual(state(), before);
      assert.deepEqual(
        controller.lines.filter(({ level }) => level === 'warn' || level === 'error'),
        [],
      );
    });
  }
});

describe('what is served', () => {
  it('is for whom the API server lets read it', async (t) => {
    const cluster = await startCluster(t);
    createPods(cluster);
    const controller = await startProcess(t, { connection: at(cluster), flags: [onlyEviction] });
    await controller.saw('caches synced, evictions start');
    const cases: readonly (readonly [token: string, path: string, status: number])[] = [
      ['', '/readyz', 200],
      ['', '/livez?verbose', 200],
      ['', '/readyz/ping', 403],
      ['', '/metrics', 403],
      ['prometheus', '/metrics', 200],
      ['prometheus', '/metrics/slis', 200],
      ['prometheus', '/statusz', 403],
      ['admin', '/statusz', 200],
      ['admin', '/flagz', 200],
      ['admin', '/readyz/ping', 200],
      ['admin', '/explainz?node=n1', 200],
      ['admin', '/explainz?pod=default/later', 200],
      ['admin', '/explainz?pod=default/other', 404],
      ['admin', '/explainz', 400],
      ['', '/ui', 403],
      ['prometheus', '/ui/events', 403],
      ['', '/evictions', 403],
      ['prometheus', '/evictions', 403],
      ['admin', '/evictions?since=soon', 400],
      ['admin', '/ui', 200],
      ['admin', '/ui/events', 200],
      ['stranger', '/readyz', 401],
    ];
    for (const [token, path, status] of cases) {
      const headers: Record<string, string> =
        token === '' ? {} : { authorization: `Bearer ${token}` };
      const reply = await ask(controller.port, path, { headers });
      assert.equal(reply.status, status, `${token} ${path}: ${reply.body}`);
    }
    const secrets = controller.lines.filter((line) => /Bearer|"token"/.test(JSON.stringify(line)));
    assert.deepEqual(secrets, []);
    await controller.stop();
  });

  it('explains what this process is about to do', async (t) => {
    const cluster = await startCluster(t);
    createPods(cluster);
    taintNode(cluster);
    const open = '--authorization-always-allow-paths=/*';
    const controller = await startProcess(t, {
      connection: at(cluster),
      flags: [open, onlyEviction],
    });
    await controller.saw('eviction scheduled', { pod: 'default/later' });
    const { body } = await ask(controller.port, '/explainz?pod=default/later');
    const [head, row = ''] = body.split('\n');
    assert.match(head ?? '', /^POD +NODE +DECISION +IN +WORK +BECAUSE$/);
    assert.match(
      row,
      /^default\/later +n1 +Evict +(1m(1s)?|\d+s) +waiting +tolerates bad:NoExecute for 1m$/,
    );
    const json = await ask(controller.port, '/explainz?node=n1&output=json');
    const explanation = JSON.parse(json.body);
    assert.deepEqual([explanation.kind, explanation.node.name], ['node', 'n1']);
    const metrics = await ask(controller.port, '/metrics');
    assert.match(metrics.body, /^taintmgr_pending_evictions 1$/m);
    assert.match(
      metrics.body,
      /^rest_client_requests_total\{code="200",host="[^"]+",method="GET"\} /m,
    );
    await controller.stop();
  });
});

describe('a standby', () => {
  it('neither says nor counts that evictions of the leader were called off', async (t) => {
    const cluster = await startCluster(t);
    const flags = [onlyEviction, '--authorization-always-allow-paths=/*'];
    const leader = await startProcess(t, { connection: at(cluster), flags });
    await leader.saw('became the leader');
    const standby = await startProcess(t, { connection: at(cluster), flags });
    await standby.saw('listed pods');
    createPod(cluster, 'soon', { tolerations: [toleration('bad:NoExecute', 1)] });
    taintNode(cluster);
    await standby.saw('eviction scheduled', { pod: 'default/soon' });
    await leader.saw('evicted', { pod: 'default/soon' });
    // Whatever it hears of this one it has heard of the other before.
    createPod(cluster, 'later', { tolerations: [toleration('bad:NoExecute', 60)] });
    await standby.saw('eviction scheduled', { pod: 'default/later' });
    assert.ok(!standby.lines.some(({ msg }) => msg === 'eviction cancelled'));
    const { body } = await ask(standby.port, '/metrics');
    assert.match(body, /^taintmgr_decisions_total\{.*decision="scheduled"/m);
    assert.doesNotMatch(body, /decision="called_off"/);
    assert.match(body, /^taintmgr_pending_evictions 1$/m);
    await Promise.all([leader.stop(), standby.stop()]);
  });
});

describe('beside a kube-controller-manager', () => {
  function putLease({ api }: TestApi): void {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    api.create('leases', {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'kube-controller-manager' },
      spec: { holderIdentity: 'cp_1', leaseDurationSeconds: 15, renewTime },
    });
    const name = 'kube-controller-manager';
    const containers = [{ name, image: name, command: [name] }];
    const made = pod('kube-system', 'kcm-cp', { spec: { containers } });
    api.create('pods', { ...made, metadata: { ...made.metadata, labels: { component: name } } });
  }

  const overlap =
    'kube-controller-manager (cp_1) runs taint-eviction-controller too: ' +
    '--kube-controller-manager-runs says that kube-controller-manager does not do this work, but pod ' +
    'kube-system/kcm-cp runs it (by default); start it with ' +
    '--controllers=*,-taint-eviction-controller, or accept it with --allow-overlap';

  /** What Events say of the lease. */
  function leaseEvents({ api }: TestApi): readonly object[] {
    const { uid } = api.get('leases', 'kube-system', 'kube-controller-manager')?.metadata ?? {};
    return api
      .list('events')
      .filter(({ involvedObject }) => involvedObject.uid === uid)
      .map(({ involvedObject: { kind }, type, reason, message, source }) => {
        return { kind, type, reason, message, component: source.component };
      });
  }

  const warning = {
    kind: 'Lease',
    type: 'Warning',
    reason: 'ControllersOverlap',
    message: overlap,
    component: 'taintmgr',
  };

  it('it refuses to run, and an Event says so', async (t) => {
    const cluster = await startCluster(t);
    putLease(cluster);
    const { result } = await startProcess(t, { connection: at(cluster), flags: [onlyEviction] });
    await assert.rejects(result, new OverlapError(overlap));
    assert.deepEqual(leaseEvents(cluster), [warning]);
  });

  for (const election of ['--leader-elect=true', '--leader-elect=false']) {
    it(`that comes later it stands by, with ${election}`, async (t) => {
      t.mock.timers.enable({ apis: ['setInterval'] });
      const cluster = await startCluster(t);
      const flags = [onlyEviction, election];
      const controller = await startProcess(t, { connection: at(cluster), flags });
      await controller.saw('caches synced, evictions start');
      putLease(cluster);
      t.mock.timers.tick(30_000);
      await controller.saw(`standing by: ${overlap}`);
      await controller.saw('recorded event', { reason: 'ControllersOverlap' });
      createPods(cluster);
      taintNode(cluster);
      await controller.saw('eviction scheduled', { pod: 'default/later' });
      assert.match((await ask(controller.port, '/readyz')).body, /^\[-\]overlap failed/m);
      assert.ok(cluster.api.get('pods', 'default', 'at-once'));
      assert.deepEqual(leaseEvents(cluster), [warning]);
      cluster.api.delete('leases', 'kube-system', 'kube-controller-manager');
      cluster.api.delete('pods', 'kube-system', 'kcm-cp', { gracePeriodSeconds: 0 });
      t.mock.timers.tick(30_000);
      await controller.saw('the overlap has ended');
      await controller.saw('evicted', { pod: 'default/at-once' });
      const messages = controller.lines.map(({ msg }) => msg);
      assert.ok(messages.indexOf('evicting') > messages.indexOf('the overlap has ended'));
      await controller.stop();
    });
  }

  for (const flag of ['--allow-overlap', '--dry-run']) {
    it(`it runs with ${flag}`, async (t) => {
      const cluster = await startCluster(t);
      putLease(cluster);
      const controller = await startProcess(t, {
        connection: at(cluster),
        flags: [flag, onlyEviction],
      });
      const starts =
        flag === '--dry-run' ? 'the dry run starts: nothing is evicted' : 'evictions start';
      await controller.saw(`caches synced, ${starts}`);
      await controller.stop();
    });
  }

  /** A pod that we do not evict, as its budget holds it: whoever asks no budget is always first. */
  function createHeldPod(cluster: TestApi, name: string, nodeName = 'n1'): void {
    const { api } = cluster;
    api.create('poddisruptionbudgets', pdb('default', name, { minAvailable: 1 }));
    createPod(cluster, name, { nodeName });
    const running = api.get('pods', 'default', name);
    assert.ok(running);
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    api.update('pods', { ...running, status }, 'status');
  }

  /** Somebody who evicts for taints, and has neither a lease nor a pod. */
  async function startUnseen(t: TestContext, { kubeconfig }: TestApi): Promise<void> {
    const { access } = await loadKubeconfig({ kubeconfig });
    const manager = new UpstreamManager(access, { lease: false });
    t.after(() => manager.stop());
    manager.start();
  }

  const though = 'though --kube-controller-manager-runs says that it does not';
  const evicts = (name: string): string =>
    `kube-controller-manager evicts for NoExecute taints too, ${though}: it has marked pod ` +
    `default/${name} for deletion, and pods of 2 nodes within 5m`;
  const seemsToEvict = (name: string): string =>
    `kube-controller-manager seems to evict for NoExecute taints too, ${though}: pod default/${name} ` +
    'is marked for deletion in its name; the kubelet of its node can write that as well, so it ' +
    'counts once pods of another node are marked';

  for (const format of ['json', 'vnd.kubernetes.protobuf']) {
    it(`that cannot be seen it stands by when that evicts, reading ${format}`, async (t) => {
      const cluster = await startCluster(t);
      const flags = [
        onlyEviction,
        '--mode=evict',
        '--authorization-always-allow-paths=/*',
        `--kube-api-content-type=application/${format}`,
      ];
      const controller = await startProcess(t, { connection: at(cluster), flags });
      await controller.saw('caches synced, evictions start');
      cluster.api.create('nodes', node('n2'));
      await startUnseen(t, cluster);
      createHeldPod(cluster, 'at-once');
      createHeldPod(cluster, 'other', 'n2');
      taintNode(cluster);
      const cure =
        'start it with --controllers=*,-taint-eviction-controller, or accept it with --allow-overlap';
      await controller.saw(seemsToEvict('at-once'), { manager: 'kube-controller-manager' });
      await controller.saw('recorded event', { reason: 'EvictedByOther', pod: 'default/at-once' });
      taintNode(cluster, 'n2');
      await controller.saw(evicts('other'), { manager: 'kube-controller-manager' });
      await controller.saw(`standing by: ${evicts('other')}; ${cure}`);
      await controller.saw('recorded event', { reason: 'EvictedByOther', pod: 'default/other' });
      assert.match((await ask(controller.port, '/readyz')).body, /^\[-\]overlap failed/m);
      const { body } = await ask(controller.port, '/metrics');
      assert.match(
        body,
        /^taintmgr_foreign_evictions_total\{manager="kube-controller-manager"\} [1-9]/m,
      );
      assert.match(body, /^taintmgr_acting 0$/m);
      assert.match(body, /^taintmgr_overlap 1$/m);
      await controller.stop();
    });
  }

  it('that takes what a budget holds back it says so, with --allow-overlap', async (t) => {
    const cluster = await startCluster(t);
    putLease(cluster);
    const controller = await startProcess(t, {
      connection: at(cluster),
      flags: [
        '--allow-overlap',
        onlyEviction,
        '--mode=evict',
        '--authorization-always-allow-paths=/*',
      ],
    });
    await controller.saw(`acting anyway: ${overlap}`);
    await controller.saw('recorded event', { reason: 'ControllersOverlap' });
    await controller.saw('caches synced, evictions start');
    createHeldPod(cluster, 'at-once');
    taintNode(cluster);
    await controller.saw('eviction blocked', { pod: 'default/at-once' });
    await startUnseen(t, cluster);
    await controller.saw(seemsToEvict('at-once'), { level: 'warn', pod: 'default/at-once' });
    const logged = controller.lines.find(({ msg }) => msg === seemsToEvict('at-once'));
    assert.match(String(logged?.heldBack), /disruption budget at-once/);
    await controller.saw('recorded event', { reason: 'EvictedByOther', pod: 'default/at-once' });
    const { body } = await ask(controller.port, '/metrics');
    assert.match(body, /^taintmgr_acting 1$/m);
    assert.match(body, /^taintmgr_overlap 1$/m);
    await controller.stop();
  });
});

// takeover verify on a node of its own: what it must not touch, and when all is well.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import { pod } from '@taintmgr/sim-cluster';
import {
  beat,
  installPolicies,
  us,
  useTakeoverCluster,
} from '../../commands/takeover/taken-over.ts';
import { run, start } from '../../world/run.ts';
import { comeAs, until } from '../../world/test-cluster.ts';

const all = { verbs: ['*'], resources: ['*'] };
const groups = ['admissionregistration.k8s.io', 'authorization.k8s.io', 'taintmgr.dev', 'policy'];
const cleaner = (resources: readonly string[]) => [
  { ...all, apiGroups: groups },
  { verbs: ['get', 'list', 'create', 'delete'], apiGroups: [''], resources: ['*'] },
  { verbs: ['patch'], apiGroups: [''], resources },
];
const users = {
  noDevices: cleaner(['pods', 'pods/status', 'namespaces', 'nodes', 'events']),
  noNodes: cleaner(['pods', 'namespaces']),
  noPods: cleaner(['nodes', 'namespaces']),
};

interface Taint {
  readonly key: string;
  readonly effect?: string;
}

describe('takeover verify', () => {
  const cluster = useTakeoverCluster(users);
  let manager: UpstreamManager;
  beforeEach(async () => {
    installPolicies(cluster());
    beat(cluster(), { enabled: true });
    for (const namespace of ['cart', 'shop']) {
      cluster().api.delete('pods', namespace, 'web', { gracePeriodSeconds: 0 });
    }
    const { access } = await loadKubeconfig({ kubeconfig: cluster().kubeconfig });
    manager = new UpstreamManager(access);
  });
  afterEach(() => manager.stop());

  const taints = (): readonly Taint[] => cluster().api.get('nodes', '', 'n1')?.spec.taints ?? [];
  const namespaces = (): readonly string[] =>
    cluster()
      .api.list('namespaces')
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('taintmgr-verify'));
  const verify = ['takeover', 'verify', '--node', 'n1', '--yes'];

  /** What the controller says about the pod that has to go at once. */
  const speakForUs = (name = 'at-once'): void => {
    const { api } = cluster();
    const stop = api.subscribe(({ resource, object: { metadata } }) => {
      if (resource !== 'pods' || metadata.name !== name) return;
      if (metadata.namespace !== 'taintmgr-verify') return;
      stop();
      api.create('events', {
        metadata: { namespace: metadata.namespace, name: `${name}.1` },
        involvedObject: { kind: 'Pod', namespace: metadata.namespace, name },
        reason: 'TaintManagerEviction',
        message: 'taintmgr decides about it',
        type: 'Normal',
        source: { component: 'taintmgr-controller' },
      });
    });
  };

  it('ends with 0 where all cases pass, and leaves the node as it was', async () => {
    const { api } = cluster();
    const found = api.get('nodes', '', 'n1') ?? assert.fail('there is no node');
    const own = { key: 'own', value: 'x', effect: 'NoSchedule' };
    api.update('nodes', { ...found, spec: { ...found.spec, taints: [own] } });
    manager.start();
    speakForUs();
    const { code, out, err } = await run(...verify, '--timeout=30s');
    assert.equal(code, 0, out + err);
    assert.deepEqual(taints(), [own]);
    await until('the namespaces to be gone', () => namespaces().length === 0);
  });

  it('tries a device of its own where taints of devices are held', async () => {
    beat(cluster(), { enabled: true, deviceTaints: true });
    await manager.stop();
    const { access } = await loadKubeconfig({ kubeconfig: cluster().kubeconfig });
    manager = new UpstreamManager(access, { devices: { rules: false } });
    manager.start();
    speakForUs();
    speakForUs('device');
    const { code, out, err } = await run(...verify, '--timeout=30s');
    assert.equal(code, 0, out + err);
    assert.match(out, /^4 +taken over, a device of it tainted: .* passed /m);
    assert.match(err, /^tries a device of its own too, with a ResourceSlice and a ResourceClaim$/m);
    assert.deepEqual(cluster().api.list('resourceslices'), []);
  });

  const untried: readonly [string, boolean, RegExp][] = [
    [
      'admin',
      false,
      /^does not test taints of devices: kube-controller-manager decides about them$/m,
    ],
    [
      'noDevices',
      true,
      /^does not test taints of devices: this needs the right to write ResourceSli/m,
    ],
  ];
  for (const [user, deviceTaints, text] of untried) {
    it(`says why it tries no device: ${user}`, async () => {
      beat(cluster(), { enabled: true, deviceTaints });
      if (user !== 'admin') comeAs(cluster(), user);
      const { code, err } = await run(...verify, '--dry-run=client');
      assert.equal(code, 0, err);
      assert.match(err, text);
    });
  }

  it('waits for the namespace of an earlier run that is being deleted', async () => {
    const { api } = cluster();
    const labels = { 'app.kubernetes.io/managed-by': 'kubectl-taintmgr' };
    const metadata = { name: 'taintmgr-verify', labels, finalizers: ['example.com/slow'] };
    api.create('namespaces', { metadata });
    api.delete('namespaces', '', 'taintmgr-verify');
    manager.start();
    speakForUs();
    const running = start([...verify, '--timeout=30s']);
    await until('words about the namespace', () => {
      return running.output.errText.includes('namespace taintmgr-verify of an earlier run');
    });
    const left = api.get('namespaces', '', 'taintmgr-verify') ?? assert.fail();
    api.update('namespaces', { ...left, metadata: { ...left.metadata, finalizers: [] } });
    const { code, out, err } = await running.result;
    assert.equal(code, 0, out + err);
  });

  it('does not wait for a namespace of somebody else', async () => {
    cluster().api.create('namespaces', { metadata: { name: 'taintmgr-verify' } });
    const { code, err } = await run(...verify, '--timeout=30s');
    assert.equal(code, 1);
    assert.match(err, /\(AlreadyExists\): namespaces "taintmgr-verify" already exists/);
    cluster().api.delete('namespaces', '', 'taintmgr-verify');
  });

  it('ends with 2 where something of it is left, though all cases pass', async () => {
    const fault = { kind: 'answer', code: 500 } as const;
    cluster().api.faults.add({ fault, verbs: ['delete'], resource: 'namespaces' });
    manager.start();
    speakForUs();
    const { code, out } = await run(...verify, '--timeout=30s', '-o', 'json');
    assert.deepEqual([JSON.parse(out).passed, code], [true, 2]);
  });

  for (const name of ['team', 'team-out']) {
    it(`leaves a namespace alone that is there already: ${name}`, async () => {
      cluster().api.create('namespaces', { metadata: { name } });
      const { code, err } = await run(...verify, '--scratch=team');
      assert.match(err, new RegExp(`namespaces "${name}" already exists`));
      assert.equal(code, 1);
      const found = cluster().api.get('namespaces', '', name);
      assert.deepEqual(
        [found?.metadata.deletionTimestamp, found?.metadata.labels],
        [undefined, { 'kubernetes.io/metadata.name': name }],
      );
    });
  }

  it('takes a node whose pods all tolerate the taint', async () => {
    const tolerations = [{ operator: 'Exists' }];
    cluster().api.create('pods', pod('shop', 'daemon', { spec: { nodeName: 'n1', tolerations } }));
    const { code, err } = await run(...verify, '--dry-run=client');
    assert.equal(code, 0, err);
  });

  for (const [token, right] of [
    ['noNodes', 'patch nodes/n1'],
    ['noPods', 'patch pods -n taintmgr-verify'],
  ] as const) {
    it(`makes nothing where it could not take it away: ${right}`, async () => {
      const { code, err } = await run(...verify, `--token=${token}`);
      assert.ok(err.startsWith(`error: no permission to ${right}`), err);
      assert.deepEqual([code, namespaces()], [1, []]);
    });
  }

  it('puts no taint on the node where the policies do not refuse', async () => {
    const { api } = cluster();
    for (const plural of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']) {
      for (const one of ['takeover', 'readiness']) api.delete(plural, '', `taintmgr-${one}`);
    }
    installPolicies(cluster(), [us, 'system:serviceaccount:kube-system:node-controller', 'admin']);
    const seen = new Set<string>();
    api.subscribe(({ resource, object }) => {
      if (resource !== 'nodes') return;
      for (const { key } of (object.spec?.taints ?? []) as readonly Taint[]) seen.add(key);
    });
    const { code, out } = await run(...verify, '--timeout=1s', '-o', 'json');
    const { cases } = JSON.parse(out);
    assert.deepEqual([cases[0].passed, cases[0].detail], [false, 'the mark would be stored']);
    assert.deepEqual([code, [...seen]], [2, []]);
  });
});

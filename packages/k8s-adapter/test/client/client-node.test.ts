import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  ApiException,
  AppsV1Api,
  CoordinationV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  V1MicroTime,
  type V1Pod,
} from '@kubernetes/client-node';
import {
  ApiServer,
  createCertificate,
  type HttpsServer,
  startHttps,
  writeKubeconfig,
} from '@taintmgr/api-server';
import { node, RealClock, seededRandom } from '@taintmgr/sim-cluster';

// The simulated cluster through the eyes of @kubernetes/client-node: its typed API and its informer.

const token = 'admin-token';
const admin = { name: 'admin', groups: ['system:masters'], rules: [] };
const api = new ApiServer({
  clock: new RealClock(),
  random: seededRandom(1),
  tokens: new Map([[token, admin]]),
});
const home = mkdtempSync(path.join(tmpdir(), 'taintmgr-client-node-'));
const config = new KubeConfig();
const namespace = 'default';
let server: HttpsServer;
let core: CoreV1Api;

before(async () => {
  const certificate = createCertificate(Date.now());
  server = await startHttps({ exchange: api.exchange, certificate });
  const file = path.join(home, 'config');
  writeKubeconfig(file, { server: server.url, ca: certificate.ca, token });
  config.loadFromFile(file);
  core = config.makeApiClient(CoreV1Api);
});
after(async () => {
  await server.close();
  rmSync(home, { recursive: true });
});

function podNamed(name: string, labels: Record<string, string> = {}): V1Pod {
  const containers = [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec: { containers } };
}

/** The code and reason with which a call is refused. */
async function refusal(call: Promise<unknown>): Promise<readonly unknown[]> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof ApiException, String(error));
    return [error.code, JSON.parse(error.body).reason];
  }
  return assert.fail('it was accepted');
}

describe('the typed API', () => {
  it('creates, reads, lists and replaces', async () => {
    const created = await core.createNamespacedPod({
      namespace,
      body: podNamed('a', { app: 'a' }),
    });
    assert.equal(created.status?.phase, 'Pending');
    assert.ok(created.metadata?.creationTimestamp instanceof Date);
    const read = await core.readNamespacedPod({ namespace, name: 'a' });
    assert.deepEqual(read, created);
    const { items, metadata } = await core.listNamespacedPod({ namespace, labelSelector: 'app=a' });
    assert.deepEqual(
      items.map((pod) => pod.metadata?.name),
      ['a'],
    );
    assert.match(metadata?.resourceVersion ?? '', /^\d+$/);
    read.metadata = { ...read.metadata, labels: { app: 'b' } };
    await core.replaceNamespacedPod({ namespace, name: 'a', body: read });
    const stale = core.replaceNamespacedPod({ namespace, name: 'a', body: created });
    assert.deepEqual(await refusal(stale), [409, 'Conflict']);
    assert.deepEqual(await refusal(core.readNamespacedPod({ namespace, name: 'x' })), [
      404,
      'NotFound',
    ]);
    assert.deepEqual(await refusal(core.createNamespacedPod({ namespace, body: podNamed('a') })), [
      409,
      'AlreadyExists',
    ]);
    const bad = core.createNamespacedPod({ namespace, body: podNamed('A') });
    assert.deepEqual(await refusal(bad), [422, 'Invalid']);
  });

  it('pages through a list', async () => {
    for (let index = 0; index < 5; index++) {
      api.create('leases', { metadata: { name: `l${index}`, namespace }, spec: {} });
    }
    const leases = config.makeApiClient(CoordinationV1Api);
    const names: string[] = [];
    let token: string | undefined;
    do {
      const page = await leases.listNamespacedLease({
        namespace,
        limit: 2,
        ...(token ? { _continue: token } : {}),
      });
      names.push(...page.items.map(({ metadata }) => metadata?.name ?? ''));
      token = page.metadata?._continue;
    } while (token);
    assert.deepEqual(names, ['l0', 'l1', 'l2', 'l3', 'l4']);
  });

  const patches: readonly (readonly [keyof typeof PatchStrategy, object])[] = [
    ['JsonPatch', [{ op: 'add', path: '/metadata/labels', value: { by: 'JsonPatch' } }]],
    ['MergePatch', { metadata: { labels: { by: 'MergePatch' } } }],
    ['StrategicMergePatch', { metadata: { labels: { by: 'StrategicMergePatch' } } }],
    [
      'ServerSideApply',
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'n1', labels: { by: 'ServerSideApply' } },
      },
    ],
  ];
  for (const [strategy, body] of patches) {
    it(`patches by ${strategy}`, async () => {
      if (!api.get('nodes', '', 'n1')) api.create('nodes', node('n1'));
      const fieldManager =
        strategy === 'ServerSideApply' ? { fieldManager: 'test', force: true } : {};
      const patched = await core.patchNode(
        { name: 'n1', body, ...fieldManager },
        setHeaderOptions('Content-Type', PatchStrategy[strategy]),
      );
      assert.equal(patched.metadata?.labels?.by, strategy);
    });
  }

  it('patches a status, and taints a node', async () => {
    await core.patchNodeStatus(
      { name: 'n1', body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } } },
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    );
    const taints = [{ key: 'k', effect: 'NoExecute', timeAdded: new Date(0) }];
    const current = await core.readNode({ name: 'n1' });
    current.spec = { ...current.spec, taints };
    const replaced = await core.replaceNode({ name: 'n1', body: current });
    assert.deepEqual({ ...replaced.spec?.taints?.[0] }, taints[0]);
    assert.equal(replaced.status?.conditions?.[0]?.status, 'True');
  });

  it('keeps workloads, budgets and leases', async () => {
    const apps = config.makeApiClient(AppsV1Api);
    const template = { metadata: { labels: { app: 'w' } }, spec: podNamed('w').spec! };
    const spec = { selector: { matchLabels: { app: 'w' } }, template };
    const made = await apps.createNamespacedDeployment({
      namespace,
      body: { metadata: { name: 'w' }, spec },
    });
    assert.equal(made.spec?.replicas, 1);
    const { items } = await apps.listDeploymentForAllNamespaces();
    assert.equal(items.length, 1);
    const policy = config.makeApiClient(PolicyV1Api);
    const budget = {
      metadata: { name: 'w' },
      spec: { minAvailable: '50%', selector: spec.selector },
    };
    const made2 = await policy.createNamespacedPodDisruptionBudget({ namespace, body: budget });
    assert.equal(made2.spec?.minAvailable, '50%');
    const leases = config.makeApiClient(CoordinationV1Api);
    const renewTime = new V1MicroTime('2026-01-01T00:00:00.123456Z');
    const lease = { metadata: { name: 'w' }, spec: { holderIdentity: 'me', renewTime } };
    await leases.createNamespacedLease({ namespace, body: lease });
    const read = await leases.readNamespacedLease({ namespace, name: 'w' });
    assert.equal(api.get('leases', namespace, 'w')?.spec.renewTime, '2026-01-01T00:00:00.123000Z');
    assert.equal(read.spec?.holderIdentity, 'me');
    read.spec = { ...read.spec, holderIdentity: 'you' };
    await leases.replaceNamespacedLease({ namespace, name: 'w', body: read });
    assert.deepEqual(
      await refusal(leases.replaceNamespacedLease({ namespace, name: 'w', body: read })),
      [409, 'Conflict'],
    );
  });

  it('evicts, and deletes with preconditions', async () => {
    const { metadata } = await core.createNamespacedPod({ namespace, body: podNamed('evicted') });
    const eviction = {
      metadata: { name: 'evicted', namespace },
      deleteOptions: { preconditions: { uid: 'x' } },
    };
    const wrong = core.createNamespacedPodEviction({ namespace, name: 'evicted', body: eviction });
    assert.deepEqual(await refusal(wrong), [409, 'Conflict']);
    const right = { ...eviction, deleteOptions: { preconditions: { uid: metadata?.uid ?? '' } } };
    await core.createNamespacedPodEviction({ namespace, name: 'evicted', body: right });
    assert.equal(api.get('pods', namespace, 'evicted'), null);
    const { metadata: second } = await core.createNamespacedPod({
      namespace,
      body: podNamed('second'),
    });
    const other = core.deleteNamespacedPod({
      namespace,
      name: 'second',
      body: { preconditions: { uid: 'x' } },
    });
    assert.deepEqual(await refusal(other), [409, 'Conflict']);
    const body = { preconditions: { uid: second?.uid ?? '' }, gracePeriodSeconds: 0 };
    const deleted = await core.deleteNamespacedPod({ namespace, name: 'second', body });
    assert.equal(deleted.metadata?.name, 'second');
    await core.createNamespacedPod({ namespace, body: podNamed('third', { app: 'gone' }) });
    await core.deleteCollectionNamespacedPod({ namespace, labelSelector: 'app=gone' });
    assert.equal(api.get('pods', namespace, 'third'), null);
  });
});

describe('the informer', () => {
  /** What it has told, each waited for. */
  function follow() {
    const told: string[] = [];
    let wake = (): void => {};
    const list = () => core.listNamespacedPod({ namespace: 'watched' });
    const informer = makeInformer(config, '/api/v1/namespaces/watched/pods', list);
    const hear = (verb: string) => (pod: V1Pod) => {
      told.push(`${verb} ${pod.metadata?.name}`);
      wake();
    };
    for (const verb of ['add', 'update', 'delete'] as const) informer.on(verb, hear(verb));
    informer.on('error', () => {
      told.push('error');
      wake();
    });
    const until = async (entry: string): Promise<void> => {
      while (!told.includes(entry)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    return { informer, told, until };
  }

  it('lists, watches, and goes on after the watch has broken and its version has expired', async (t) => {
    api.create('namespaces', { metadata: { name: 'watched' } });
    const create = (name: string) =>
      api.create('pods', { ...podNamed(name), metadata: { name, namespace: 'watched' } });
    create('before');
    const { informer, told, until } = follow();
    t.after(() => informer.stop());
    await informer.start();
    await until('add before');
    create('after');
    await until('add after');
    const stored = api.get('pods', 'watched', 'after')!;
    api.update('pods', { ...stored, metadata: { ...stored.metadata, labels: { x: 'y' } } });
    await until('update after');
    assert.equal(informer.get('after', 'watched')?.metadata?.labels?.x, 'y');
    api.delete('pods', 'watched', 'before');
    await until('delete before');
    assert.deepEqual(
      told.filter((entry) => entry === 'error'),
      [],
    );
    // A broken watch is an error; the client's user starts it again, and it misses nothing.
    api.faults.breakStreams();
    await until('error');
    create('meanwhile');
    api.compact();
    await informer.start();
    await until('add meanwhile');
    assert.deepEqual(
      informer
        .list('watched')
        .map(({ metadata }) => metadata?.name)
        .sort(),
      ['after', 'meanwhile'],
    );
  });
});

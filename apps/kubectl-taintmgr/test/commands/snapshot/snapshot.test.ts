import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import {
  daemonSet,
  type Json,
  type KubeObject,
  node,
  pdb,
  pod,
  RealClock,
  toleration,
} from '@taintmgr/sim-cluster';
import { type CollectionKind, collections } from '../../../src/cluster/collections.ts';
import { linesFrom } from '../../../src/cluster/recording.ts';
import { keep, keptOf, shapes } from '../../../src/cluster/snapshot-shapes.ts';
import { startDeviceCluster } from '../../world/device-cluster.ts';
import { run, start } from '../../world/run.ts';
import { app, inZone } from '../../world/scenario.ts';
import { ago } from '../../world/shop-cluster.ts';
import { temporaryFiles } from '../../world/simulate-files.ts';
import {
  startTestCluster,
  startWithDefinitions,
  type TestCluster,
} from '../../world/test-cluster.ts';

// A snapshot holds what decides about evictions, and nothing that is nobody's business.

describe('keep', () => {
  const cases: readonly (readonly [string, Parameters<typeof keep>[0], unknown, unknown])[] = [
    ['all of it', 'all', { a: [1] }, { a: [1] }],
    ['what is named', { a: 'all' }, { a: 1, b: 2 }, { a: 1 }],
    ['of each item', [{ a: 'all' }], [{ a: 1, b: 2 }, { b: 3 }], [{ a: 1 }, {}]],
    ['what a function makes of it', { a: () => 'x' }, { a: 'secret' }, { a: 'x' }],
    ['nothing of what is not there', { a: 'all', b: [{}] }, { b: null }, {}],
    ['nothing of another form', { a: { b: 'all' } }, { a: 'secret' }, {}],
    ['nothing of a list that should be an object', { a: { b: 'all' } }, { a: [{ b: 1 }] }, {}],
  ];
  for (const [name, shape, value, expected] of cases) {
    it(name, () => assert.deepEqual(keep(shape, value), expected));
  }
});

describe('what is kept of a workload', () => {
  const specs: readonly (readonly [keyof typeof shapes, object])[] = [
    ['Deployment', { paused: true, replicas: 2 }],
    ['StatefulSet', { ordinals: { start: 5 }, updateStrategy: { type: 'OnDelete' } }],
    ['DaemonSet', { updateStrategy: { type: 'OnDelete' } }],
    ['Job', { suspend: true, completions: 2 }],
  ];
  for (const [kind, spec] of specs) {
    it(`says whether its pods are replaced: ${kind}`, () => {
      assert.deepEqual(keep(shapes[kind], { spec }), { spec });
    });
  }
});

describe('what is kept of any object', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const kinds: readonly CollectionKind[] = collections.map(({ kind }) => kind);
  for (const kind of kinds) {
    it(`has nothing of what others are, and no messages: ${kind}`, () => {
      for (const other of [...kinds.filter((one) => one !== kind), 'Secret', '__proto__', 7]) {
        const text = JSON.stringify({ kind: other, spec: { a: 'secret' }, status: 'secret' });
        const annotations = { [annotation]: text, note: 'secret' };
        const status = { conditions: [{ type: 'A', message: 'secret' }] };
        const kept = keptOf(kind, { metadata: { name: 'a', annotations }, status });
        assert.doesNotMatch(JSON.stringify(kept), /secret/);
      }
    });
  }

  it('has nothing of what was applied to a template', () => {
    const applied = JSON.stringify({ kind: 'EvictionPolicy', spec: 'secret' });
    const template = { metadata: { annotations: { [annotation]: applied } } };
    assert.deepEqual(keptOf('Deployment', { spec: { template } }), {
      spec: { template: { metadata: {} } },
    });
  });
});

describe('snapshot', () => {
  let cluster: TestCluster;
  before(async () => {
    const secret = {
      image: 'registry.example/secret-image:1',
      command: ['sh', '-c', 'secret-command'],
      args: ['secret-argument'],
      env: [{ name: 'PASSWORD', value: 'secret-value' }],
      volumeMounts: [{ name: 'scratch', mountPath: '/secret-path' }],
    };
    const tolerations = [{ operator: 'Exists' }];
    cluster = await startTestCluster({
      region: 'r',
      zones: ['a'],
      nodesPerZone: 2,
      workloads: [
        app('a', 'web', {
          replicas: 2,
          podSpec: {
            containers: [{ name: 'web', ...secret }],
            volumes: [{ name: 'scratch', emptyDir: {} }],
          },
        }),
        daemonSet('a', 'agent', { tolerations }),
        pod('a', 'bare', {
          spec: {
            ...inZone('a').podSpec,
            volumes: [
              { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
              { name: 'key', secret: { secretName: 'secret-name' } },
            ],
          },
        }),
      ],
      budgets: [pdb('a', 'web', { minAvailable: 1 })],
    });
    process.env.KUBECONFIG = cluster.kubeconfig;
    await run('drain-by-taint', 'maintenance=kernel:NoExecute', 'a-1', '--dry-run=client');
    const node = cluster.api.get('nodes', '', 'a-1');
    assert.ok(node);
    const taints = [{ key: 'slow', effect: 'NoExecute', timeAdded: '2030-01-02T03:04:05Z' }];
    const metadata = { ...node.metadata, annotations: { 'example.com/note': 'secret-note' } };
    cluster.api.update('nodes', { ...node, metadata, spec: { ...node.spec, taints } });
  });
  after(() => cluster.stop());

  for (const format of ['json', 'yaml']) {
    it(`-o ${format} names no secret`, async () => {
      const { code, out, err } = await run('snapshot', '-o', format);
      assert.equal(code, 0);
      assert.match(err, /^\d+ objects written\n$/);
      assert.doesNotMatch(
        out,
        /secret-|PASSWORD|10\.128\.|f:metadata|f:status|f:containers|registry/,
      );
      assert.match(out, /emptyDir/);
    });
  }

  it('keeps what was applied last as far as it keeps the object, and nothing that is none', async () => {
    const name = 'kubectl.kubernetes.io/last-applied-configuration';
    const containers = [
      { name: 'c', image: 'secret-image', env: [{ name: 'a', value: 'secret-b' }] },
    ];
    const template = { metadata: { labels: { app: 'applied' } }, spec: { containers } };
    const spec = { selector: { matchLabels: { app: 'applied' } }, replicas: 0, template };
    const applied = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'applied' },
      spec,
    };
    for (const [text, kept] of [
      [JSON.stringify(applied), ['c', 'redacted']],
      ['secret-note', undefined],
      ['{"kind":"Secret","data":{"a":"secret-c"}}', undefined],
      ['{"kind":"EvictionPolicy","spec":{"a":"secret-d"}}', undefined],
      ['null', undefined],
    ] as const) {
      const metadata = { namespace: 'default', name: 'applied', annotations: { [name]: text } };
      cluster.api.create('deployments', { metadata, spec });
      const { out } = await run('snapshot');
      cluster.api.delete('deployments', 'default', 'applied');
      assert.doesNotMatch(out, /secret-/);
      const { items }: { readonly items: readonly KubeObject[] } = JSON.parse(out);
      const found = items.find((item) => {
        return item.kind === 'Deployment' && item.metadata.name === 'applied';
      });
      const last = JSON.parse(found?.metadata.annotations?.[name] ?? 'null');
      assert.deepEqual(last?.spec.template.spec.containers.flatMap(Object.values), kept);
    }
  });

  it('says since when kube-controller-manager leads, whose timers run since then', async () => {
    const metadata = { namespace: 'kube-system', name: 'kube-controller-manager' };
    const renewTime = '2030-01-02T03:04:05.000000Z';
    const holder = { holderIdentity: 'cp_1', leaseDurationSeconds: 15, renewTime };
    const spec = { ...holder, acquireTime: '2030-01-01T00:00:00.000000Z' };
    cluster.api.create('leases', { metadata, spec });
    const { items }: { readonly items: readonly { kind: string; spec: object }[] } = JSON.parse(
      (await run('snapshot')).out,
    );
    cluster.api.delete('leases', metadata.namespace, metadata.name);
    const kept = items.filter((item) => item.kind === 'Lease').at(-1);
    assert.deepEqual(kept?.spec, spec);
  });

  it('is a cluster of which the same is explained', async () => {
    const names = ['a-1', 'a-2'];
    const explain = async (): Promise<readonly string[]> => {
      const path =
        'jsonpath={.zone}{.taints[*].key}{.taints[*].timeAdded}{.pods[*].name}{.pods[*].decision}{.pods[*].owner}{.summary.evict}';
      const texts: string[] = [];
      for (const name of names) texts.push((await run('explain', 'node', name, '-o', path)).out);
      return texts;
    };
    const before = await explain();
    const { out } = await run('snapshot');
    const copy = new ServedCluster({
      clock: new RealClock(),
      seed: 2,
      snapshot: [JSON.parse(out)],
      apiServer: {
        tokens: new Map([['admin', { name: 'admin', groups: ['system:masters'], rules: [] }]]),
      },
    });
    assert.deepEqual(copy.loadReport.unloaded, []);
    assert.deepEqual(copy.loadReport.createdNamespaces, []);
    const { createCertificate, startHttps, writeKubeconfig } = await import('@taintmgr/api-server');
    const certificate = createCertificate(Date.now());
    const server = await startHttps({ exchange: copy.exchange, certificate });
    const kubeconfig = `${cluster.directory}/copy`;
    writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'admin' });
    process.env.KUBECONFIG = kubeconfig;
    try {
      assert.deepEqual(await explain(), before);
      const dry = ['drain-by-taint', 'slow:NoExecute', 'a-1', '--dry-run=client', '-o', 'name'];
      assert.match((await run(...dry)).err, /needs --ignore-daemonsets|needs --force|/);
    } finally {
      process.env.KUBECONFIG = cluster.kubeconfig;
      await server.close();
    }
  });
});

describe('a snapshot of policies', () => {
  const { write } = temporaryFiles();
  const apiVersion = 'taintmgr.dev/v1alpha1';
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    const metadata = { name: 'kept', annotations: { 'example.com/note': 'secret-note' } };
    const add = (plural: string, kind: string, spec: Json): void => {
      api.create(`${plural}.taintmgr.dev`, { apiVersion, kind, metadata, spec });
    };
    add('evictionpolicies', 'EvictionPolicy', { match: { namespaces: ['shop'] }, action: 'Keep' });
    add('nodetaintrules', 'NodeTaintRule', {
      condition: { type: 'Odd' },
      taint: { key: 'odd', effect: 'NoExecute' },
    });
    const scope = { taintKeys: ['bad'] };
    add('evictionpauses', 'EvictionPause', { scope, reason: 'secret-reason' });
    const spec = { taints: [{ key: 'slow', effect: 'NoExecute', timeAdded: ago(60) }] };
    api.create('nodes', node('n1', { spec }));
    for (const namespace of ['shop', 'other']) {
      api.create('namespaces', { metadata: { name: namespace } });
      api.create('pods', pod(namespace, `web-of-${namespace}`, { spec: { nodeName: 'n1' } }));
    }
  });
  after(() => cluster.stop());

  it('has what they say, and no words for people', async () => {
    const { out } = await run('snapshot');
    const items: readonly { kind: string; spec: unknown }[] = JSON.parse(out).items;
    const specs = items.filter(({ kind }) => /^(Evict|NodeTaint)/.test(kind));
    assert.deepEqual(
      specs.map(({ kind, spec }) => [kind, spec]),
      [
        ['EvictionPolicy', { priority: 0, match: { namespaces: ['shop'] }, action: 'Keep' }],
        [
          'NodeTaintRule',
          {
            ...{ clear: '0s', condition: { status: 'True', type: 'Odd' }, dryRun: false },
            ...{ holds: '0s', nodeSelector: {}, onlyUnreachable: false },
            taint: { effect: 'NoExecute', key: 'odd', value: '' },
          },
        ],
        [
          'EvictionPause',
          {
            ...{ deadlines: true, readiness: false, reason: 'redacted' },
            scope: { taintKeys: ['bad'] },
          },
        ],
      ],
    );
    assert.doesNotMatch(out, /secret-/);
  });

  it('decides in a simulation as in the cluster', async () => {
    const snapshot = write('snapshot.json', (await run('snapshot')).out);
    const from = async (...flags: readonly string[]): Promise<readonly unknown[]> => {
      const { out, err } = await run('simulate', ...flags, '--until', '2m', '-o', 'json');
      const { evictions } = JSON.parse(out || assert.fail(err)).runs[0];
      return [evictions.map(({ pod: name }: { pod: string }) => name), err];
    };
    const note =
      'Note: in force as in the cluster: EvictionPolicy 1, NodeTaintRule 1, EvictionPause 1\n';
    assert.deepEqual(await from('-f', snapshot), [['web-of-other'], note]);
    assert.deepEqual(await from(), [['web-of-other'], note]);
  });
});

describe('a snapshot of a taint without timeAdded', () => {
  const files = temporaryFiles();
  const written = ago(40);
  const owner = (manager: string, fieldsV1: object, subresource?: string): object => {
    const entry = { manager, operation: 'Update', apiVersion: 'v1', time: written };
    return { ...entry, fieldsType: 'FieldsV1', fieldsV1, ...(subresource && { subresource }) };
  };
  const byKubectl = owner('kubectl-taint', { 'f:spec': { 'f:taints': {} } });
  let cluster: TestCluster;
  let document: { items: { kind: string; metadata: { managedFields?: unknown } }[] };
  let snapshot = '';

  before(async () => {
    cluster = await startTestCluster(null);
    process.env.KUBECONFIG = cluster.kubeconfig;
    const old = ago(3600);
    const taints = [{ key: 'bad', effect: 'NoExecute' }];
    const times = { lastTransitionTime: old, lastHeartbeatTime: ago(5) };
    const conditions = [{ type: 'Ready', status: 'True', ...times }];
    const made = node('n1', { labels: { note: 'x' }, spec: { taints }, status: { conditions } });
    const managedFields = [
      owner('example-labeller', { 'f:metadata': { 'f:labels': { 'f:note': {} } } }),
      owner('kubelet', { 'f:status': { 'f:conditions': {} } }, 'status'),
      byKubectl,
    ];
    const spec = { nodeName: 'n1', tolerations: [{ ...toleration('bad:NoExecute', 60) }] };
    const web = pod('shop', 'web', { spec });
    const ownedByKubelet = owner('kubelet', { 'f:status': {} }, 'status');
    const { unloaded } = cluster.api.load([
      { ...made, metadata: { ...made.metadata, creationTimestamp: old, managedFields } },
      {
        ...web,
        metadata: { ...web.metadata, creationTimestamp: old, managedFields: [ownedByKubelet] },
        status: { ...web.status, phase: 'Running', startTime: old },
      },
    ]);
    assert.deepEqual(unloaded, []);
    const { out } = await run('snapshot');
    document = JSON.parse(out);
    snapshot = files.write('snapshot.json', out);
  });
  after(() => cluster.stop());

  it('says who wrote the taints and when, and nothing else of who owns what', () => {
    const owners = document.items.flatMap(({ metadata }) => metadata.managedFields ?? []);
    assert.deepEqual(owners, [byKubectl]);
  });

  it('has the deadline in a simulation that it has in the cluster', async () => {
    const path = 'jsonpath={.pods[0].deadline}';
    const explained = (await run('explain', 'node', 'n1', '-o', path)).out;
    const due = Date.parse(written) + 61_000;
    assert.equal(Date.parse(explained), due, explained);
    const { out, err } = await run('simulate', '-f', snapshot, '--until', '2m', '-o', 'json');
    const { startsAt, runs } = JSON.parse(out || assert.fail(err));
    const evictions: readonly { pod: string; at: number }[] = runs[0].evictions;
    const seconds = evictions.map(({ at }) => Math.floor(Date.parse(startsAt) / 1000 + at));
    // It is kube-controller-manager's: the second as it is written, where explain says the latest.
    assert.deepEqual(seconds, [due / 1000 - 1], out);
  });
});

describe('snapshot of a cluster with devices', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startDeviceCluster();
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  it('holds what decides about them', async () => {
    const { items }: { readonly items: readonly KubeObject[] } = JSON.parse(
      (await run('snapshot')).out,
    );
    const ofDevices = items.filter(({ apiVersion }) => apiVersion === 'resource.k8s.io/v1');
    const claim = ofDevices.find(({ metadata }) => metadata.name === 'gpu-b');
    const stored = cluster.api.get('resourceclaims', 'shop', 'gpu-b');
    assert.deepEqual(claim?.status, stored?.status);
    assert.deepEqual(claim?.spec, stored?.spec);
    assert.deepEqual(
      ofDevices.map(({ kind }) => kind),
      ['ResourceSlice', ...Array.from({ length: 5 }, () => 'ResourceClaim')],
    );
  });
});

describe('snapshot --watch', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster({
      ...{ region: 'r', zones: ['a'], nodesPerZone: 2 },
      workloads: [app('a', 'web', { replicas: 2 })],
      budgets: [],
    });
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  it('goes on with what changes, until Ctrl-C', async () => {
    const watching = start(['snapshot', '--watch']);
    await watching.output.saw(/watching what changes/);
    const [pod] = cluster.api.list('pods', 'a');
    cluster.api.delete('pods', 'a', pod?.metadata.name ?? '');
    await watching.output.saw(/"type":"DELETED"/);
    watching.interrupt();
    const { code, out, err } = await watching.result;
    assert.equal(code, 130);
    const lines = out.slice(linesFrom(out)).trim().split('\n');
    assert.match(lines.at(0) ?? '', /"type":"BEGIN","kinds":\["Node","Lease"/);
    assert.match(lines.at(-1) ?? '', /"type":"END","reason":"interrupted"/);
    assert.match(err, /\d+ objects written; watching what changes\n\d+ lines written\n$/);
    assert.equal(JSON.parse(out.slice(0, linesFrom(out))).kind, 'List');
  });

  it('ends after the time that was asked for', async () => {
    const { code, out } = await run('snapshot', '--watch', '--for', '1s');
    assert.equal(code, 0);
    assert.match(out, /"type":"END","reason":"time"\}\n$/);
  });

  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [['--for', '5m'], /--for says how long to watch, and --watch is missing/],
    [['--watch', '-o', 'yaml'], /-o yaml: what changes is written as json; leave out -o/],
    [['--watch', '--for', 'soon'], /Want a duration from 1s to 168h, such as 30m/],
  ];
  for (const [flags, message] of mistakes) {
    it(`refuses ${flags.join(' ')}`, async () => {
      const { code, err } = await run('snapshot', ...flags);
      assert.equal(code, 1);
      assert.match(err, message);
    });
  }
});

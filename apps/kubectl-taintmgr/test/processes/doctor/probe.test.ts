// doctor --probe: what it proves, what it leaves open, and that it leaves nothing behind.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import {
  type Access,
  drive,
  HttpTransport,
  Loop,
  loadKubeconfig,
  UpstreamManager,
} from '@taintmgr/k8s-adapter';
import type { KubeObject, Rule } from '@taintmgr/sim-cluster';
import { run, start } from '../../world/run.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';

const all = { verbs: ['*'], resources: ['*'] };
const reader: Rule = { verbs: ['get', 'list'], apiGroups: ['*'], resources: ['*'] };
const reviewer: Rule = { ...all, apiGroups: ['authorization.k8s.io'] };
const least: readonly Rule[] = [
  reviewer,
  {
    verbs: ['create', 'get', 'list', 'delete'],
    apiGroups: [''],
    resources: ['nodes', 'pods'],
  },
  { verbs: ['create', 'list', 'delete'], apiGroups: [''], resources: ['namespaces'] },
  { verbs: ['list'], apiGroups: [''], resources: ['events'] },
  { verbs: ['get'], apiGroups: [''], resources: ['serviceaccounts'] },
];
/** What the overlap check looks at. */
const leases = { verbs: ['list'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
const users = { least: [...least, leases], looker: [reviewer, reader] };

/** Evicts as our controller does, until the signal. */
async function evictAsOurs(access: Access, signal: AbortSignal): Promise<void> {
  const machine = createEngine({ leader: true });
  const loop = new Loop({ machine, random: Math.random, component: 'taintmgr-controller' });
  const transport = new HttpTransport(access, 'taintmgr-controller/v0.0.0');
  await drive({ loop, transport, signal, onNotice: () => {} }).finally(() => transport.close());
}

interface Report {
  readonly probe: {
    readonly runs: Readonly<Record<string, string>>;
    readonly declare: string;
    readonly message: string;
  };
  readonly findings: readonly {
    readonly check: string;
    readonly level: string;
    readonly message: string;
    readonly fix: string;
  }[];
}

describe('doctor --probe', () => {
  let cluster: TestCluster;
  let manager: UpstreamManager;
  let access: Access;
  beforeEach(async () => {
    cluster = await startTestCluster(null, users);
    process.env.KUBECONFIG = cluster.kubeconfig;
    ({ access } = await loadKubeconfig({ kubeconfig: cluster.kubeconfig }));
    manager = new UpstreamManager(access, { nodes: {} });
  });
  afterEach(async () => {
    await manager.stop();
    await cluster.stop();
  });

  const ofProbes = (resource: string): readonly KubeObject[] => {
    return cluster.api
      .list(resource)
      .filter(({ metadata }) => (metadata.namespace ?? metadata.name).startsWith('taintmgr-probe'));
  };
  const left = (): readonly string[] =>
    ['nodes', 'namespaces', 'pods'].flatMap((resource) =>
      ofProbes(resource)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => `${resource}/${metadata.name}`),
    );
  const nothingIsLeft = (): Promise<void> =>
    until('the probe to be gone', () => left().length === 0);
  const probe = async (...args: readonly string[]): Promise<Report> => {
    const { out, err } = await run('doctor', '--probe', '--timeout=5s', '-o', 'json', ...args);
    return JSON.parse(out || assert.fail(err)) as Report;
  };
  const levels = ({ findings }: Report, check: string): readonly string[] =>
    findings
      .filter((one) => one.check === check)
      .map(({ level, message, fix }) => `${level} ${message} (${fix})`);

  it('shows that kube-controller-manager evicts, and the overlap check knows', async () => {
    manager.start();
    const report = await probe();
    assert.deepEqual(report.probe.runs, {
      'taint-eviction-controller': 'True',
      'node-lifecycle-controller': 'True',
    });
    const duties = 'taint-eviction-controller,node-lifecycle-controller';
    assert.equal(report.probe.declare, duties);
    const [found = ''] = levels(report, 'probe');
    assert.match(
      found,
      /^INFO kube-controller-manager evicted the pod of the probe for its NoExecute taint at once; it watches over Nodes/,
    );
    assert.ok(
      found.endsWith(
        ` (declare it to taintmgr-controller: --kube-controller-manager-runs=${duties})`,
      ),
    );
    const [overlap = ''] = levels(report, 'overlap');
    assert.match(overlap, /^INFO kube-controller-manager \(.*\) evicts for NoExecute taints here/);
    await nothingIsLeft();
  });

  /** Whatever happens to an object as soon as it is there. */
  const atOnce = (resource: string, act: (object: KubeObject) => void): void => {
    cluster.api.subscribe(({ type, resource: changed, object }) => {
      if (type === 'ADDED' && changed === resource) act(object);
    });
  };
  /** kube-controller-manager gives every namespace a ServiceAccount. */
  const live = (): void =>
    atOnce('namespaces', ({ metadata }) => {
      cluster.api.create('serviceaccounts', {
        metadata: { name: 'default', namespace: metadata.name },
      });
    });
  const ofProbe = ({ metadata }: KubeObject): boolean => metadata.name === 'probe';

  it('shows that nobody evicts where kube-controller-manager lives and leaves the pod alone', async () => {
    live();
    const report = await probe('--token=least');
    assert.deepEqual(report.probe.runs, {
      'taint-eviction-controller': 'False',
      'node-lifecycle-controller': 'False',
    });
    assert.equal(report.probe.declare, 'none');
    const [overlap = ''] = levels(report, 'overlap');
    assert.match(
      overlap,
      /^INFO no controller here evicts for NoExecute taints \(a probe pod was left alone 0s ago\)/,
    );
    await nothingIsLeft();
  });

  it('proves nothing by a kube-controller-manager that is not alive', async () => {
    const report = await probe();
    assert.match(
      report.probe.message,
      /^whether kube-controller-manager evicts for NoExecute taints is unknown: no kube-controller-manager has given/,
    );
    assert.equal(report.probe.declare, 'unknown');
    const [overlap = ''] = levels(report, 'overlap');
    assert.match(overlap, /^INFO whether kube-controller-manager evicts .* is unknown/);
  });

  describe('beside a taintmgr-controller', () => {
    let end: AbortController;
    let over: Promise<void>;
    beforeEach(() => {
      end = new AbortController();
      over = evictAsOurs(access, end.signal);
    });
    afterEach(async () => {
      end.abort();
      await over;
    });

    it('tells who of the two has evicted', async () => {
      live();
      const { probe: found } = await probe();
      assert.equal(found.runs['taint-eviction-controller'], 'False');
      assert.match(
        found.message,
        /^taintmgr-controller evicted the pod .*, and kube-controller-manager did not within/,
      );
    });

    it('tells that both have', async () => {
      manager.start();
      const { probe: found } = await probe();
      assert.equal(found.runs['taint-eviction-controller'], 'True');
    });
  });

  const denials = [
    ['namespaces', 'no namespaces here'],
    ['nodes', 'no nodes by hand'],
    ['pods', 'no pods without an owner'],
  ] as const;
  for (const [resource, message] of denials) {
    it(`says that it is unknown where admission refuses ${resource}`, async () => {
      live();
      const fault = { kind: 'deny', webhook: 'guard.example.com', code: 403, message } as const;
      cluster.api.faults.add({ fault, verbs: ['create'], resource });
      const report = await probe();
      assert.equal(
        report.probe.message,
        'whether kube-controller-manager evicts for NoExecute taints is unknown: ' +
          `admission webhook "guard.example.com" denied the request: ${message}`,
      );
      await nothingIsLeft();
    });
  }

  const meddlers: readonly (readonly [string, RegExp, () => void])[] = [
    [
      'the Node is deleted',
      /: another client deleted the Node of the probe/,
      () =>
        atOnce('pods', () =>
          cluster.api.delete('nodes', '', ofProbes('nodes')[0]?.metadata.name ?? ''),
        ),
    ],
    [
      'the taint is taken off',
      /: another client removed the taint from the Node/,
      () =>
        atOnce('pods', () => {
          const node = ofProbes('nodes')[0] ?? assert.fail('there is no Node');
          cluster.api.update('nodes', { ...node, spec: { ...node.spec, taints: [] } });
        }),
    ],
    [
      'the pod is deleted by nobody knows whom',
      /: the pod is gone, and nothing says who deleted it/,
      () =>
        atOnce('pods', ({ metadata: { namespace = '', name } }) => {
          cluster.api.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
        }),
    ],
    [
      'pod garbage collection marks the pod',
      /: the pod was taken by pod garbage collection/,
      () =>
        atOnce('pods', (made) => {
          const mark = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' };
          const status = { ...made.status, conditions: [mark] };
          cluster.api.update('pods', { ...made, status }, 'status');
        }),
    ],
  ];
  for (const [what, wanted, meddle] of meddlers) {
    it(`says that it is unknown where ${what}`, async () => {
      live();
      meddle();
      const report = await probe();
      assert.match(report.probe.message, wanted);
      assert.equal(report.probe.runs['taint-eviction-controller'], 'Unknown');
      await nothingIsLeft();
    });
  }

  for (const resource of ['namespaces', 'nodes', 'pods'] as const) {
    it(`leaves nothing where Ctrl-C comes as soon as it has made one of ${resource}`, async () => {
      const running = start(['doctor', '--probe']);
      atOnce(resource, () => running.interrupt());
      const { code, err } = await running.result;
      assert.match(err, /error: interrupted\n$/);
      assert.equal(code, 130);
      await nothingIsLeft();
    });
  }

  it('says on the way how far it is, and leaves nothing where Ctrl-C comes then', async () => {
    const running = start(['doctor', '--probe'], true);
    await running.output.saw(/^1s of 30s: no controller has evicted the pod$/m);
    running.interrupt();
    assert.equal((await running.result).code, 130);
    await nothingIsLeft();
  });

  it('leaves nothing where the API server fails in the middle', async () => {
    const fault = { kind: 'answer', code: 500 } as const;
    cluster.api.faults.add({ fault, verbs: ['list'], resource: 'events', times: 1 });
    const { probe: found } = await probe();
    assert.match(found.message, /is unknown: /);
    await nothingIsLeft();
  });

  it('takes away what an earlier one has left, and not what is at work or of others', async () => {
    manager.start();
    const labels = { 'taintmgr.dev/probe': 'true' };
    const make = (name: string, ends: string): void => {
      const annotations = { 'taintmgr.dev/probe-ends': ends };
      cluster.api.create('nodes', { metadata: { name, labels, annotations } });
      cluster.api.create('namespaces', { metadata: { name, labels, annotations } });
    };
    make('taintmgr-probe-old', '2020-01-01T00:00:00Z');
    make('taintmgr-probe-new', '2999-01-01T00:00:00Z');
    make('worker-1', '2020-01-01T00:00:00Z');
    cluster.api.create('pods', {
      metadata: { name: 'probe', namespace: 'taintmgr-probe-old' },
      spec: { nodeName: 'taintmgr-probe-old', containers: [{ name: 'c', image: 'c' }] },
    });
    const { err } = await run('doctor', '--probe');
    assert.match(err, /^took away what an earlier probe has left: node taintmgr-probe-old$/m);
    assert.match(err, /^node taintmgr-probe-new is of another probe, which may run until 2999/m);
    await until('the old one to be gone', () => left().length === 2);
    assert.deepEqual(left(), ['nodes/taintmgr-probe-new', 'namespaces/taintmgr-probe-new']);
    assert.ok(cluster.api.get('nodes', '', 'worker-1'));
    assert.ok(cluster.api.get('namespaces', '', 'worker-1'));
  });

  it('takes away what DaemonSets have made for its Node', async () => {
    manager.start();
    atOnce('nodes', ({ metadata: { name } }) => {
      const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] };
      const required = {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
      };
      const containers = [{ name: 'c', image: 'c' }];
      const spec = { affinity: { nodeAffinity: required }, containers };
      cluster.api.create('pods', { metadata: { name: 'agent', namespace: 'default' }, spec });
    });
    await probe();
    assert.equal(cluster.api.get('pods', 'default', 'agent'), null);
  });

  it('names what it could not take away, and ends with 2', async () => {
    manager.start();
    atOnce('pods', (made) => {
      if (!ofProbe(made)) return;
      const metadata = { ...made.metadata, finalizers: ['example.com/hold'] };
      cluster.api.update('pods', { ...made, metadata });
    });
    const { code, out, err } = await run('doctor', '--probe');
    assert.equal(code, 2, err);
    assert.match(
      out,
      /^WARN {2}probe\n +something of a probe is left: finalizers hold pod probe, and that its Namespace:\n +example.com\/hold$/m,
    );
    assert.match(err, /Warning: it could not be cleaned up: finalizers hold pod probe/);
  });

  it('is not asked for with manifests, and --timeout not without it', async () => {
    const [files, alone] = await Promise.all([
      run('doctor', '--probe', '-f', '.'),
      run('doctor', '--timeout=10s'),
    ]);
    assert.deepEqual(
      [files.err, alone.err],
      [
        'error: --probe: it asks a cluster, and -f asks none\n',
        'error: --timeout: want --probe too\n',
      ],
    );
  });

  it('names every permission that is missing, and makes nothing', async () => {
    const { code, err } = await run('doctor', '--probe', '--token=looker');
    assert.match(
      err,
      /^error: no permission to create nodes, delete nodes, create namespaces, delete namespaces, delete pods, create pods -n taintmgr-probe-\w+: /,
    );
    assert.deepEqual([code, left()], [1, []]);
  });
});

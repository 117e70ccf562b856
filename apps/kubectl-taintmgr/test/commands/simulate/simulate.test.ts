import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { threeZones, VirtualClock } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { temporaryFiles, topology } from '../../world/simulate-files.ts';

const { path, write: file } = temporaryFiles();

/** What json says of a simulation, as far as tests look at it. */
interface Document {
  readonly complete: boolean;
  readonly missing: readonly string[];
  readonly notes: readonly string[];
  readonly assumptions: readonly { readonly workload: string; readonly start: object }[];
  readonly runs: readonly RunDocument[];
}

interface RunDocument {
  readonly semantics: string;
  readonly summary: {
    readonly evictions: number;
    readonly loops: readonly {
      readonly name: string;
      readonly node: string;
      readonly evictions: number;
    }[];
    readonly refusals: number;
    readonly nodesTainted: number;
    readonly unplaced: { readonly atEnd: number };
    readonly workloads: readonly {
      readonly name: string;
      readonly unavailableMax: number;
      readonly unavailablePercentMax: number;
      readonly worstAt: number | null;
      readonly longestGap: { readonly seconds: number } | null;
      readonly evictions: number;
      readonly downAtEnd: number;
    }[];
  };
  readonly events: readonly { readonly at: number; readonly text: string; readonly line: number }[];
  readonly nodes: readonly {
    readonly name: string;
    readonly states: readonly {
      readonly at: number;
      readonly ready: string;
      readonly cordoned: boolean;
      readonly taints: readonly string[];
    }[];
  }[];
  readonly workloads: readonly {
    readonly name: string;
    readonly states: readonly { readonly at: number; readonly wanted: number }[];
  }[];
  readonly evictions: readonly {
    readonly at: number;
    readonly node: string;
    readonly how: string;
    readonly because: readonly string[];
  }[];
  readonly deadlines: readonly {
    readonly setAt: number;
    readonly dueAt: number;
    readonly end: string;
  }[];
  readonly refusals: readonly { readonly budget: string; readonly count: number }[];
  readonly unplaced: readonly { readonly pod: string; readonly message: string }[];
}

async function simulated(
  source: string,
  script: string,
  ...more: readonly string[]
): Promise<Document> {
  const files = ['-f', source, '--script', file('events.yaml', script)];
  const { code, out, err } = await run('simulate', ...files, '-o', 'json', ...more);
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

async function first(script: string, ...more: readonly string[]): Promise<RunDocument> {
  const { runs } = await simulated(file('topology.yaml', topology), script, ...more);
  return runs[0] ?? assert.fail('no run');
}

describe('what happens', () => {
  it('reports a zone that is cut off: when it is Unknown, when its pods go, how bad it got', async () => {
    const { summary, evictions, deadlines, nodes } = await first(
      'events:\n- at: 2m\n  stopKubelet: {zone: zone-b}\n  lasts: 15m\n',
    );
    assert.equal(summary.nodesTainted, 2);
    // The grace period of 50 s began with the last heartbeat, up to 10 s before.
    const found = nodes.flatMap(
      ({ states }) => states.find(({ ready }) => ready === 'Unknown') ?? [],
    );
    assert.equal(found.length, 2);
    for (const { at } of found) assert.ok(at >= 160 && at <= 175, `found at ${at}`);
    assert.ok(evictions.length >= 2 && evictions.every(({ node }) => node.startsWith('zone-b')));
    // The second in which the taint was put on counts from its end.
    const times = deadlines.map(({ setAt, dueAt }) => dueAt - setAt);
    assert.deepEqual(
      times,
      evictions.map(() => 301),
    );
    const web = summary.workloads.find(({ name }) => name === 'web');
    assert.equal(web?.unavailableMax, 2);
    assert.equal(web.unavailablePercentMax, 33.3);
    assert.equal(web.worstAt, Math.max(...found.map(({ at }) => at)));
  });

  it('gives the same bytes for the same input and seed, and others for another seed', async () => {
    const script = file('same.yaml', 'events:\n- at: 1m\n  loseNetwork: {zone: zone-a}\n');
    const args = [
      'simulate',
      '-f',
      file('topology.yaml', topology),
      '--script',
      script,
      '-o',
      'json',
    ];
    const [one, again, other] = [
      await run(...args),
      await run(...args),
      await run(...args, '--seed', '2'),
    ];
    assert.equal(one.out, again.out);
    assert.notEqual(one.out, other.out);
  });

  it('counts what a budget refuses, and pods that fit nowhere', async () => {
    const { summary, refusals, unplaced, evictions } = await first(
      'engine: {mode: evict}\nevents:\n- at: 1m\n  taint: {nodes: all, taint: "check=bad:NoExecute"}\n',
      '--until',
      '5m',
    );
    assert.ok(evictions.every(({ how }) => how === 'evict'));
    assert.ok(summary.refusals > 20);
    assert.deepEqual([...new Set(refusals.map(({ budget }) => budget))].sort(), [
      'shop/lone',
      'shop/web',
    ]);
    assert.equal(summary.evictions, 1);
    assert.equal(summary.unplaced.atEnd, 1);
    assert.match(unplaced[0]?.message ?? '', /6 node\(s\) had untolerated taint/);
  });

  it('counts evictions, and names a pod that comes back to where it was evicted from', async () => {
    const script = `events:
- at: 1m
  taint: {node: zone-a-1, taint: "check=bad:NoExecute"}
`;
    const source = file(
      'loop.yaml',
      `${topology}- kind: StatefulSet
  name: shop/db
  replicas: 1
  nodeSelector: {kubernetes.io/hostname: zone-a-1}
  tolerations: [{key: check, operator: Exists, effect: NoExecute, tolerationSeconds: 10}]
`,
    );
    const { runs } = await simulated(source, script, '--until', '5m');
    const { summary, evictions } = runs[0] ?? assert.fail('no run');
    const ofDb = evictions.filter(({ because }) => because[0]?.startsWith('tolerates ')).length;
    assert.ok(ofDb > 10, `${ofDb} evictions`);
    assert.deepEqual(
      summary.loops.map(({ name, node, evictions: times }) => [name, node, times]),
      [['db-0', 'zone-a-1', ofDb]],
    );
    const counted = summary.workloads.map((workload) => workload.evictions);
    assert.equal(
      counted.reduce((total, one) => total + one, 0),
      summary.evictions,
    );
    const args = ['-f', source, '--script', file('loop-events.yaml', script), '--until', '5m'];
    const { out } = await run('simulate', ...args, '-o', 'wide');
    assert.match(out, new RegExp(`^StatefulSet shop/db +1 .* ${ofDb}$`, 'm'));
    assert.match(
      out,
      new RegExp(
        `^ {2}loop: shop/db-0 evicted ${ofDb} times from zone-a-1, 1m1\\ds to .*: tolerates check=bad:NoExecute for 10s$`,
        'm',
      ),
    );
  });

  it('plays every kind of event', async () => {
    const { events, nodes, workloads } = await first(`
events:
- {at: 10s, cordon: {node: zone-a-1}, lasts: 20s}
- {at: 40s, taint: {zone: zone-a, taint: 'kernel=old:NoSchedule'}, stagger: 1m}
- {at: 2m, untaint: {node: zone-a-1, taint: 'kernel:NoSchedule'}}
- {at: 3m, addNode: {name: extra, zone: zone-d, capacity: {cpu: 8}}}
- {at: 4m, scale: {workload: shop/web, replicas: 9}}
- {at: 5m, setBudget: {budget: shop/web, maxUnavailable: 50%}}
- {at: 6m, apiOutage: {}, lasts: 1m}
- {at: 8m, setCondition: {selector: 'topology.kubernetes.io/zone=zone-c', condition: MemoryPressure, status: true}}
- {at: 9m, removeNode: &extra {nodes: [extra]}}
- {at: 9m30s, addNode: {name: extra, zone: zone-d}}
- {at: 9m40s, removeNode: *extra}
- {at: 10m, stopKubelet: {node: zone-b-2}, lasts: 10s, every: 30s, times: 3}
`);
    const at = (name: string, seconds: number) =>
      nodes.find((node) => node.name === name)?.states.findLast((state) => state.at <= seconds);
    assert.equal(at('zone-a-1', 20)?.cordoned, true);
    assert.equal(at('zone-a-1', 35)?.cordoned, false);
    assert.deepEqual(at('zone-a-1', 60)?.taints, ['kernel=old:NoSchedule']);
    assert.deepEqual(at('zone-a-2', 60)?.taints, []);
    assert.deepEqual(at('zone-a-2', 110)?.taints, ['kernel=old:NoSchedule']);
    assert.deepEqual(at('zone-a-1', 130)?.taints, []);
    assert.equal(at('extra', 200)?.ready, 'True');
    assert.equal(workloads.find(({ name }) => name === 'web')?.states.at(-1)?.wanted, 9);
    assert.deepEqual(at('zone-c-1', 500)?.taints, [
      'node.kubernetes.io/memory-pressure:NoSchedule',
    ]);
    assert.equal(at('extra', 550)?.ready, 'Gone');
    assert.equal(at('zone-b-1', 480)?.ready, 'True', 'an outage of a minute is forgiven');
    assert.deepEqual(
      events.filter(({ line }) => line === 14).map((event) => event.at),
      [600, 610, 630, 640, 660, 670],
    );
  });

  it('evicts the pod that leaks when its node runs out of memory', async () => {
    const { evictions, events } = await first(`
pressure: {settings: {evictionHard: {memory.available: 2Gi}}}
events:
- {at: 1m, leakMemory: {workload: shop/web, perSecond: 32Mi, until: 15.5Gi}}
`);
    assert.deepEqual(
      events.map(({ text }) => text),
      ['1 of shop/web leak memory'],
    );
    assert.equal(evictions.length, 1);
    const [{ at, how, because } = assert.fail()] = evictions;
    assert.equal(how, 'pressure');
    assert.match(because[0] ?? '', /^memory\.available<2Gi is met/);
    // 14 GiB less what all others use, at 32 MiB a second.
    assert.ok(at > 60 + 300 && at < 60 + 460, `at ${at}`);
  });

  it('reconnects a node only when no cause keeps it disconnected', async () => {
    const { nodes } = await first(`
events:
- {at: 1m, stopKubelet: {node: zone-a-1}, lasts: 6m}
- {at: 2m, loseNetwork: {zone: zone-a}, lasts: 2m}
- {at: 3m, apiOutage: {}, lasts: 30s}
`);
    const back = (name: string): readonly number[] =>
      (nodes.find((node) => node.name === name)?.states ?? [])
        .filter(({ at, ready }) => at > 0 && ready === 'True')
        .map(({ at }) => at);
    assert.ok((back('zone-a-1')[0] ?? 0) >= 420, `${back('zone-a-1')}`);
    assert.ok((back('zone-a-2')[0] ?? 0) < 260, `${back('zone-a-2')}`);
  });

  it('shows what kube-controller-manager would do beside it', async () => {
    const source = file('topology.yaml', topology);
    const script =
      'events:\n- at: 1m\n  taint: {node: zone-a-1, taint: "a:NoExecute"}\n  lasts: 1s\n';
    const { runs } = await simulated(source, script, '--compare', '--until', '3m');
    assert.deepEqual(
      runs.map(({ semantics }) => semantics),
      ['taintmgr', 'kube-controller-manager'],
    );
    const script2 = 'events:\n- {at: 1m, stopKubelet: {zone: zone-b}, lasts: 15m}\n';
    const found = await simulated(source, script2, '--compare', '--until', '20m');
    for (const { deadlines, evictions } of found.runs) {
      assert.ok(evictions.length > 0);
      assert.equal(deadlines.filter(({ end }) => end === 'evicted').length, evictions.length);
      for (const { setAt, dueAt } of deadlines) assert.ok(Math.abs(dueAt - setAt - 300) <= 1);
    }
    const { out } = await run('simulate', '-f', source, '--compare', '--until', '1m');
    assert.match(out, /^never down, and no pod evicted: .*shop\/web/m);
    assert.match(out, /^kube-controller-manager: 0 evictions/m);
  });
});

describe('a snapshot', () => {
  let snapshot: { items: { kind?: string; metadata: { name: string }; spec: object }[] };
  const kinds = [
    'nodes',
    'leases',
    'deployments',
    'replicasets',
    'statefulsets',
    'daemonsets',
    'jobs',
    'poddisruptionbudgets',
    'pods',
  ];
  before(() => {
    const clock = new VirtualClock(Date.parse('2026-03-01T00:00:00Z'));
    const cluster = new ServedCluster({ clock, seed: 3, topology: threeZones });
    cluster.start();
    assert.ok(clock.advanceUntil(() => cluster.isIdle(), clock.now() + 120_000));
    const items = kinds.flatMap((resource) => cluster.api.list(resource));
    snapshot = JSON.parse(JSON.stringify({ kind: 'List', apiVersion: 'v1', items }));
  });

  const script = 'events:\n- at: 1m\n  taint: {node: zone-a-1, taint: "x=y:NoExecute"}\n';

  it('goes on from where it was', async () => {
    const source = file('cluster.json', JSON.stringify(snapshot));
    const { runs, complete, notes } = await simulated(source, script);
    assert.equal(complete, true);
    assert.deepEqual(notes, [
      'kube-controller-manager is played: nothing says who evicts here, and it usually does; ' +
        '--compare plays taintmgr beside it',
    ]);
    const [only] = runs;
    assert.equal(only?.summary.nodesTainted, 1);
    assert.ok(only.evictions.length > 0);
    assert.ok(only.evictions.every(({ at, node }) => node === 'zone-a-1' && at >= 60));
    const names = only.summary.workloads.map(({ name }) => name).sort();
    assert.deepEqual(names, ['api', 'db', 'metrics', 'node-agent', 'web']);
  });

  it('is refused with file, line and path where something of it cannot be taken', async () => {
    const broken = structuredClone(snapshot);
    const web = broken.items.find(({ kind }) => kind === 'Pod') ?? assert.fail();
    web.spec = { ...web.spec, tolerations: [{ key: 'a', tolerationSeconds: 'soon' }] };
    const text = JSON.stringify(broken, null, 2);
    const source = file('broken.json', text);
    const line = text.split('\n').findIndex((one) => one.includes('"soon"')) + 1;
    const { code, out, err } = await run('simulate', '-f', source);
    assert.equal(code, 1);
    assert.equal(out, '');
    const path = `items\\[\\d+\\]\\.spec\\.tolerations\\[0\\]\\.tolerationSeconds`;
    assert.match(
      err,
      new RegExp(`^error: ${source}:${line}:\\d+: ${path}: Pod \\S+: json: cannot`),
    );

    const partial = await run('simulate', '-f', source, '--partial');
    assert.equal(partial.code, 0);
    assert.match(partial.out, /^PARTIAL: /);
    const { complete, missing } = JSON.parse(
      (await run('simulate', '-f', source, '--partial', '-o', 'json')).out,
    );
    assert.deepEqual([complete, missing.length], [false, 1]);
  });

  it('says how long its pods are taken to need, by probes as the command snapshot leaves them', async () => {
    const probed = structuredClone(snapshot) as {
      items: { kind?: string; spec: { template?: { spec: object }; containers?: object[] } }[];
    };
    for (const { kind, spec } of probed.items) {
      const { containers } = (kind === 'Pod' ? spec : (spec.template?.spec ?? {})) as typeof spec;
      // The ReplicaSets too: else the Deployments would begin a rollout.
      const isProbed = ['Pod', 'Deployment', 'ReplicaSet'].includes(kind ?? '');
      for (const container of isProbed ? (containers ?? []) : []) {
        Object.assign(container, { readinessProbe: { initialDelaySeconds: 40 } });
      }
    }
    const source = file('probed.json', JSON.stringify(probed));
    const isOfWeb = ({ kind, metadata }: (typeof snapshot.items)[number]): boolean =>
      kind === 'Pod' && metadata.name.startsWith('web-');
    const { spec } = snapshot.items.find(isOfWeb) ?? assert.fail();
    const { nodeName } = spec as { readonly nodeName: string };
    const { assumptions, runs } = await simulated(source, script.replace('zone-a-1', nodeName));
    const web = assumptions.find(({ workload }) => workload === 'Deployment shop/web');
    assert.deepEqual(web?.start, { leastSeconds: 40.5, mostSeconds: 52, from: 'probes' });
    const evicted = runs[0]?.summary.workloads.find(({ evictions }) => evictions > 0);
    const { longestGap } = evicted ?? assert.fail('nothing was evicted');
    const seconds = longestGap?.seconds ?? 0;
    assert.ok(seconds >= 40.5 && seconds < 53, `${seconds}`);
  });

  it('lets pods come again whose class and volumes are not in it', async () => {
    const named = structuredClone(snapshot) as {
      items: { spec: { template?: { spec: object }; containers?: object[] } }[];
    };
    for (const { spec } of named.items) {
      const ofPod: { containers?: object[] } = spec.template?.spec ?? spec;
      if (ofPod.containers === undefined) continue;
      Object.assign(ofPod, { priorityClassName: 'gold' });
      for (const container of ofPod.containers) {
        Object.assign(container, { volumeMounts: [{ name: 'data', mountPath: '/data' }] });
      }
    }
    const { runs } = await simulated(file('named.json', JSON.stringify(named)), script);
    const [only] = runs;
    assert.ok((only?.evictions.length ?? 0) > 0);
    assert.deepEqual(
      only?.summary.workloads.filter(({ downAtEnd }) => downAtEnd > 0),
      [],
    );
  });

  it('may be yaml, and of several documents', async () => {
    const { stringify } = await import('yaml');
    const text = snapshot.items.map((item) => stringify(item)).join('---\n');
    const { runs } = await simulated(file('cluster.yaml', text), script);
    assert.equal(runs[0]?.nodes.length, 9);
  });
});

describe('a report', () => {
  const source = file('plain.yaml', topology);
  const before = file('before.html', 'of yesterday');
  // It can be played for a minute.
  const failing = file('failing.yaml', 'events:\n- {at: 1m, resume: {pause: work}}\n');

  for (const [what, report] of [
    ['in a folder that is not there', path('nowhere/page.html')],
    ['in what is no folder', `${source}/page.html`],
    ['that is a folder', path('.')],
    ['that ends like a folder', path('nowhere/')],
    ['without a name', ''],
  ] as const) {
    it(`${what} is refused before anything is played`, async () => {
      const { code, out, err } = await run(
        ...['simulate', '-f', source, '--script', failing, '--report', report],
      );
      assert.deepEqual([code, out], [1, '']);
      assert.ok(err.startsWith(`error: --report ${report}: `), err);
    });
  }

  it('names the folder that is not there', async () => {
    const report = path('nowhere/page.html');
    const { err } = await run('simulate', '-f', source, '--report', report);
    const want = `there is no folder ${path('nowhere')}; want a file in a folder that is there`;
    assert.equal(err.trimEnd(), `error: --report ${report}: ${want}`);
  });

  it('that is there stands where the simulation fails', async () => {
    const args = ['-f', source, '--script', failing, '--report', before];
    assert.equal((await run('simulate', ...args)).code, 1);
    assert.equal(readFileSync(before, 'utf8'), 'of yesterday');
  });

  it('is for its owner alone, also where a link or an open file stood there', async () => {
    const [aim, linked, open] = [file('aim', 'theirs'), path('linked.html'), file('open.html', '')];
    symlinkSync(aim, linked);
    chmodSync(open, 0o644);
    for (const report of [linked, open]) {
      const args = ['-f', source, '--until', '1m', '--report', report];
      assert.equal((await run('simulate', ...args)).code, 0);
      const made = lstatSync(report);
      assert.deepEqual([made.isFile(), made.mode & 0o777], [true, 0o600]);
    }
    assert.equal(readFileSync(aim, 'utf8'), 'theirs');
  });

  // The one file of Linux that can be opened and takes nothing.
  it('that cannot be written in the end costs no answer', {
    skip: process.platform !== 'linux',
  }, async () => {
    const args = ['-f', source, '--until', '1m', '--report', '/dev/full'];
    const { code, out, err } = await run('simulate', ...args);
    assert.equal(code, 1);
    assert.match(out, /shop\/web/);
    assert.match(err, /error: --report \/dev\/full: ENOSPC: no space left on device, write$/m);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pdb, type Rule, toleration } from '@taintmgr/sim-cluster';
import { type Result, run, start, steady } from '../../world/run.ts';
import { app, Scenario } from '../../world/scenario.ts';
import { startTestCluster, type TestCluster, until, versions } from '../../world/test-cluster.ts';

// Drains on a cluster over HTTPS. Each test has a zone of two nodes for itself, so several can
// run at the same time: most of it is spent waiting for the next attempt, 5 s after a refusal.

const maintenance = 'maintenance=kernel:NoExecute';
const tolerates = (seconds: number) => ({
  tolerations: [toleration('maintenance:NoExecute', seconds)],
});

const read: Rule = {
  verbs: ['get', 'list'],
  apiGroups: ['', 'policy', 'coordination.k8s.io'],
  resources: ['nodes', 'pods', 'poddisruptionbudgets', 'leases'],
};
const taintNodes: Rule = { verbs: ['patch'], apiGroups: [''], resources: ['nodes'] };
const taintHalf: Rule = { ...taintNodes, resourceNames: ['half-1'] };
const watch: Rule = { verbs: ['watch'], apiGroups: [''], resources: ['nodes', 'pods'] };
const evict: Rule = { verbs: ['create'], apiGroups: [''], resources: ['pods/eviction'] };

/** Users whose rights change while they drain. */
const evictor: Rule[] = [read, taintNodes, watch, evict];
const tainter: Rule[] = [read, taintNodes, watch, evict];

const zones = {
  plain: [app('plain', 'web', { replicas: 2 })],
  held: [app('held', 'web', { replicas: 2 })],
  stuck: [app('stuck', 'web'), app('stuck', 'api')],
  slow: [app('slow', 'db', tolerates(60))],
  rights: [app('rights', 'web')],
  deaf: [app('deaf', 'db', tolerates(60))],
  denied: [app('denied', 'web')],
  meek: [app('meek', 'web')],
  again: [app('again', 'db', tolerates(3))],
  early: [app('early', 'web')],
  both: [app('both', 'web', { replicas: 4 })],
  some: [app('some', 'web'), app('some', 'db')],
  grace: [app('grace', 'web')],
  half: [app('half', 'web')],
  clash: [app('clash', 'web')],
  mixed: [app('mixed', 'web')],
  double: [app('double', 'web'), app('double', 'api')],
};

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster(
    {
      region: 'r',
      zones: Object.keys(zones),
      nodesPerZone: 2,
      workloads: Object.values(zones).flat(),
      budgets: [
        pdb('held', 'web', { minAvailable: 2 }),
        pdb('stuck', 'web', { minAvailable: 1 }),
        pdb('double', 'one', { maxUnavailable: 1 }, { matchLabels: { app: 'web' } }),
        pdb('double', 'two', { maxUnavailable: 1 }, { matchLabels: { app: 'web' } }),
      ],
    },
    {
      cannotEvict: [read, taintNodes, watch],
      cannotWatch: [read, taintNodes],
      halfTainter: [read, taintHalf],
      evictor,
      tainter,
      reader: [read],
    },
  );
  process.env.KUBECONFIG = cluster.kubeconfig;
});
after(() => cluster.stop());

/** The scenario of a zone, and the node that a pod of the workload is on. */
function scene(zone: keyof typeof zones, name: string): { scenario: Scenario; nodeName: string } {
  const scenario = new Scenario(cluster, zone);
  const [pod] = scenario.pods(name);
  assert.ok(pod, `${zone} has a pod of ${name}`);
  return { scenario, nodeName: pod.spec.nodeName };
}

const drain = async (...args: readonly string[]): Promise<Result> =>
  steady(await run('drain-by-taint', maintenance, '--allow-overlap', ...args));

const closed = (nodeName: string): string =>
  `node/${nodeName} cordoned\nnode/${nodeName} tainted\n`;

const undo = 'hint: to undo: kubectl taintmgr undo <drain>\n';

describe('drain-by-taint', { concurrency: 4 }, () => {
  it('taints, evicts and says so; the pods come back elsewhere', async () => {
    const { scenario, nodeName } = scene('plain', 'web');
    const names = scenario.pods('web').flatMap(({ metadata, spec }) => {
      return spec.nodeName === nodeName ? [metadata.name] : [];
    });
    const begunAt = Date.now();
    const { code, out, err } = await drain(nodeName);
    const endedAt = Date.now();
    assert.deepEqual([code, err], [0, undo]);
    const evicted = names.map((name) => `pod/${name} evicted (plain, ${nodeName}, 0.Xs)`);
    const lines = out.trimEnd().split('\n');
    assert.deepEqual(lines.slice(2, -1).sort(), evicted.sort());
    assert.equal([...lines.slice(0, 2), ''].join('\n'), closed(nodeName));
    assert.equal(
      lines.at(-1),
      `node/${nodeName} drained (${names.length} pod${names.length === 1 ? '' : 's'})`,
    );
    assert.deepEqual(scenario.taints(nodeName), ['maintenance']);
    const [{ timeAdded }] = cluster.api.get('nodes', '', nodeName)?.spec.taints ?? [];
    // The API keeps whole seconds.
    const taintedAt = Date.parse(timeAdded);
    assert.ok(taintedAt > begunAt - 1000 && taintedAt <= endedAt, timeAdded);
    await until('web to run elsewhere', () => scenario.runElsewhere('web', 2, nodeName));
    const history = ['history', '-n', 'plain', '-o', 'jsonpath={.items[*].by.who}'];
    const who = names.map(() => 'kubectl taintmgr drain-by-taint').join(' ');
    assert.equal((await run(...history)).out, who);
    const again = ['already cordoned', 'already tainted', 'drained (0 pods)'];
    assert.deepEqual(await drain(nodeName), {
      code: 0,
      out: again.map((what) => `node/${nodeName} ${what}\n`).join(''),
      err: undo,
    });
  });

  it('waits for a budget that refuses, and goes on when that allows it', async () => {
    const { scenario, nodeName } = scene('held', 'web');
    const running = start(['drain-by-taint', maintenance, '--allow-overlap', nodeName]);
    await running.output.saw(/^Warning: held\/web-\S+ on held-. ?[^:]*: PDB web \(needs action\)/m);
    const budget = cluster.api.get('poddisruptionbudgets', 'held', 'web');
    assert.ok(budget);
    cluster.api.update('poddisruptionbudgets', {
      ...budget,
      spec: { ...budget.spec, minAvailable: 1 },
    });
    const { code, out, err } = await running.result;
    assert.equal(code, 0);
    assert.match(
      err,
      new RegExp(
        `^Warning: held/web-\\S+ on ${nodeName}: PDB web \\(needs action\\): ` +
          'The disruption budget web needs 2 healthy pods and has 2 currently\n',
      ),
    );
    assert.match(
      out,
      new RegExp(`evicted \\(held, ${nodeName}, \\d+\\.\\ds\\)\nnode/.* drained \\(.*\\)\n$`),
    );
    await until('web to run elsewhere', () => scenario.runElsewhere('web', 2, nodeName));
  });

  it('takes a --timeout longer than any timer', async () => {
    const { nodeName } = scene('early', 'web');
    const { code, out } = await drain(nodeName, '--timeout=1000h');
    assert.equal(code, 0);
    assert.match(out, /drained \(1 pod\)\n$/);
  });

  const lacking: readonly (readonly [
    zone: 'rights' | 'deaf' | 'meek',
    args: string,
    may: string,
  ])[] = [
    ['rights', '--token=cannotEvict', 'create pods/eviction -n rights'],
    ['rights', '--token=cannotEvict --pdb-policy=ignore', 'delete pods -n rights'],
    [
      'rights',
      '--token=cannotEvict --pdb-policy=delete-after:1h',
      'create pods/eviction -n rights, delete pods -n rights',
    ],
    [
      'rights',
      '--token=cannotEvict --restart-single-replicas',
      'create pods/eviction -n rights, get replicasets.apps -n rights, get deployments.apps -n rights, patch deployments.apps -n rights',
    ],
    ['deaf', '--token=cannotWatch', 'watch nodes/NODE, watch pods, create pods/eviction -n deaf'],
    [
      'meek',
      '--token=reader',
      'watch nodes/NODE, watch pods, patch nodes/NODE, create pods/eviction -n meek',
    ],
  ];
  for (const [zone, args, may] of lacking) {
    it(`changes nothing without rights, and names them: ${zone} ${args}`, async () => {
      const { scenario, nodeName } = scene(zone, zone === 'deaf' ? 'db' : 'web');
      const before = versions(cluster.api, scenario.owns);
      const text = may.replaceAll('NODE', nodeName);
      assert.deepEqual(await drain(nodeName, ...args.split(' ')), {
        code: 1,
        out: '',
        err: `error: no permission to ${text}; nothing was changed\n`,
      });
      assert.deepEqual(versions(cluster.api, scenario.owns), before);
    });
  }

  it('changes nothing where it may taint the first node only', async () => {
    const { code, out, err } = await drain('half-1', 'half-2', '--token=halfTainter');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^error: no permission to .*\bpatch nodes\/half-2\b.*; nothing was /);
  });

  /** Takes a right away as soon as the node has been tainted. */
  const revokeAfter = (nodeName: string, rules: Rule[], revoked: Rule): void => {
    const stop = cluster.api.subscribe(({ resource, object }) => {
      if (resource !== 'nodes' || object.metadata.name !== nodeName) return;
      if (!object.spec.unschedulable) return;
      stop();
      rules.splice(rules.indexOf(revoked), 1);
    });
  };

  it('ends at once when a right to evict is taken away, and names it', async () => {
    const { scenario, nodeName } = scene('denied', 'web');
    const { name } = scenario.pod('web').metadata;
    revokeAfter(nodeName, evictor, evict);
    const { code, err } = await drain(nodeName, '--token=evictor');
    const message =
      `pods "${name}" is forbidden: User "evictor" cannot create resource ` +
      '"pods/eviction" in API group "" in the namespace "denied"';
    assert.equal(code, 1);
    assert.ok(
      err.startsWith(`Warning: denied/${name} on ${nodeName} could not be evicted: ${message}\n`),
      err,
    );
    assert.match(err, /^error: the drain cannot continue, 0 of 1 pod gone\n/m);
    assert.ok(err.includes(`${message} (1 try)\n`), err);
    assert.ok(err.endsWith(undo), err);
  });

  it('says what it has done when the right to cordon is taken away between two nodes', async () => {
    revokeAfter('half-1', tainter, taintNodes);
    const { code, out, err } = await drain('half-1', 'half-2', '--token=tainter');
    assert.deepEqual([code, out], [1, 'node/half-1 cordoned\n']);
    const why = (name: string): string =>
      `nodes "${name}" is forbidden: User "tainter" cannot patch`;
    const later = 'could not be cordoned, it is tried again at its turn';
    assert.ok(err.startsWith(`Warning: node half-2 ${later}: ${why('half-2')}`), err);
    for (const name of ['half-1', 'half-2'])
      assert.ok(err.includes(`\n  node ${name}: ${why(name)}`), err);
    assert.ok(err.endsWith(undo), err);
  });

  it('ends when only pods are left that no waiting helps: two budgets for one pod', async () => {
    const { code, out, err } = await drain('-l', new Scenario(cluster, 'double').selector);
    assert.equal(code, 2);
    assert.match(out, /^pod\/api-\S+ evicted \(double, /m);
    assert.match(
      err,
      /^Warning: double\/web-\S+ on double-.: PDBs one, two \(needs action\): This pod has more than one /m,
    );
    assert.match(err, /^error: 1 of 2 nodes drained; 1 pod stays on double-1\n/m);
  });

  it('tries again when somebody else changes the node at the same time', async () => {
    const { scenario, nodeName } = scene('clash', 'web');
    const clash = { kind: 'answer', code: 409 } as const;
    const { faults } = cluster.api;
    faults.add({ fault: clash, verbs: ['patch'], resource: 'nodes', name: nodeName, times: 1 });
    assert.equal((await drain(nodeName)).code, 0);
    assert.deepEqual(scenario.taints(nodeName), ['maintenance']);
  });

  it('leaves the other taints of a node as they are', async () => {
    const { nodeName } = scene('mixed', 'web');
    const node = cluster.api.get('nodes', '', nodeName);
    assert.ok(node);
    const kept = [
      { key: 'maintenance', value: 'disk', effect: 'PreferNoSchedule' },
      { key: 'other', value: 'x', effect: 'NoExecute', timeAdded: '2030-01-02T03:04:05Z' },
    ];
    const replaced = { key: 'maintenance', value: 'disk', effect: 'NoExecute' };
    cluster.api.update('nodes', { ...node, spec: { ...node.spec, taints: [...kept, replaced] } });
    assert.equal((await drain(nodeName)).code, 0);
    // The cluster itself adds one for cordoned nodes.
    const taints: readonly { key: string }[] = cluster.api.get('nodes', '', nodeName)?.spec.taints;
    const ours = taints.filter(({ key }) => key in { maintenance: 0, other: 0 });
    assert.deepEqual(ours.slice(0, 2), kept);
    assert.match(
      JSON.stringify(ours.slice(2)),
      /^\[\{"key":"maintenance","value":"kernel","effect":"NoExecute","timeAdded":"[^"]+"\}\]$/,
    );
  });

  it('stops at Ctrl-C before anything is changed', async () => {
    const { result, interrupt } = start([
      'drain-by-taint',
      maintenance,
      '--allow-overlap',
      'half-2',
    ]);
    interrupt();
    assert.deepEqual(await result, { code: 130, out: '', err: 'error: interrupted\n' });
    assert.deepEqual(new Scenario(cluster, 'half').taints('half-2'), []);
  });

  it('stops at Ctrl-C, and the same command goes on', async () => {
    const { nodeName } = scene('again', 'db');
    const first = start(['drain-by-taint', maintenance, '--allow-overlap', nodeName], true);
    await first.output.saw(
      / 0 of 1 pod gone\n {2}1 waiting for tolerations to expire \(next in [0-3]s\)\n {2}done in about [0-3]s: /,
    );
    first.interrupt();
    const { code, out, err } = steady(await first.result);
    assert.deepEqual([code, out], [130, closed(nodeName)]);
    assert.match(
      err,
      /^error: interrupted, 0 of 1 pod gone; run the same command again to continue\n/,
    );
    assert.ok(err.endsWith(undo), err);
    const second = await drain(nodeName);
    assert.equal(second.code, 0);
    const evicted = `pod/\\S+ evicted \\(again, ${nodeName}, 0.Xs\\)`;
    const lines = `^node/${nodeName} already cordoned\nnode/${nodeName} already tainted\n${evicted}\nnode/${nodeName} drained \\(1 pod\\)\n$`;
    assert.match(second.out, new RegExp(lines));
  });

  it('drains the nodes of a selector, and only those', async () => {
    const scenario = new Scenario(cluster, 'both');
    const { code, out, err } = await drain('-l', scenario.selector);
    assert.deepEqual([code, err], [0, undo]);
    assert.match(
      out,
      /^node\/both-1 cordoned\nnode\/both-2 cordoned\nnode\/both-1 tainted\n(pod\/web-\S+ evicted .*\n|node\/both-1 drained .*\n|node\/both-2 tainted\n){6}node\/both-2 drained \(\d pods?\)\n2 nodes drained, 4 pods evicted in Xs\n$/,
    );
  });

  it('takes the pods of --pod-selector only', async () => {
    const { scenario, nodeName } = scene('some', 'web');
    const { name } = scenario.pod('db').metadata;
    const { code, out } = await drain(nodeName, '--pod-selector=app=web');
    assert.equal(code, 0);
    assert.match(
      out,
      /^node\/\S+ cordoned\nnode\/\S+ tainted\npod\/web-\S+ evicted .*\nnode\/\S+ drained \(1 pod\)\n$/,
    );
    assert.equal(scenario.pod('db').metadata.name, name);
  });

  it('hands --grace-period on', async () => {
    const { nodeName } = scene('grace', 'web');
    const seconds = new Set<unknown>();
    const forget = cluster.api.subscribe(({ object: { metadata } }) => {
      if (metadata.namespace === 'grace') seconds.add(metadata.deletionGracePeriodSeconds);
    });
    assert.equal((await drain(nodeName, '--grace-period=7')).code, 0);
    forget();
    assert.ok(seconds.has(7) && !seconds.has(30), [...seconds].join());
  });
});

// Beside nothing else, so that each has tainted its node long before its time is over.
describe('drain-by-taint --timeout', () => {
  it('gives up at --timeout: exit 2 where a budget holds pods', async () => {
    const { scenario, nodeName } = scene('stuck', 'web');
    const { name } = scenario.pod('web').metadata;
    const { code, out, err } = await drain(nodeName, '--timeout=4500ms', '--pod-selector=app=web');
    assert.deepEqual([code, out], [2, closed(nodeName)]);
    const why = 'The disruption budget web needs 1 healthy pods and has 1 currently';
    const pod = `stuck/${name}`;
    assert.equal(
      err,
      `Warning: ${pod} on ${nodeName}: PDB web (needs action): ${why}\n` +
        'error: not drained because pods are blocked, 0 of 1 pod gone\n' +
        `  POD${' '.repeat(pod.length)}NODE      STATE\n  ${pod}   ${nodeName}   ${why} (1 try; will not resolve by itself)\n` +
        'hint: PDB stuck/web: scale up or relax the PDB, ' +
        'or use --pdb-policy=delete-after:DURATION\n' +
        undo,
    );
    assert.equal(scenario.pod('web').metadata.name, name);
  });

  it('gives up at --timeout: exit 3 where it only takes long', async () => {
    const { nodeName } = scene('slow', 'db');
    const { code, out, err } = await drain(nodeName, '--timeout=5s');
    assert.deepEqual([code, out], [3, closed(nodeName)]);
    assert.match(err, /^error: not drained within --timeout, 0 of 1 pod gone\n {2}POD/);
    assert.match(err, /tolerates the taint until 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\n/);
  });
});

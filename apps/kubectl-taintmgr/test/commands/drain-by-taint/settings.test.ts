import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { pdb, statefulSet, toleration } from '@taintmgr/sim-cluster';
import { type Result, run, start, steady } from '../../world/run.ts';
import { app, inZone, Scenario } from '../../world/scenario.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';

// What the flags of a drain do. kube-controller-manager holds its lease here, so the taint is one
// for which no other controller evicts. Each test has a zone of two nodes for itself.

const taint = 'maintenance=kernel:NoSchedule';
const tolerates = (seconds?: number) => ({
  tolerations: [toleration('maintenance:NoExecute', seconds)],
});

const zones = {
  now: [app('now', 'db', tolerates(60)), app('now', 'cache', tolerates())],
  all: [app('all', 'db', tolerates(60)), app('all', 'cache', tolerates())],
  later: [app('later', 'web')],
  ignore: [app('ignore', 'web')],
  once: [app('once', 'web'), app('once', 'api')],
  frees: [app('frees', 'web', { replicas: 2 })],
  turns: [app('turns', 'web', { replicas: 4 })],
  few: [app('few', 'web', { replicas: 4 })],
  east: [app('east', 'web', { replicas: 2 })],
  west: [app('west', 'web', { replicas: 2 })],
  back: [app('back', 'web')],
  half: [app('half', 'web'), app('half', 'db')],
  stays: [app('stays', 'db', tolerates(60))],
  vanish: [app('vanish', 'web')],
  verdict: [app('verdict', 'web')],
  same: [statefulSet('same', 'db', inZone('same'))],
  doc: [app('doc', 'web'), app('doc', 'db', tolerates(60))],
  late: [app('late', 'web')],
  flags: [app('flags', 'db', tolerates(3))],
  filed: [app('filed', 'db', tolerates(3))],
};

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster({
    region: 'r',
    zones: Object.keys(zones),
    nodesPerZone: 2,
    workloads: Object.values(zones).flat(),
    budgets: ['later', 'ignore', 'once', 'back', 'half', 'vanish', 'verdict']
      .map((zone) => pdb(zone, 'web', { minAvailable: 1 }))
      .concat(pdb('frees', 'web', { minAvailable: 2 })),
  });
  process.env.KUBECONFIG = cluster.kubeconfig;
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  cluster.api.create('leases', {
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
    spec: { holderIdentity: 'host-1', leaseDurationSeconds: 3600, renewTime },
  });
});
after(() => cluster.stop());

const drain = async (...args: readonly string[]): Promise<Result> =>
  steady(await run('drain-by-taint', taint, ...args));

/** The scenario of a zone, and the node that a pod of the workload is on. */
function scene(zone: keyof typeof zones, name: string): { scenario: Scenario; nodeName: string } {
  const scenario = new Scenario(cluster, zone);
  const [pod] = scenario.pods(name);
  assert.ok(pod, `${zone} has a pod of ${name}`);
  return { scenario, nodeName: pod.spec.nodeName };
}

/** Uids of pods whose deletion was asked for, by workload, as often as it was. */
function deletionsIn(zone: string): { readonly uids: string[]; readonly forget: () => void } {
  const uids: string[] = [];
  const seen = new Set<string>();
  const forget = cluster.api.subscribe(({ resource, object: { metadata } }) => {
    if (resource !== 'pods' || metadata.namespace !== zone || !metadata.deletionTimestamp) return;
    if (!seen.has(metadata.uid ?? '')) uids.push(metadata.uid ?? '');
    seen.add(metadata.uid ?? '');
  });
  return { uids, forget };
}

/** The lines of data that begin so, in their order. */
const linesOf = (out: string, pattern: RegExp): readonly string[] =>
  out.split('\n').filter((line) => pattern.test(line));

/** Whether a drain has left its mark on a node. */
function marked(nodeName: string): boolean {
  const node = cluster.api.get('nodes', '', nodeName);
  return node?.metadata.annotations?.['taintmgr.dev/drain'] !== undefined;
}

describe('the flags of drain-by-taint', { concurrency: 4 }, () => {
  it('--now waits for nobody, and leaves who tolerates the taint without limit', async () => {
    const zone = new Scenario(cluster, 'now');
    const cache = zone.pod('cache').metadata.name;
    const { code, out } = await drain('-l', zone.selector, '--now');
    assert.equal(code, 0);
    assert.match(out, /^pod\/db-\S+ evicted /m);
    assert.doesNotMatch(out, /pod\/cache/);
    assert.match(
      out,
      /; 1 pod stays: now\/cache\S+ \(tolerates maintenance=kernel without limit\)/,
    );
    assert.equal(zone.pod('cache').metadata.name, cache);
  });

  it('--ignore-tolerations leaves nobody', async () => {
    const zone = new Scenario(cluster, 'all');
    const { nodeName } = scene('all', 'cache');
    const { code, out } = await drain(nodeName, '--ignore-tolerations');
    assert.equal(code, 0);
    assert.match(out, /^pod\/cache-\S+ evicted /m);
    await until('cache to run elsewhere', () => zone.runElsewhere('cache', 1, nodeName));
  });

  it('--pdb-policy=delete-after asks budgets for a while', async () => {
    const { nodeName } = scene('later', 'web');
    const { code, out, err } = await drain(nodeName, '--pdb-policy=delete-after:1s');
    assert.equal(code, 0);
    assert.match(out, /^pod\/web-\S+ deleted \(later, /m);
    assert.match(err, /^Warning: deleting later\/web-\S+ on later-.: PDB wait \(1s\) exceeded$/m);
  });

  it('--disable-eviction asks nobody', async () => {
    const { nodeName } = scene('ignore', 'web');
    const { code, out, err } = await drain(nodeName, '--disable-eviction');
    assert.equal(code, 0);
    assert.match(out, /^pod\/web-\S+ deleted \(ignore, /m);
    assert.doesNotMatch(err, /Warning/);
  });

  it('--once tries each pod once', async () => {
    const zone = new Scenario(cluster, 'once');
    const { code, out, err } = await drain('-l', zone.selector, '--once');
    assert.equal(code, 2);
    assert.match(out, /^pod\/api-\S+ evicted /m);
    assert.match(
      err,
      /^error: 1 of 2 nodes drained; 1 pod stays on once-\d: PDB web needs action$/m,
    );
    assert.match(err, /\(1 try; will not resolve by itself\)$/m);
  });

  it('a budget that frees up when somebody scales up lets the pods go', async () => {
    const { nodeName } = scene('frees', 'web');
    const zone = new Scenario(cluster, 'frees');
    const { output, result } = start(['drain-by-taint', taint, nodeName]);
    await output.saw(/PDB web \(needs action\)/);
    const web = cluster.api.get('deployments', 'frees', 'web');
    assert.ok(web);
    cluster.api.update('deployments', { ...web, spec: { ...web.spec, replicas: 3 } });
    assert.equal((await result).code, 0);
    await until('three to run elsewhere', () => zone.runElsewhere('web', 3, nodeName));
  });

  it('one node after the other by default', async () => {
    const zone = new Scenario(cluster, 'turns');
    const { code, out } = await drain('-l', zone.selector);
    assert.equal(code, 0);
    const nodes = linesOf(out, /^(pod|node)\/\S+ (evicted|drained)/).map(
      (line) => /turns-\d/.exec(line)?.[0],
    );
    assert.deepEqual([...new Set(nodes)], ['turns-1', 'turns-2']);
    assert.deepEqual(nodes, [...nodes].sort());
  });

  it('--max-parallel-pods limits how many are on their way out', async () => {
    const zone = new Scenario(cluster, 'few');
    const leaving = new Set<string>();
    let most = 0;
    const forget = cluster.api.subscribe(({ resource, type, object: { metadata } }) => {
      if (resource !== 'pods' || metadata.namespace !== 'few') return;
      if (type === 'DELETED') leaving.delete(metadata.name);
      else if (metadata.deletionTimestamp) leaving.add(metadata.name);
      most = Math.max(most, leaving.size);
    });
    const flags = ['--max-parallel-nodes=0', '--max-parallel-pods=1'];
    const { code, out } = await drain('-l', zone.selector, ...flags);
    forget();
    assert.equal(code, 0);
    assert.equal(linesOf(out, /^pod\/web-\S+ evicted/).length, 4);
    assert.equal(most, 1);
  });

  it('--zone-serial finishes one zone before the next', async () => {
    const names = ['west-1', 'east-1', 'west-2', 'east-2'];
    const { code, out } = await drain(...names, '--zone-serial', '--max-parallel-nodes=0');
    assert.equal(code, 0);
    const zoneOrder = linesOf(out, /^(pod|node)\/\S+ (evicted|drained)/).map(
      (line) => /(east|west)-\d/.exec(line)?.[1],
    );
    assert.deepEqual(zoneOrder, [...zoneOrder].sort().reverse());
    assert.deepEqual([...new Set(zoneOrder)], ['west', 'east']);
  });

  it('--rollback-on-failure takes back what it has set', async () => {
    const { nodeName } = scene('back', 'web');
    const before = cluster.api.get('nodes', '', nodeName);
    const { code, out, err } = await drain(nodeName, '--once', '--rollback-on-failure');
    assert.equal(code, 2);
    assert.match(out, new RegExp(`node/${nodeName} uncordoned\nnode/${nodeName} untainted\n$`));
    assert.doesNotMatch(err, /undo/);
    // The taint of the cordon is the node lifecycle's, and goes when that sees that it is no more.
    const taintsOf = (one: typeof before): unknown => one?.spec.taints ?? [];
    await until('the taint of the cordon is gone', () =>
      isDeepStrictEqual(taintsOf(cluster.api.get('nodes', '', nodeName)), taintsOf(before)),
    );
    const now = cluster.api.get('nodes', '', nodeName);
    assert.equal(now?.spec.unschedulable, undefined);
    assert.equal(now?.metadata.annotations?.['taintmgr.dev/drain'], undefined);
  });

  it('--rollback-on-failure keeps what it has set on nodes that are drained', async () => {
    const { scenario, nodeName: held } = scene('half', 'web');
    const other = held === 'half-1' ? 'half-2' : 'half-1';
    const { code, out } = await drain('-l', scenario.selector, '--once', '--rollback-on-failure');
    assert.equal(code, 2);
    assert.match(out, new RegExp(`^node/${held} untainted$`, 'm'));
    assert.doesNotMatch(out, new RegExp(`${other} un`));
    assert.deepEqual(marked(other), true);
    assert.deepEqual(marked(held), false);
  });

  it('--rollback-on-failure takes nothing back after Ctrl-C: the same command goes on', async () => {
    const { nodeName } = scene('stays', 'db');
    const running = start(['drain-by-taint', taint, nodeName, '--rollback-on-failure']);
    await running.output.saw(/tainted$/m);
    running.interrupt();
    const { code, out, err } = await running.result;
    assert.equal(code, 130, err);
    assert.doesNotMatch(out, /untainted|uncordoned/);
    assert.match(err, /^hint: to undo: kubectl taintmgr undo drain-/m);
    assert.equal(marked(nodeName), true);
  });

  it('a node that vanishes is done with', async () => {
    const { nodeName } = scene('vanish', 'web');
    const { output, result } = start(['drain-by-taint', taint, nodeName]);
    await output.saw(/tainted$/m);
    await output.saw(/PDB web/);
    cluster.cluster.removeNode(nodeName);
    const { code, err } = await result;
    assert.equal(code, 0);
    assert.match(err, new RegExp(`^Warning: node ${nodeName} was deleted$`, 'm'));
    assert.doesNotMatch(err, /to undo/, 'nothing is left of it to undo');
  });

  it('a pod that comes back elsewhere under the same name is left alone', async () => {
    const { scenario, nodeName } = scene('same', 'db');
    const [old] = scenario.pods('db');
    const { uids, forget } = deletionsIn('same');
    const { code, out } = await drain(nodeName);
    assert.equal(code, 0);
    assert.match(out, /^pod\/db-0 evicted /m);
    await until('db-0 to run elsewhere', () => scenario.runElsewhere('db', 1, nodeName));
    forget();
    assert.deepEqual(uids, [old?.metadata.uid]);
    assert.notEqual(scenario.pod('db').metadata.uid, old?.metadata.uid);
  });

  it('-o json says whether waiting helps a pod that a budget holds, as the text does', async () => {
    const { nodeName } = scene('verdict', 'web');
    const { code, out, err } = await drain(nodeName, '--once', '-o', 'json');
    assert.equal(code, 2, err);
    assert.match(err, /\(1 try; will not resolve by itself\)$/m);
    const { status } = JSON.parse(out);
    const pods: readonly { blocker?: { verdict: string } }[] = status.nodes[0].pods;
    assert.deepEqual(
      pods.flatMap(({ blocker }) => blocker?.verdict ?? []),
      ['never'],
    );
  });

  it('-o json is one document, with the result as its contract; the rest goes to stderr', async () => {
    const zone = new Scenario(cluster, 'doc');
    const { code, out, err } = await drain('-l', zone.selector, '--timeout=5s', '-o', 'json');
    assert.equal(code, 3);
    assert.match(err, /^node\/doc-1 cordoned$/m);
    const { kind, spec, status } = JSON.parse(out);
    assert.deepEqual([kind, status.result], ['Drain', 'TimedOut']);
    assert.deepEqual(spec.taint, { key: 'maintenance', value: 'kernel', effect: 'NoSchedule' });
    assert.match(status.id, /^<drain>$/);
    const pods: readonly { name: string; state: string; attempts: number }[] = status.nodes.flatMap(
      (node: { pods: object[] }) => node.pods,
    );
    assert.deepEqual(pods.map(({ name, state }) => `${name.replace(/-.*/, '')} ${state}`).sort(), [
      'db Waiting',
      'web Gone',
    ]);
    const phases = status.nodes.map(({ phase }: { phase: string }) => phase).sort();
    assert.ok(phases.includes('Failed'), phases);
  });

  it('a bare pod that comes late is left, with a warning', async () => {
    const { nodeName } = scene('late', 'web');
    const { output, result } = start(['drain-by-taint', taint, nodeName, '--grace-period=3']);
    await output.saw(/tainted$/m);
    cluster.api.create('pods', {
      metadata: { name: 'bare', namespace: 'late' },
      spec: { nodeName, containers: [{ name: 'c', image: 'x' }] },
    });
    const { code, err } = await result;
    assert.equal(code, 0);
    const warning =
      /^Warning: late\/bare on late-. arrived after the drain started and stays: .* \(--force\)$/m;
    if (warning.test(err)) assert.ok(cluster.api.get('pods', 'late', 'bare'));
  });

  /** The command line of a drain of these nodes, by flags or by a file. */
  const lineOf = (how: 'flags' | 'filed', nodes: readonly string[]): readonly string[] => {
    if (how === 'flags') return ['drain-by-taint', taint, ...nodes];
    const spec = { nodes, taint: { key: 'maintenance', value: 'kernel', effect: 'NoSchedule' } };
    const path = join(cluster.directory, 'drain.json');
    const drain = { apiVersion: policyApiVersion, kind: 'NodeDrain', metadata: { name: 'late' } };
    writeFileSync(path, JSON.stringify({ ...drain, spec }));
    return ['drain-by-taint', '-f', path];
  };
  for (const how of ['flags', 'filed'] as const) {
    it(`a bare pod that comes before the turn of its node keeps it from beginning: ${how}`, async () => {
      const { scenario, nodeName } = scene(how, 'db');
      const other = nodeName === `${how}-1` ? `${how}-2` : `${how}-1`;
      const { output, result } = start([...lineOf(how, [nodeName, other])]);
      await output.saw(new RegExp(`${nodeName} tainted$`, 'm'));
      cluster.api.create('pods', {
        metadata: { name: 'bare', namespace: how },
        spec: {
          nodeName: other,
          containers: [{ name: 'c', image: 'x' }],
          volumes: [{ name: 'data', emptyDir: {} }],
        },
      });
      const { code, out, err } = await result;
      assert.equal(code, 2, err);
      assert.match(out, new RegExp(`^node/${nodeName} drained`, 'm'));
      assert.doesNotMatch(out, new RegExp(`${other} (tainted|drained)`));
      const why =
        'has local storage \\(emptyDir\\), whose data would be lost \\(--delete-emptydir-data\\); ' +
        'is not managed by a controller \\(--force\\)';
      assert.match(err, new RegExp(`^  node ${other}: not begun: pod ${how}/bare: ${why}$`, 'm'));
      assert.deepEqual(scenario.taints(other), []);
      assert.equal(cluster.api.get('pods', how, 'bare')?.metadata.deletionTimestamp, undefined);
    });
  }
});

// In which order a drain from here goes, and what it waits for: by its flags, and by a file.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { job, type KubeObject, pdb, pod } from '@taintmgr/sim-cluster';
import { type Result, run, start, steady } from '../../world/run.ts';
import { app, inZone, Scenario } from '../../world/scenario.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';

const taint = 'maintenance=kernel:NoSchedule';
const onlyOn = (node: string): object => ({ nodeSelector: { 'kubernetes.io/hostname': node } });

const zones = {
  waves: [app('waves', 'web', { replicas: 4 })],
  ranks: [],
  few: [app('few', 'web', { replicas: 4 })],
  single: [app('single', 'web')],
  file: [app('file', 'web', { replicas: 2 })],
};

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster({
    region: 'r',
    zones: Object.keys(zones),
    nodesPerZone: 4,
    workloads: Object.values(zones).flat(),
    budgets: [pdb('single', 'web', { minAvailable: 1 })],
  });
  process.env.KUBECONFIG = cluster.kubeconfig;
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ranks' } };
  cluster.api.create('namespaces', namespace);
});
after(() => cluster.stop());

const drain = async (...args: readonly string[]): Promise<Result> =>
  steady(await run('drain-by-taint', ...args));

/** The pods and nodes that lines of data name, in their order. */
const namesIn = (out: string, pattern: RegExp): readonly string[] =>
  Array.from(out.matchAll(pattern), ([, name = '']) => name);

function label(node: string, labels: object): void {
  const { api } = cluster;
  const object = api.get('nodes', '', node) ?? assert.fail();
  const all = { ...object.metadata.labels, ...labels };
  api.update('nodes', { ...object, metadata: { ...object.metadata, labels: all } });
}

/** A pod that nobody starts again. */
function bare(zone: string, name: string, spec: object): KubeObject {
  return pod(zone, name, {
    labels: { app: name },
    spec: { ...inZone(zone).podSpec, ...spec },
  });
}

describe('the order of a drain', { concurrency: 1 }, () => {
  it('--wave: one wave after the other, and the plan says so', async () => {
    const zone = new Scenario(cluster, 'waves');
    label('waves-3', { ring: 'canary' });
    label('waves-1', { ring: 'early' });
    const line = [taint, '-l', zone.selector, '--wave=ring=canary', '--wave=ring=early'];
    const plan = await drain(...line, '--max-parallel-nodes=50%', '--dry-run=client');
    assert.deepEqual(plan.out.match(/^Wave .*/gm), [
      'Wave 1 of 3: ring=canary: 1 node, 50% at a time: waves-3',
      'Wave 2 of 3: ring=early: 1 node, 50% at a time: waves-1',
      'Wave 3 of 3: the others: 2 nodes, 50% at a time: waves-2, waves-4',
    ]);
    const document = await drain(...line, '--dry-run=client', '-o=json');
    const { nodes } = JSON.parse(document.out).status;
    assert.deepEqual(
      nodes.map(({ name, wave }: { name: string; wave: string }) => [name, wave]),
      [
        ['waves-3', 'ring=canary'],
        ['waves-1', 'ring=early'],
        ['waves-2', 'the others'],
        ['waves-4', 'the others'],
      ],
    );
    const { code, out, err } = await drain(...line, '--now');
    assert.equal(code, 0, err);
    assert.deepEqual(namesIn(out, /^node\/(\S+) tainted/gm), [
      'waves-3',
      'waves-1',
      'waves-2',
      'waves-4',
    ]);
  });

  it('--by-priority and --last-pods: one rank of a node after the other', async () => {
    const { api } = cluster;
    const on = onlyOn('ranks-1');
    api.create(
      'pods',
      bare('ranks', 'high', { ...on, priorityClassName: 'system-cluster-critical' }),
    );
    api.create('pods', bare('ranks', 'low', on));
    api.create('pods', bare('ranks', 'storage', on));
    const zone = new Scenario(cluster, 'ranks');
    const runs = (name: string): boolean => zone.pods(name)[0]?.status?.phase === 'Running';
    await until('the pods to run', () => ['high', 'low', 'storage'].every(runs));
    const { code, out, err } = await drain(
      ...[taint, 'ranks-1', '--force', '--by-priority', '--last-pods=/app=storage'],
    );
    assert.equal(code, 0, err);
    assert.deepEqual(namesIn(out, /^pod\/(\S+) evicted/gm), ['low', 'high', 'storage']);
  });

  it('--max-unavailable: pods of other nodes count', async () => {
    const zone = new Scenario(cluster, 'few');
    const unready = zone.pods('web').length;
    assert.equal(unready, 4);
    let least = 4;
    const forget = cluster.api.subscribe(() => {
      const ready = zone
        .pods('web')
        .filter(
          ({ metadata, status }) => status?.phase === 'Running' && !metadata.deletionTimestamp,
        );
      least = Math.min(least, ready.length);
    });
    const { code, err } = await drain(
      ...[taint, 'few-1', 'few-2', 'few-3', '--max-parallel-nodes=0', '--max-unavailable=1'],
    );
    forget();
    assert.equal(code, 0, err);
    assert.equal(least, 3);
    assert.match(
      err,
      /stays for now: few\/ReplicaSet\/\S+ has 1 unavailable, and may have at most 1 of 4/,
    );
  });

  it('--restart-single-replicas: another pod is ready before the only one goes', async () => {
    const zone = new Scenario(cluster, 'single');
    const before = zone.pod('web');
    const { nodeName } = before.spec;
    const isHeld = await drain(taint, nodeName, '--dry-run=client');
    assert.match(isHeld.out, / {2}PDB web \(needs action\) {2}/);
    assert.equal(isHeld.code, 2);
    const plan = await drain(taint, nodeName, '--restart-single-replicas', '--dry-run=client');
    assert.match(plan.out, / {2}PDB web \(resolves\) {2}/);
    assert.equal(plan.code, 0);
    const uncordoned = ['--restart-single-replicas', '--no-cordon', '--dry-run=client'];
    assert.match((await drain(taint, nodeName, ...uncordoned)).out, /PDB web \(needs action\)/);
    const { code, err } = await drain(taint, nodeName, '--restart-single-replicas');
    assert.equal(code, 0, err);
    assert.match(
      err,
      /web-\S+ on single-\d stays for now: its Deployment is to start another pod first, by /,
    );
    const [after, ...more] = zone.pods('web').filter(({ metadata }) => !metadata.deletionTimestamp);
    assert.equal(more.length, 0);
    assert.notEqual(after?.metadata.uid, before.metadata.uid);
  });

  it('--wait-completed: a Job may finish', async () => {
    const { api } = cluster;
    const podSpec = { ...inZone('ranks').podSpec, ...onlyOn('ranks-2'), restartPolicy: 'Never' };
    api.create('jobs', job('ranks', 'report', 3, { podSpec }));
    const zone = new Scenario(cluster, 'ranks');
    await until('the Job to run', () => zone.pods('report')[0]?.status?.phase === 'Running');
    const { code, err } = await drain(taint, 'ranks-2', '--wait-completed=1m');
    assert.equal(code, 0, err);
    assert.match(err, /ranks\/report-\S+ on ranks-2 stays for now: it may finish by /);
    assert.equal(zone.pods('report')[0]?.status?.phase, 'Succeeded');
  });
});

describe('drain-by-taint --filename', () => {
  const manifest = {
    apiVersion: policyApiVersion,
    kind: 'NodeDrain',
    metadata: { name: 'kernel' },
    spec: {
      nodeSelector: { matchLabels: { 'topology.kubernetes.io/zone': 'file' } },
      taint: { key: 'maintenance', value: 'file' },
      waves: [
        { name: 'first', nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'file-2' } } },
      ],
      windows: [{ schedule: '* * * * *', duration: '1h', timeZone: 'Europe/Berlin' }],
      gates: [
        {
          name: 'open',
          object: {
            ...{ apiVersion: 'v1', kind: 'Node' },
            name: 'file-1',
            annotation: { key: 'example.com/gate', value: 'open' },
          },
        },
      ],
      beforeNode: [
        {
          name: 'backup',
          object: {
            ...{ apiVersion: 'v1', kind: 'Node' },
            name: '{node}',
            annotation: { key: 'example.com/backup', value: 'done' },
          },
        },
      ],
      limits: { nodesAtOnce: 0 },
    },
  };
  const fileOf = (spec: object): string => {
    const path = join(cluster.directory, 'drain.yaml');
    writeFileSync(path, JSON.stringify({ ...manifest, spec: { ...manifest.spec, ...spec } }));
    return path;
  };
  const annotate = (node: string, annotations: object): void => {
    const object = cluster.api.get('nodes', '', node) ?? assert.fail();
    const all = { ...object.metadata.annotations, ...annotations };
    cluster.api.update('nodes', { ...object, metadata: { ...object.metadata, annotations: all } });
  };

  it('ends with exit code 3 where only a step of others was late', async () => {
    const object = {
      ...{ apiVersion: 'v1', kind: 'Node', name: '{node}' },
      annotation: { key: 'example.com/never', value: 'done' },
    };
    const path = fileOf({
      nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'file-4' } },
      ...{ windows: undefined, gates: undefined, waves: undefined, onFailure: 'RollBack' },
      beforeNode: [{ name: 'late', object, timeout: '1s' }],
    });
    const { code, out } = await drain('-f', path, '-o', 'json');
    assert.equal(code, 3);
    const { status } = JSON.parse(out);
    assert.equal(status.result, 'TimedOut');
    assert.equal(status.nodes[0].reason, 'StepTimedOut');
  });

  it('plans and drains as the file says, and waits for what the file waits for', async () => {
    const path = fileOf({ timeouts: { node: '0s' } });
    const plan = await drain('-f', path, '--dry-run=client');
    assert.match(plan.out, /^Wave 1 of 2: first: 1 node, all at once: file-2$/m);
    assert.match(plan.out, /^No node begins outside its windows: \* \* \* \* \* Europe\/Berlin$/m);
    assert.match(plan.out, /^Before its pods leave, each node waits for: backup$/m);
    const running = start(['drain-by-taint', '-f', path]);
    const { output } = running;
    await until('the gate', () =>
      /Warning: the drain waits for gate open: Node file-1 has no/.test(output.errText),
    );
    assert.doesNotMatch(output.outText, /cordoned/);
    annotate('file-1', { 'example.com/gate': 'open' });
    await until('the step', () =>
      /Warning: node file-2 waits for backup: Node file-2 has no/.test(output.errText),
    );
    for (const node of ['file-1', 'file-2', 'file-3', 'file-4'])
      annotate(node, { 'example.com/backup': 'done' });
    const { code, out, err } = await running.result;
    assert.equal(code, 0, err);
    assert.match(out, /^node\/file-2 cordoned$/m);
    assert.equal(namesIn(out, /^node\/(\S+) drained/gm)[0], 'file-2');
    assert.equal(namesIn(out, /^node\/(\S+) drained/gm).length, 4);
  });

  const closed: readonly (readonly [name: string, spec: object])[] = [
    ['window', { gates: undefined, windows: [{ schedule: '0 0 29 2 *', duration: '1m' }] }],
    ['gate', { windows: undefined }],
  ];
  for (const [name, spec] of closed) {
    it(`cordons no node at the start while a ${name} alone keeps it from its turn`, async () => {
      const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': 'file-3' } };
      const gates = [{ ...manifest.spec.gates[0], name: 'shut' }].map((gate) => {
        const annotation = { key: 'example.com/shut', value: 'open' };
        return { ...gate, object: { ...gate.object, annotation } };
      });
      const path = fileOf({ nodeSelector, cordon: 'AtStart', waves: undefined, gates, ...spec });
      const running = start(['drain-by-taint', '-f', path]);
      await running.output.saw(/^Warning: the drain/m);
      running.interrupt();
      const { out } = await running.result;
      assert.doesNotMatch(out, /cordoned|tainted/);
    });
  }

  it('says where in the file what is wrong', async () => {
    const refused = async (spec: object): Promise<string> => (await drain('-f', fileOf(spec))).err;
    assert.match(
      await refused({ limits: { nodesAtOnce: -1 } }),
      /^error: \S+drain.yaml:1:\d+: spec.limits.nodesAtOnce: Invalid value: -1: want a whole number/,
    );
    assert.match(await refused({ speed: 'fast' }), /drain.yaml:1:\d+: unknown field "spec.speed"/);
    assert.equal(
      await refused({ laterNodes: 'Drain' }),
      'error: --filename: spec.laterNodes: Drain is only there with --server-side\n',
    );
    const path = join(cluster.directory, 'other.yaml');
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }));
    assert.match(
      (await drain('-f', path)).err,
      /other.yaml:1:\d+: .*got kind "Pod" of "v1", want /,
    );
  });
});

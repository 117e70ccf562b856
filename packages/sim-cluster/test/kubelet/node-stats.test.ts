import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import type { Kubelet } from '../../src/kubelet/kubelet.ts';
import type { NodeDescription } from '../../src/kubelet/node-status.ts';
import type { StatsFault } from '../../src/kubelet/stats-faults.ts';
import { nodes } from '../world/api-fixture.ts';
import { Client, type Response } from '../world/client.ts';
import { small, stored, type VirtualCluster, virtualCluster } from '../world/virtual-cluster.ts';

const mebibyte = 2 ** 20;

interface Bench extends VirtualCluster {
  readonly client: Client;
  readonly kubelet: Kubelet;
  /** The stats as a client reads them, when at least 10 s have passed. */
  summary(): Response['body'];
}

/** Node n with the pods default/p (two containers, two volumes) and default/q. */
function bench(
  description: Partial<NodeDescription> = {},
  timing: { readonly podStopMs?: readonly [number, number] } = {},
): Bench {
  const running = virtualCluster({ topology: small([]), timing });
  const { api, cluster, pass } = running;
  const kubelet = cluster.addNode({ name: 'n', ...description });
  pass(5000);
  const volumes = [
    { name: 'scratch', emptyDir: {} },
    { name: 'ram', emptyDir: { medium: 'Memory' } },
    { name: 'host', hostPath: { path: '/x' } },
  ];
  for (const [name, spec] of [
    ['p', { containers: [{ name: 'a' }, { name: 'b' }], volumes }],
    ['q', {}],
  ] as const) {
    const containers = pod('', name).spec.containers;
    const all = { containers, ...spec, nodeName: 'n' };
    const named = all.containers.map((one: object) => ({ image: 'x', ...one }));
    api.create('pods', pod('default', name, { spec: { ...all, containers: named } }));
  }
  pass(5000);
  const client = new Client(api);
  const summary = (): Response['body'] => {
    pass(10_000);
    const { status, text } = client.get(`${nodes}/n/proxy/stats/summary`);
    assert.equal(status, 200, text);
    return JSON.parse(text);
  };
  return { ...running, client, kubelet, summary };
}

const get = ({ client }: Bench): Response => client.get(`${nodes}/n/proxy/stats/summary`);
const podNames = ({ pods }: Response['body']): readonly string[] =>
  pods.map(({ podRef }: Response['body']) => podRef.name);
const namesOf = (list: readonly { readonly name: string }[]): readonly string[] =>
  list.map(({ name }) => name);

describe('the stats of a node', () => {
  it('add up', () => {
    const { node, pods } = bench().summary();
    assert.equal(node.nodeName, 'n');
    assert.equal(node.memory.availableBytes + node.memory.workingSetBytes, 16 * 2 ** 30);
    assert.equal(node.fs.capacityBytes, 100 * 2 ** 30);
    assert.deepEqual(
      node.systemContainers.map(({ name }: { name: string }) => name),
      ['pods'],
    );
    const podBytes = pods.map((one: Response['body']) => one.memory.workingSetBytes);
    assert.equal(node.systemContainers[0].memory.workingSetBytes, podBytes[0] + podBytes[1]);
    const [p] = pods;
    assert.deepEqual([p.podRef.namespace, p.podRef.name], ['default', 'p']);
    assert.deepEqual(namesOf(p.containers), ['a', 'b']);
    const sum = (of: (container: Response['body']) => number): number =>
      p.containers.reduce((total: number, one: Response['body']) => total + of(one), 0);
    assert.equal(
      sum(({ memory }) => memory.workingSetBytes),
      p.memory.workingSetBytes,
    );
    assert.deepEqual(namesOf(p.volume), ['scratch', 'ram']);
    const scratch = p.volume[0].usedBytes;
    assert.equal(
      p['ephemeral-storage'].usedBytes,
      sum(({ rootfs, logs }) => rootfs.usedBytes + logs.usedBytes) + scratch,
    );
    assert.equal(node.rlimit.maxpid, 32_768);
    assert.equal(node.rlimit.curproc, 200 + 2 * p.process_stats.process_count);
  });

  it('leave out files when only processor and memory are asked for', () => {
    const b = bench();
    const path = `${nodes}/n/proxy/stats/summary`;
    const { text } = b.client.get(path, { query: { only_cpu_and_memory: 'true' } });
    const { node, pods } = JSON.parse(text);
    assert.deepEqual(Object.keys(node).sort(), [
      'cpu',
      'memory',
      'nodeName',
      'startTime',
      'systemContainers',
    ]);
    assert.equal('ephemeral-storage' in pods[0], false);
  });

  it('are collected every ten seconds', () => {
    const b = bench();
    const first = b.summary();
    b.kubelet.stats.usePod('default/p', { memory: 1000 });
    b.pass(9999);
    assert.deepEqual(JSON.parse(get(b).text), first);
    b.pass(1);
    const second = JSON.parse(get(b).text);
    assert.equal(second.pods[0].memory.workingSetBytes, 1000);
    assert.equal(Date.parse(second.node.memory.time) - Date.parse(first.node.memory.time), 10_000);
  });

  it('bear the time of a clock that is off', () => {
    const b = bench();
    b.kubelet.setClockSkew(-60_000);
    assert.equal(b.summary().node.memory.time, '2025-12-31T23:59:20Z');
  });

  it('follow a leak, on the pod and on the node', () => {
    const b = bench();
    const before = b.summary();
    b.kubelet.stats.usePod('default/p', { memory: { perSecond: mebibyte, until: 45 * mebibyte } });
    const after = b.summary();
    const used = ({ pods }: Response['body']) => pods[0].memory.workingSetBytes / mebibyte;
    assert.deepEqual([used(before), used(after)], [20, 30]);
    const available = ({ node }: Response['body']): number => node.memory.availableBytes;
    assert.equal(available(before) - available(after), 10 * mebibyte);
    b.pass(60_000);
    assert.equal(used(b.summary()), 45);
    b.kubelet.stats.usePod('default/p', { memory: { perSecond: -mebibyte } });
    assert.equal(used(b.summary()), 35);
    b.pass(60_000);
    assert.equal(used(b.summary()), 0);
  });

  it('count a pod until its containers have stopped, though somebody wrote that it has failed', () => {
    const b = bench({}, { podStopMs: [20_000, 20_000] });
    b.summary();
    b.api.delete('pods', 'default', 'p');
    const stopping = stored(b.api, 'pods', 'default', 'p');
    const status = { ...stopping.status, phase: 'Failed', reason: 'Evicted' };
    b.api.update('pods', { ...stopping, status }, 'status');
    assert.deepEqual(podNames(b.summary()), ['p', 'q']);
    const { phase, reason } = stored(b.api, 'pods', 'default', 'p').status;
    assert.deepEqual([phase, reason], ['Failed', 'Evicted']);
    b.pass(10_000);
    assert.equal(b.api.get('pods', 'default', 'p'), null);
    assert.deepEqual(podNames(b.summary()), ['q']);
  });

  it('follow files, inodes and processes of pods and of everybody else', () => {
    const b = bench();
    const { stats } = b.kubelet;
    const before = b.summary();
    stats.usePod('default/p', {
      rootfs: 10 * mebibyte,
      logs: 5 * mebibyte,
      logsInodes: 1000,
      volumes: { scratch: 100 * mebibyte, ram: 50 * mebibyte },
      volumesInodes: { scratch: 2000 },
      processes: 500,
    });
    stats.useNode({ disk: 20 * 2 ** 30, processes: { from: 0, perSecond: 10 }, memory: 0 });
    const { node, pods } = b.summary();
    assert.equal(pods[0]['ephemeral-storage'].usedBytes, 115 * mebibyte);
    assert.equal(pods[0]['ephemeral-storage'].inodesUsed, 3030);
    assert.equal(pods[0].volume[1].usedBytes, 50 * mebibyte);
    assert.equal(pods[0].process_stats.process_count, 500);
    assert.equal(node.rlimit.curproc, 100 + 500 + 3);
    const growth = before.node.fs.availableBytes - node.fs.availableBytes;
    const quiet = mebibyte + mebibyte / 4 + 4096;
    assert.equal(growth, 12 * 2 ** 30 + 115 * mebibyte - quiet);
    assert.equal(before.node.fs.inodesFree - node.fs.inodesFree, 3030 - 30 - 4 - 5);
    assert.equal(node.memory.workingSetBytes, 40 * mebibyte);
  });

  it('have no room below nothing', () => {
    const b = bench();
    b.kubelet.stats.useNode({ memory: 2 ** 40, disk: 2 ** 40, diskInodes: 2 ** 30 });
    const { node } = b.summary();
    assert.deepEqual(
      [node.memory.availableBytes, node.fs.availableBytes, node.fs.inodesFree],
      [0, 0, 0],
    );
  });

  it('forget what a pod used when it is gone, whatever its successor is called', () => {
    const b = bench();
    b.kubelet.stats.usePod('default/p', { memory: 1000 });
    b.api.delete('pods', 'default', 'p', { gracePeriodSeconds: 0 });
    assert.deepEqual(
      b.summary().pods.map(({ podRef }: Response['body']) => podRef.name),
      ['q'],
    );
    const spec = { ...pod('', 'p').spec, nodeName: 'n' };
    b.api.create('pods', pod('default', 'p', { spec }));
    assert.equal(b.summary().pods[0].memory.workingSetBytes, 20 * mebibyte);
    assert.throws(() => b.kubelet.stats.usePod('default/x', {}), /no pod default\/x/);
  });
});

describe('the file systems of a node', () => {
  const sizes = ({ node }: Response['body']): readonly number[] =>
    [node.fs, node.runtime.imageFs, node.runtime.containerFs].map(
      ({ availableBytes }) => availableBytes,
    );
  for (const [layout, same] of [
    ['shared', [true, true]],
    ['dedicatedImageFs', [false, true]],
    ['splitImageFs', [false, false]],
  ] as const) {
    it(`of layout ${layout}`, () => {
      const b = bench({ machine: { layout } });
      const [node, image, container] = sizes(b.summary());
      assert.deepEqual([node === image, image === container], same);
      b.kubelet.stats.usePod('default/p', { rootfs: 101 * mebibyte });
      const [, , grown] = sizes(b.summary());
      assert.equal((container ?? 0) - (grown ?? 0), 100 * mebibyte);
      b.kubelet.stats.useNode({ images: 20 * 2 ** 30 });
      const [, pulled] = sizes(b.summary());
      assert.ok((pulled ?? 0) < (image ?? 0) - 13 * 2 ** 30);
    });
  }
});

describe('a kubelet', () => {
  const faults: readonly (readonly [StatsFault, number, RegExp])[] = [
    ['error', 500, /^Internal Error: /],
    ['truncated', 200, /^\{\n "node".*[^}]$/s],
    ['empty', 200, /^\{\}$/],
    ['nonsense', 200, /"availableBytes": (-1|\[\]|"a lot"|0\.5)/],
    [() => 'whatever', 200, /^"whatever"$/],
  ];
  for (const [fault, status, body] of faults) {
    it(`with fault ${String(fault)} answers ${status} ${body}`, () => {
      const b = bench();
      b.kubelet.setStatsFault(fault);
      const answer = get(b);
      assert.equal(answer.status, status);
      assert.match(answer.text, body);
      b.kubelet.setStatsFault(null);
      assert.equal(b.summary().node.nodeName, 'n');
    });
  }

  it('that tells only part of it leaves out files, free memory and every other pod', () => {
    const b = bench();
    b.kubelet.setStatsFault('partial');
    const { node, pods } = b.summary();
    assert.deepEqual(
      [node.fs, node.runtime, node.rlimit, node.memory.availableBytes],
      [undefined, undefined, undefined, undefined],
    );
    assert.deepEqual([pods.length, pods[0].memory], [1, undefined]);
  });

  it('whose stats are stale repeats the last ones', () => {
    const b = bench();
    const first = b.summary();
    b.kubelet.setStatsFault('stale');
    b.pass(600_000);
    assert.deepEqual(b.summary(), first);
    b.kubelet.setStatsFault(null);
    assert.notDeepEqual(b.summary(), first);
  });

  it('tells its configuration, and that it is well', () => {
    const evictionHard = { 'memory.available': '1Gi' };
    const b = bench({ kubeletConfig: { evictionHard } });
    const { kubeletconfig } = b.client.get(`${nodes}/n/proxy/configz`).body;
    assert.deepEqual(kubeletconfig.evictionHard, evictionHard);
    assert.equal(kubeletconfig.evictionPressureTransitionPeriod, '5m0s');
    assert.equal(b.client.get(`${nodes}/n/proxy/healthz`).text, 'ok');
    assert.equal(b.client.get(`${nodes}/n/proxy/nowhere`).status, 404);
    assert.equal(b.client.post(`${nodes}/n/proxy/stats/summary`, {}).status, 405);
  });

  it('is left alone with its pressure: its conditions are what the scenario sets', () => {
    const b = bench();
    b.kubelet.stats.useNode({ memory: 2 ** 40 });
    b.pass(600_000);
    const conditions: readonly { type: string; status: string }[] =
      b.api.get('nodes', '', 'n')?.status.conditions ?? [];
    const pressed = conditions.filter(({ type, status }) => type !== 'Ready' && status !== 'False');
    assert.deepEqual(pressed, []);
    assert.equal(b.api.list('pods').length, 2);
  });
});

describe('the way to a kubelet', () => {
  const status = (response: Response) => {
    const { kind, reason, message, code, details } = response.body;
    return { kind, reason, message, code, details };
  };
  const unavailable = (why: string) => ({
    kind: 'Status',
    reason: 'ServiceUnavailable',
    message: `error trying to reach service: dial tcp 10.0.0.1:10250: ${why}`,
    code: 503,
    details: undefined,
  });

  it('ends where nobody listens', () => {
    const b = bench();
    b.kubelet.stop();
    assert.deepEqual(status(get(b)), unavailable('connect: connection refused'));
    b.kubelet.renewLeaseOnly();
    assert.equal(get(b).status, 200);
  });

  it('ends after half a minute where no machine answers', () => {
    const b = bench();
    b.kubelet.setStatsFault('unreachable');
    const response = b.client.send('GET', `${nodes}/n/proxy/stats/summary`);
    b.pass(29_999);
    assert.equal(response().ended, false);
    b.pass(1);
    assert.deepEqual(status(response()), unavailable('i/o timeout'));
  });

  it('may be given with scheme and port', () => {
    const { client } = bench();
    const codes = ['n:10250', 'https:n:10250', 'https:n:', 'n:1234', ':', 'm'].map(
      (id) => client.get(`${nodes}/${encodeURIComponent(id)}/proxy/healthz`).status,
    );
    assert.deepEqual(codes, [200, 200, 200, 503, 400, 404]);
  });
});

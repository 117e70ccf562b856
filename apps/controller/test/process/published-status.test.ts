import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { installDefinitions } from '@taintmgr/api-server';
import type { KnownPause } from '@taintmgr/core';
import type { ZoneStatus } from '@taintmgr/core/lifecycle';
import type { LimitStatus } from '@taintmgr/core/policy';
import type { Notice } from '@taintmgr/k8s-adapter';
import { customResourceDefinitions, fittedStatus, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { node, pod, type Rule, toleration } from '@taintmgr/sim-cluster';
import { checkChoices } from '../../src/flags/checks.ts';
import { chooseControllers, controllerNames } from '../../src/flags/controllers.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';
import { Leadership } from '../../src/leadership/leadership.ts';
import {
  PublishedStatus,
  publishedPolicies,
  taintManagerName,
} from '../../src/process/published-status.ts';
import type { ProcessStats, RunningController } from '../../src/stats/process-stats.ts';
import { startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';
import { due, finished, idle, measure } from '../metrics/measured.ts';

// What the leader publishes of itself, with the definitions of our kinds and without.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const nothingOfOurs: Rule = {
  verbs: ['*'],
  apiGroups: ['', 'coordination.k8s.io', 'events.k8s.io'],
  resources: ['*'],
};
const flags = ['--mode=evict', '--controllers=taint-eviction-controller'];
const found = spawnSync('kubectl', ['version', '--client']).status === 0;
const skip = !found && process.env.REQUIRE_KUBECTL !== '1' && 'there is no kubectl on PATH';
/** As the simulated cluster stores them. */
const taintManagers = 'taintmanagers.taintmgr.dev';
const run = promisify(execFile);

async function startCluster(t: TestContext, rules: readonly Rule[]): Promise<TestApi> {
  const cluster = await startTestApi(rules);
  t.after(() => cluster.stop());
  const { api } = cluster;
  const taints = [{ key: 'bad', effect: 'NoExecute' }];
  api.create('nodes', node('n1', { spec: { taints } }));
  api.create('nodes', node('n2'));
  const tolerations = [{ ...toleration('bad:NoExecute', 3600) }];
  api.create('pods', pod('default', 'later', { spec: { nodeName: 'n1', tolerations } }));
  api.create('pods', pod('default', 'elsewhere', { spec: { nodeName: 'n2' } }));
  return cluster;
}

async function get(cluster: TestApi, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('kubectl', [`--kubeconfig=${cluster.kubeconfig}`, 'get', ...args]);
  return stdout;
}

/** Names of replicas and ages are others each time. */
function masked(table: string): string {
  return table
    .replace(/\S+_[-0-9a-f]{36}/, 'LEADER')
    .replace(/\b\d+\.\d+\.\d+\S*/, 'VERSION')
    .replace(/\b\d+s\b/g, 'AGE')
    .replace(/ +/g, ' ');
}

describe('what the leader publishes', () => {
  it('is what kubectl get taintmanagers shows', { skip }, async (t) => {
    const cluster = await startCluster(t, [everything]);
    await installDefinitions(cluster.api, customResourceDefinitions());
    const controller = await startProcess(t, { connection: cluster, flags });
    await controller.saw('publishing status', { taintManager: 'taintmgr' });
    assert.equal(
      masked(await get(cluster, 'taintmanagers')),
      'NAME LEADER VERSION RENEWED TAINTED PENDING HELD BLOCKED AGE\n' +
        'taintmgr LEADER VERSION AGE 1 1 0 0 AGE\n',
    );
    const read = readManifest(JSON.parse(await get(cluster, 'tmgr', 'taintmgr', '-o', 'json')), 0);
    assert.ok(read.kind === 'allowed' && read.value.kind === 'TaintManager');
    const { status } = read.value.value;
    assert.ok(status);
    assert.deepEqual(status.controllers, ['taint-eviction-controller']);
    assert.deepEqual(status.features, ['drain-marks']);
    assert.deepEqual(status.counts, {
      ...{ nodes: 2, tainted: 1, pods: 2, pending: 1, held: 0, blocked: 0, evicted: 0 },
    });
    const { settings = {}, conditions = [] } = status;
    assert.equal(settings.mode, 'evict');
    assert.equal(settings['leader-elect-resource-name'], 'taintmgr-controller');
    assert.equal(settings['tls-private-key-file'], undefined);
    assert.deepEqual(
      conditions.map(({ type, status: is }) => `${type}=${is}`),
      ['Leading=True'],
    );
    await controller.stop();
    const [after] = cluster.api.list(taintManagers);
    const last = readManifest(after, 0);
    assert.ok(last.kind === 'allowed' && last.value.kind === 'TaintManager');
    const [leading] = last.value.value.status?.conditions ?? [];
    assert.deepEqual([leading?.status, leading?.reason], ['False', 'Resigned']);
  });

  it('is nothing where the kind is not installed, and that is said once', async (t) => {
    const cluster = await startCluster(t, [everything]);
    const controller = await startProcess(t, { connection: cluster, flags });
    const text = 'status is not published: the cluster has no TaintManager kind';
    await controller.saw(text, { taintManager: 'taintmgr' });
    await controller.saw('eviction scheduled', { pod: 'default/later' });
    await controller.stop();
    assert.equal(controller.lines.filter(({ msg }) => msg === text).length, 1);
  });

  it('is nothing without the right, and evictions go on', async (t) => {
    const cluster = await startCluster(t, [nothingOfOurs]);
    await installDefinitions(cluster.api, customResourceDefinitions());
    const controller = await startProcess(t, { connection: cluster, flags });
    await controller.saw('status is not published', { level: 'warn' });
    await controller.saw('eviction scheduled', { pod: 'default/later' });
    await controller.stop();
    assert.deepEqual(cluster.api.list(taintManagers), []);
  });

  it('promises drains nothing where kube-controller-manager does not', async (t) => {
    const cluster = await startCluster(t, [everything]);
    await installDefinitions(cluster.api, customResourceDefinitions());
    const upstream = [
      '--semantics=kube-controller-manager',
      '--controllers=taint-eviction-controller',
    ];
    const controller = await startProcess(t, { connection: cluster, flags: upstream });
    await controller.saw('publishing status', { taintManager: 'taintmgr' });
    const [object] = cluster.api.list(taintManagers);
    const read = readManifest(object, 0);
    assert.ok(read.kind === 'allowed' && read.value.kind === 'TaintManager');
    assert.deepEqual(read.value.value.status?.features, []);
    await controller.stop();
  });

  it('is nothing with --publish-status=false', async (t) => {
    const cluster = await startCluster(t, [everything]);
    await installDefinitions(cluster.api, customResourceDefinitions());
    const off = [...flags, '--publish-status=false'];
    const controller = await startProcess(t, { connection: cluster, flags: off });
    await controller.saw('eviction scheduled', { pod: 'default/later' });
    await controller.stop();
    assert.deepEqual(cluster.api.list(taintManagers), []);
  });
});

/** The manifest of a policy whose spec has this many characters, about. */
function keep(name: string, length: number): object {
  const names = Array.from({ length: Math.ceil(length / 66) }, (_, at) =>
    `${at}`.padStart(63, 'n'),
  );
  const metadata = { name };
  const spec = { match: { namespaces: names }, action: 'Keep' };
  return { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy', metadata, spec };
}

describe('policies of --policy files', () => {
  it('are published with what they say, as long as there is room', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'policies.json');
    const big = ['b', 'c', 'd', 'e', 'f', 'g'].map((name) => keep(name, 7000));
    const metadata = { name: 'night', creationTimestamp: '2026-01-02T03:04:05Z' };
    const head = { apiVersion: 'taintmgr.dev/v1alpha1' };
    const pause = { ...head, kind: 'EvictionPause', metadata, spec: { reason: 'network' } };
    const items = [keep('a', 8448), pause, ...big];
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const { filePolicies } = resolveChoices([`--policy=${file}`], {});
    const published = publishedPolicies(filePolicies);
    const lengths = published.map(({ name, spec }) => `${name} ${spec?.length ?? 'no room'}`);
    assert.deepEqual(lengths, [
      ...[
        'a no room',
        'night 20',
        'b 7104',
        'c 7104',
        'd 7104',
        'e 7104',
        'f no room',
        'g no room',
      ],
    ]);
    assert.equal(published[1]?.since, '2026-01-02T03:04:05.000Z');
    assert.deepEqual(JSON.parse(published[2]?.spec ?? ''), Object(big[0]).spec);
    const { leftOut } = fittedStatus('TaintManager', { policies: published });
    assert.deepEqual(leftOut, {});
  });

  it('are in the status of the leader', async (t) => {
    const cluster = await startCluster(t, [everything]);
    await installDefinitions(cluster.api, customResourceDefinitions());
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'keep.json');
    writeFileSync(file, JSON.stringify(keep('vault', 1)));
    const given = [...flags, `--policy=${file}`];
    const controller = await startProcess(t, { connection: cluster, flags: given });
    await controller.saw('publishing status', { taintManager: 'taintmgr' });
    const [object] = cluster.api.list(taintManagers);
    const read = readManifest(object, 0);
    assert.ok(read.kind === 'allowed' && read.value.kind === 'TaintManager');
    assert.deepEqual(
      read.value.value.status?.policies?.map(({ kind, name }) => `${kind} ${name}`),
      ['EvictionPolicy vault'],
    );
    await controller.stop();
  });
});

const names: readonly (readonly [lease: string, flag: string, name: string])[] = [
  ['taintmgr-controller', '*', 'taintmgr'],
  ['blue-controller', '*', 'blue'],
  ['blue', '*', 'blue'],
  ['taintmgr-controller', 'taint-eviction-controller,node-pressure-controller', 'taintmgr'],
  ['taintmgr-controller', '*,-taint-eviction-controller', 'taintmgr-node-lifecycle'],
  ['taintmgr-controller', 'node-drain-controller', 'taintmgr-node-drain'],
  ['blue', 'node-pressure-controller', 'blue-node-pressure'],
];

describe('the name of the TaintManager', () => {
  for (const [lease, flag, name] of names) {
    it(`of the lease ${lease} with --controllers=${flag} is ${name}`, () => {
      const chosen = chooseControllers(flag.split(','));
      assert.ok(typeof chosen !== 'string');
      assert.equal(taintManagerName(lease, chosen.enabled), name);
    });
  }
  it('is by default the one that deploy/ gives the right to', () => {
    const { settings } = resolveChoices([], {});
    assert.equal(taintManagerName(settings.resourceName, controllerNames), 'taintmgr');
  });
});

describe('two installations that share no work and have leases of one name', () => {
  it('both run, and each has a TaintManager of its own', async (t) => {
    const cluster = await startCluster(t, [everything]);
    await installDefinitions(cluster.api, customResourceDefinitions());
    cluster.api.create('namespaces', { metadata: { name: 'pressure' } });
    const first = await startProcess(t, { connection: cluster, flags });
    await first.saw('publishing status', { taintManager: 'taintmgr' });
    const second = await startProcess(t, {
      connection: cluster,
      flags: [
        '--controllers=node-pressure-controller',
        '--eviction-hard=memory.available<100Mi',
        '--leader-elect-resource-namespace=pressure',
      ],
    });
    await second.saw('publishing status', { taintManager: 'taintmgr-node-pressure' });
    const work = cluster.api
      .list(taintManagers)
      .map(({ metadata, status }) => [metadata.name, status?.controllers]);
    assert.deepEqual(work, [
      ['taintmgr', ['taint-eviction-controller']],
      ['taintmgr-node-pressure', ['node-pressure-controller']],
    ]);
    await Promise.all([first.stop(), second.stop()]);
  });
});

// What the leader says of itself, for each state that it can be in.

const elected = (held: boolean): Notice => ({ kind: 'elected', held });
const done = finished({ kind: 'done' });
const failed = finished({ kind: 'failed', status: 500, message: 'no', retryAfter: null });

interface Given {
  readonly flags?: readonly string[];
  readonly running?: Partial<RunningController>;
  readonly stats?: Partial<ProcessStats>;
  readonly notices?: readonly Notice[];
}

function stated({ flags = [], running = {}, stats = {}, notices = [] }: Given) {
  const choices = resolveChoices(flags, {});
  const all = { ...measure().stats, running: { ...idle, ...running }, ...stats };
  const seen = { overlaps: null, shadow: null };
  const published = new PublishedStatus(choices, checkChoices(choices), all, seen);
  for (const notice of notices) published.observe(notice);
  const { status, ...options } = published.options('me');
  return { ...options, status: status(due) };
}

describe('the status of the leader', () => {
  const tallies: readonly (readonly [name: string, notices: readonly Notice[], count: number])[] = [
    ['nothing', [elected(true)], 0],
    ['what went, and not what failed', [elected(true), done, failed, done], 2],
    ['what went since it leads again', [elected(true), done, elected(false), elected(true)], 0],
  ];
  for (const [name, notices, count] of tallies) {
    it(`counts as evicted ${name}`, () => {
      assert.equal(stated({ notices }).status.counts?.evicted, count);
      const dry = stated({ notices, flags: ['--dry-run'] });
      assert.equal(dry.status.counts?.evicted, undefined, 'nobody is, in a dry run');
    });
  }

  it('counts pods where all are read', () => {
    const counts = { ...idle.counts(), pods: 7 };
    for (const [scope, pods] of [
      ['all', 7],
      ['byNode', undefined],
    ] as const) {
      const running = { counts: () => counts, podScope: () => scope };
      assert.equal(stated({ running }).status.counts?.pods, pods);
    }
  });

  it('says since when a zone is held that is down as a whole, and of no other', () => {
    const known = { key: 'k', ready: 1, notReady: 2, rate: 0.1, waiting: [], tainted: 0 };
    const zone = { ...known, state: 'Normal' } as const;
    const zones: readonly ZoneStatus[] = [
      { ...zone, name: 'down', hold: { code: 'FullDisruptionHeld', since: due } },
      { ...zone, name: 'old', hold: { code: 'ViewOld', since: due } },
      { ...zone, name: 'well', state: null, hold: null },
    ];
    const common = { nodes: 3, notReady: 2, rate: 0.1 };
    assert.deepEqual(stated({ running: { zones: () => zones } }).status.zones, [
      { name: 'down', state: 'Normal', ...common, heldSince: '2027-01-15T08:00:00Z' },
      { name: 'old', state: 'Normal', ...common },
      { name: 'well', ...common },
    ]);
  });

  it('names limits that have tripped, and until when rates are used up', () => {
    const limit = { per: 'zone', limit: 'pods', tripped: false, since: null } as const;
    const limits: readonly LimitStatus[] = [
      { ...limit, name: 'a', id: 'zone=a' },
      { ...limit, name: 'b', id: 'zone=b', tripped: true, since: due },
      { ...limit, name: 'c', id: 'zone=c', oneAt: due },
    ];
    const { trippedLimits, rates } = stated({ running: { limits: () => limits } }).status;
    assert.deepEqual(trippedLimits, [{ name: 'zone=b', since: '2027-01-15T08:00:00Z' }]);
    assert.deepEqual(rates, [{ name: 'zone=c', oneAt: '2027-01-15T08:00:00.000Z' }]);
  });

  it('names pauses that hold, and keeps what is known of those that are over', () => {
    const scope = { zones: [], nodes: null, taintKeys: [], namespaces: [] };
    const how = { readiness: false, deadlines: true, reason: '', until: null, since: due };
    const pauseOf = (name: string, isOver: boolean): KnownPause => {
      return { pause: { name, uid: name, scope, ...how }, isOver };
    };
    const known = [pauseOf('night', false), pauseOf('past', true)];
    const { pauses, pauseRecords } = stated({ running: { pauses: () => known } }).status;
    assert.deepEqual(pauses, ['night']);
    assert.deepEqual(
      pauseRecords?.map(({ name }) => name),
      ['night', 'past'],
    );
  });

  it('says which replica of its own stays as the last one', () => {
    const pod = { namespace: 'taintmgr-system', name: 'a', uid: 'a', nodeName: 'n1' };
    const last = { pod, because: [{ code: 'LastReplica', workload: 'Deployment c' } as const] };
    const { conditions } = stated({ running: { lastReplica: () => last } }).status;
    assert.deepEqual(conditions, [
      {
        ...{ type: 'LastReplica', status: 'True', reason: 'NoOtherReplicaReady' },
        message:
          'pod taintmgr-system/a on node n1: the last ready replica of Deployment c; it is evicted when another is ready',
      },
    ]);
  });

  it('says that it stands by, and that a dry run changes nothing, under a name of its own', () => {
    const standsBack = new Leadership(true, () => {});
    const accepts = new Leadership(true, () => {}, true);
    for (const leadership of [standsBack, accepts]) leadership.collide('b does the same work');
    const cases: readonly (readonly [Given, string, boolean, readonly string[]])[] = [
      [{}, 'taintmgr', true, []],
      [{ stats: { leadership: standsBack } }, 'taintmgr', true, ['StandingBack']],
      [{ stats: { leadership: accepts } }, 'taintmgr', true, []],
      [{ flags: ['--dry-run'] }, 'taintmgr-shadow', false, ['DryRun']],
    ];
    for (const [given, name, ofPolicies, types] of cases) {
      const said = stated(given);
      assert.deepEqual([said.name, said.ofPolicies], [name, ofPolicies]);
      assert.deepEqual(
        said.status.conditions.map(({ type, status }) => `${type}=${status}`),
        types.map((type) => `${type}=True`),
      );
    }
  });
});

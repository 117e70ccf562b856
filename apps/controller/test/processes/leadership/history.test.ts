import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { gzip, HistorySearch } from '@taintmgr/k8s-adapter';
import { namespace, node, pod, type Rule } from '@taintmgr/sim-cluster';
import { ask } from '../../harness/https-client.ts';
import { startReplica } from '../../harness/replica.ts';
import { type RunningProcess, startProcess } from '../../harness/running-process.ts';
import { startTestApi, type TestApi } from '../../harness/test-api.ts';

// The history of evictions over a change of leaders, over HTTPS and in real time.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const withoutConfigMaps: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['coordination.k8s.io', 'events.k8s.io', 'policy'], resources: ['*'] },
  {
    verbs: ['*'],
    apiGroups: [''],
    resources: ['nodes', 'pods', 'pods/status', 'namespaces', 'events'],
  },
  { verbs: ['*'], apiGroups: ['taintmgr.dev'], resources: ['*'] },
];
const flags = [
  '--controllers=taint-eviction-controller',
  '--authorization-always-allow-paths=/*',
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];

async function startCluster(
  t: TestContext,
  rules: readonly Rule[],
  pods: readonly string[],
): Promise<TestApi> {
  const cluster = await startTestApi(rules);
  t.after(() => cluster.stop());
  cluster.api.create('namespaces', namespace('shop'));
  cluster.api.create('nodes', node('n1'));
  for (const name of pods) {
    cluster.api.create('pods', pod('shop', name, { spec: { nodeName: 'n1' } }));
  }
  return cluster;
}

function taint({ api }: TestApi): void {
  const found = api.get('nodes', '', 'n1');
  assert.ok(found);
  const taints = [{ key: 'spot', effect: 'NoExecute' }];
  api.update('nodes', { ...found, spec: { ...found.spec, taints } });
}

interface Answered {
  readonly departures: readonly Readonly<Record<string, unknown>>[];
  readonly gaps: readonly Readonly<Record<string, unknown>>[];
}

async function evictionsOf({ port }: RunningProcess, query = ''): Promise<Answered> {
  const { status, body } = await ask(port, `/evictions${query}`);
  assert.equal(status, 200, body);
  return JSON.parse(body);
}

it('has what the leader before it has evicted', async (t) => {
  const cluster = await startCluster(t, [everything], ['a', 'b']);
  const first = await startProcess(t, { connection: cluster, flags });
  await first.saw('keeps the history of evictions');
  await first.saw('caches synced, evictions start');
  const second = await startProcess(t, { connection: cluster, flags });
  await second.saw('caches synced, evictions start');
  taint(cluster);
  await first.saw('evicted', {}, 2);
  const { departures } = await evictionsOf(first, '?since=1h');
  assert.deepEqual(
    departures.map(({ pod: name, by, node: on, way }) => ({ name, by, on, way })),
    ['a', 'b'].map((name) => ({
      name,
      by: { kind: 'taintmgr', source: 'ownAct' },
      on: 'n1',
      way: 'delete',
    })),
  );
  const standby = await ask(second.port, '/evictions');
  assert.equal(standby.status, 503);
  assert.match(standby.body, /^only the leader has the history: /);
  await first.stop();
  await second.saw('keeps the history of evictions', { evictions: 2 });
  const after = await evictionsOf(second, '?namespace=shop&pod=b&node=n1');
  const [b] = after.departures;
  assert.deepEqual(
    [b?.pod, b?.by, typeof b?.answeredAt],
    ['b', { kind: 'taintmgr', source: 'ownAct' }, 'number'],
  );
  assert.deepEqual(
    after.gaps.map(({ why, from }) => [why, typeof from]),
    [
      ['leaderChanged', 'undefined'],
      ['leaderChanged', 'number'],
    ],
  );
  const odd = await ask(second.port, '/evictions?since=soon');
  assert.equal(odd.status, 400);
  assert.equal(
    odd.body,
    'since: got "soon", want a duration such as 2h, or a time such as 2026-05-04T12:00:00Z\n',
  );
});

/** The stored history, as whoever may read the ConfigMaps finds it. */
function stored({ api }: TestApi): HistorySearch['found'] {
  const search = new HistorySearch({});
  for (const { binaryData = {} } of api.list('configmaps') as unknown as readonly Stored[]) {
    for (const block of Object.values(binaryData)) search.readBlock(block, gzip);
  }
  return search.found;
}

interface Stored {
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** Resolves at the change after which this holds. */
function until({ api }: TestApi, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = api.subscribe(() => {
      if (!holds()) return;
      stop();
      resolve();
    });
  });
}

it('loses nothing that is stored when its leader is killed, and says since when it may have', async (t) => {
  const cluster = await startCluster(t, [everything], ['a', 'b']);
  const first = startReplica(t, cluster.kubeconfig, flags);
  await Promise.all(['became the leader', 'caches synced'].map((said) => first.saw(said)));
  const second = startReplica(t, cluster.kubeconfig, flags);
  await second.saw('caches synced');
  taint(cluster);
  await until(cluster, () => stored(cluster).departures.length === 2);
  const isTold = until(cluster, () => stored(cluster).gaps.length === 2);
  first.strike('SIGKILL');
  await second.saw('keeps the history of evictions');
  await isTold;
  const { departures, gaps } = stored(cluster);
  assert.deepEqual(
    departures.map(({ pod: name, by }) => [name, by.kind]),
    [
      ['a', 'taintmgr'],
      ['b', 'taintmgr'],
    ],
  );
  const [, gap] = gaps;
  const { from = 0, to = 0 } = gap ?? {};
  const last = Math.max(...departures.map(({ answeredAt = 0 }) => answeredAt));
  assert.ok(last <= from && from < to, `${last} ${from} ${to}`);
});

it('goes on in memory without rights, and says so once', async (t) => {
  const cluster = await startCluster(t, withoutConfigMaps, ['a']);
  const controller = await startProcess(t, { connection: cluster, flags });
  await controller.saw('the history of evictions is kept in memory only');
  await controller.saw('caches synced, evictions start');
  taint(cluster);
  await controller.saw('evicted');
  const { departures } = await evictionsOf(controller);
  assert.deepEqual(
    departures.map(({ pod: name }) => name),
    ['a'],
  );
  await controller.stop();
  const said = 'the history of evictions is kept in memory only';
  assert.equal(controller.lines.filter(({ msg }) => msg === said).length, 1);
});

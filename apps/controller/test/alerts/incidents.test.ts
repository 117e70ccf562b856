// Each alert fires in an incident that is played, and none in a calm hour: the whole controller runs, what it
// shows at /metrics then is what Prometheus is given for as long as the incident lasts.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type EmbeddedCluster, startEmbedded } from '@taintmgr/api-server';
import { createEngine, type Event, parseTaint } from '@taintmgr/core';
import { loadKubeconfig, nodeFromJson, podFromJson, UpstreamManager } from '@taintmgr/k8s-adapter';
import { node, pod } from '@taintmgr/sim-cluster';
import { metricsText } from '../../src/metrics/exposition.ts';
import { readManifests } from '../deploy/manifests.ts';
import { grant, startCluster } from '../deploy/rights-world.ts';
import { isReady, when } from '../deploy/single-replica.ts';
import { ask } from '../harness/https-client.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { idle, measure } from '../metrics/measured.ts';
import { firing, type Phase, type Scrape, skip } from './prometheus.ts';

const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
const open = ['--authorization-always-allow-paths=/metrics', '--healthz-port=0'];

/** A cluster with two nodes and a pod that a taint of `bad` evicts, at once. */
async function start(t: TestContext): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({
    topology: none,
    without: ['conditionTaints', 'workloads', 'scheduler'],
    timing: { heartbeatMs: 300, startupMs: [10, 20], podStartMs: [10, 20], podStopMs: [10, 20] },
  });
  t.after(() => embedded.stop());
  const { api } = embedded.cluster;
  api.create('namespaces', { metadata: { name: 'shop' } });
  for (const name of ['a-1', 'a-2']) embedded.cluster.addNode({ name, region: 'r', zone: 'a' });
  for (const name of ['web-0', 'web-1']) {
    const made = pod('shop', name, { spec: { nodeName: 'a-1' } });
    api.create('pods', { ...made, metadata: { ...made.metadata, labels: { app: 'web' } } });
  }
  // A budget counts pods that are ready, and no others.
  await when(embedded.cluster, () =>
    ['web-0', 'web-1'].every((name) => isReady(embedded.cluster, name)),
  );
  return embedded;
}

async function run(
  t: TestContext,
  { kubeconfig }: EmbeddedCluster,
  ...flags: readonly string[]
): Promise<RunningProcess> {
  const all = [...open, ...flags];
  const controller = await startProcess(t, { connection: { kubeconfig }, flags: all });
  const isDry = flags.includes('--dry-run=client');
  const starts = isDry ? 'the dry run starts: nothing is evicted' : 'evictions start';
  await controller.saw(`caches synced, ${starts}`);
  return controller;
}

function taint({ cluster: { api } }: EmbeddedCluster, name: string): void {
  const one = api.get('nodes', '', name) ?? assert.fail();
  const taints = [{ key: 'bad', effect: 'NoExecute' }];
  api.update('nodes', { ...one, spec: { ...one.spec, taints } });
}

/** A kube-controller-manager with its flags as they are by default: it evicts for taints. */
function addManager({ cluster: { api } }: EmbeddedCluster): void {
  const command = ['kube-controller-manager', '--bind-address=127.0.0.1'];
  const containers = [{ name: 'kube-controller-manager', image: 'registry/kcm', command }];
  const made = pod('kube-system', 'kube-controller-manager-a-2', {
    spec: { nodeName: 'a-2', containers },
  });
  const labels = { component: 'kube-controller-manager' };
  api.create('pods', { ...made, metadata: { ...made.metadata, labels } });
}

async function scrape(controller: RunningProcess, instance = 'one'): Promise<Scrape> {
  const { status, body } = await ask(controller.port, '/metrics', {});
  assert.equal(status, 200, body);
  return { instance, text: body, atSeconds: Date.now() / 1000 };
}

/** What one replica shows, for so many minutes. */
async function shown(controller: RunningProcess, minutes: number): Promise<Phase> {
  return { minutes, scrapes: [await scrape(controller)], moves: true };
}

/** An hour of ordinary work. */
async function calmHour(
  embedded: EmbeddedCluster,
  controller: RunningProcess,
  evicted = 'evicted',
): Promise<Phase> {
  taint(embedded, 'a-1');
  await controller.saw(evicted, { pod: 'shop/web-0' });
  await controller.saw(evicted, { pod: 'shop/web-1' });
  return shown(controller, 60);
}

/** A budget without room. */
function keepAll({ cluster: { api } }: EmbeddedCluster): void {
  api.create('poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'web' },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } },
  });
}

/** A file for --policy. */
function policy(t: TestContext, spec: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-incident-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'policy.json');
  const kind = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy' };
  writeFileSync(file, JSON.stringify({ ...kind, metadata: { name: 'all' }, spec }));
  return file;
}

describe('the alerts', { skip }, () => {
  it('are silent in a calm hour', async (t) => {
    const embedded = await start(t);
    const controller = await run(t, embedded);
    await controller.saw('became the leader');
    const before = await shown(controller, 60);
    assert.deepEqual(firing([before]), []);
    assert.deepEqual(firing([before, await calmHour(embedded, controller)]), []);
  });

  it('are silent where it only looks on, beside kube-controller-manager', async (t) => {
    const embedded = await start(t);
    addManager(embedded);
    const controller = await run(t, embedded, '--dry-run=client');
    assert.deepEqual(firing([await shown(controller, 60)]), []);
    const hour = await calmHour(embedded, controller, 'dry run: would have evicted');
    assert.deepEqual(firing([hour]), []);
  });

  it('TaintmgrDown: the controller is stopped', async (t) => {
    const embedded = await start(t);
    const controller = await run(t, embedded);
    const calm = await calmHour(embedded, controller);
    await controller.stop();
    assert.deepEqual(firing([calm, { minutes: 15, scrapes: [], moves: true }]), ['TaintmgrDown']);
  });

  it('TaintmgrNobodyActing: the lease is held by one who does nothing', async (t) => {
    const embedded = await start(t);
    const fast = ['--leader-elect-retry-period=200ms', '--leader-elect-renew-deadline=1s'];
    const controller = await run(t, embedded, ...fast);
    await controller.saw('became the leader');
    const calm = await calmHour(embedded, controller);
    const { api } = embedded.cluster;
    const lease = api.get('leases', 'kube-system', 'taintmgr-controller') ?? assert.fail();
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const other = { holderIdentity: 'other', leaseDurationSeconds: 3600, renewTime };
    api.update('leases', { ...lease, spec: { ...lease.spec, ...other } });
    await controller.saw('no longer the leader, standing by');
    assert.deepEqual(firing([calm, await shown(controller, 10)]), ['TaintmgrNobodyActing']);
  });

  it('TaintmgrTwoActing: two replicas run without election', async (t) => {
    const embedded = await start(t);
    const flags = ['--leader-elect=false', '--publish-status=false'];
    const one = await run(t, embedded, ...flags);
    const calm = await calmHour(embedded, one);
    const other = await run(t, embedded, ...flags);
    const scrapes = [await scrape(one), await scrape(other, 'other')];
    const both: Phase = { minutes: 10, scrapes, moves: true };
    assert.deepEqual(firing([calm, both]), ['TaintmgrTwoActing']);
  });

  it('are silent where two replicas only look on, and one acts', async (t) => {
    const embedded = await start(t);
    const one = await run(t, embedded, '--leader-elect=false', '--publish-status=false');
    const calm = await calmHour(embedded, one);
    const scrapes = [await scrape(one)];
    for (const name of ['first', 'second']) {
      const looking = await run(t, embedded, '--dry-run=client', '--publish-status=false');
      scrapes.push(await scrape(looking, name));
    }
    const metrics = scrapes.map(({ text }) => text.match(/^taintmgr_(acting|dry_run) \d/gm));
    const looksOn = ['taintmgr_acting 1', 'taintmgr_dry_run 1'];
    assert.deepEqual(
      metrics.slice(1).map((found) => found?.toSorted()),
      [looksOn, looksOn],
    );
    assert.deepEqual(firing([calm, { minutes: 10, scrapes, moves: true }]), []);
  });

  it('TaintmgrOverlap: kube-controller-manager runs too, and that is accepted', async (t) => {
    const embedded = await start(t);
    addManager(embedded);
    const controller = await run(t, embedded, '--allow-overlap');
    await controller.saw('became the leader');
    assert.deepEqual(firing([await shown(controller, 10)]), ['TaintmgrOverlap']);
  });

  it('TaintmgrEvictedByOther: pods of one node are marked in the name of kube-controller-manager', async (t) => {
    const embedded = await start(t);
    const controller = await run(t, embedded, '--mode=evict');
    await controller.saw('became the leader');
    const calm = await shown(controller, 60);
    const { access } = await loadKubeconfig({ kubeconfig: embedded.kubeconfig });
    // Without a lease: one that shows itself is an overlap.
    const manager = new UpstreamManager(access, { lease: false });
    t.after(() => manager.stop());
    manager.start();
    keepAll(embedded);
    taint(embedded, 'a-1');
    await controller.saw('recorded event', { reason: 'EvictedByOther' });
    const marked = await shown(controller, 9);
    assert.deepEqual(firing([calm, marked]), ['TaintmgrEvictedByOther']);
    assert.deepEqual(firing([calm, { ...marked, minutes: 20 }]), []);
  });

  it('TaintmgrEvictionsOverdue: a budget without room', async (t) => {
    const embedded = await start(t);
    keepAll(embedded);
    const controller = await run(t, embedded, '--mode=evict');
    await controller.saw('became the leader');
    const calm = await shown(controller, 60);
    taint(embedded, 'a-1');
    await controller.saw('blocked by a PDB, will try again', { pod: 'shop/web-0' });
    await controller.saw('blocked by a PDB, will try again', { pod: 'shop/web-1' });
    const held = await shown(controller, 10);
    assert.deepEqual(firing([calm, held]), []);
    assert.deepEqual(firing([calm, { ...held, minutes: 20 }]), ['TaintmgrEvictionsOverdue']);
  });

  it('TaintmgrLimitTripped: more pods are due than a limit lets go', async (t) => {
    const embedded = await start(t);
    const limits = [{ per: 'Total', pods: 1, window: '1h', onLimit: 'Trip' }];
    const controller = await run(t, embedded, `--policy=${policy(t, { limits })}`);
    await controller.saw('became the leader');
    const calm = await shown(controller, 60);
    taint(embedded, 'a-1');
    await controller.saw('limit has tripped: pods under it are not evicted until it is resumed');
    assert.deepEqual(firing([calm, await shown(controller, 5)]), ['TaintmgrLimitTripped']);
  });

  it('TaintmgrCacheStale: the API server is away', async (t) => {
    const embedded = await start(t);
    const controller = await run(t, embedded, '--leader-elect=false', '--publish-status=false');
    const calm = await calmHour(embedded, controller);
    embedded.cluster.api.faults.down = true;
    await controller.saw('reading nodes failed, reconnecting');
    await controller.saw('reading pods failed, reconnecting');
    const instants = async (): Promise<readonly number[]> => {
      const { text } = await scrape(controller);
      const lines = text.split('\n');
      const heard = lines.filter((line) => line.startsWith('taintmgr_watch_last_event'));
      return heard.map((line) => Number(line.split(' ')[1]));
    };
    // What it has heard stays as old as it is, but for what two clocks come apart in a moment.
    const [before, after] = [await instants(), await instants()];
    assert.equal(before.length, after.length);
    for (const [index, at] of before.entries()) {
      assert.ok(Math.abs(at - (after[index] ?? 0)) < 0.1, `${before} and ${after}`);
    }
    const stale = { ...(await shown(controller, 15)), moves: false };
    assert.deepEqual(firing([calm, stale]), ['TaintmgrCacheStale']);
  });

  it('TaintmgrTakeoverNotInForce: the rights of takeover are missing', async (t) => {
    const embedded = await startCluster(t);
    const all = readManifests('modes/evict', 'components/takeover');
    const ofTakeover = 'taintmgr-controller:takeover';
    grant(
      embedded,
      all.objects.filter(
        ({ kind, metadata }) => !(kind === 'ClusterRole' && metadata.name === ofTakeover),
      ),
    );
    const connection = { kubeconfig: embedded.kubeconfig, token: 'of-controller' };
    const flags = [...all.flags, ...open];
    const { environment } = all;
    const controller = await startProcess(t, { connection, flags, environment });
    await controller.saw('became the leader');
    await controller.saw('could not check the policies of takeover');
    const fired = firing([await shown(controller, 10)]);
    assert.deepEqual(fired, ['TaintmgrTakeoverNotInForce']);
  });

  for (const [name, delay] of [
    ['TaintmgrEvictionsLate', 45_000],
    ['TaintmgrEvictionsLost', null],
  ] as const) {
    it(`${name}: the engine decides, and nothing leaves for ${delay ?? 'ever'}`, async () => {
      assert.deepEqual(firing(await slow(delay)), [name]);
      assert.deepEqual(firing(await slow(100)), []);
    });
  }
});

/**
 * An engine in virtual time, measured by the controller's metrics, and an executor that sends each request
 * so late, or never: no cluster can be made to hold up the program by itself.
 */
async function slow(delayMs: number | null): Promise<readonly Phase[]> {
  const { stats, metrics } = measure();
  const engine = createEngine({ mode: 'delete' });
  const begun = Date.parse('2026-01-01T00:00:00Z');
  let now = begun;
  stats.running = { ...idle, wall: () => now };
  const notify = (notice: Parameters<typeof metrics.onNotice>[0]): void => {
    stats.pending.observe(notice, now);
    metrics.onNotice(notice, now);
  };
  const waiting: (readonly [at: number, notice: Parameters<typeof notify>[0]])[] = [];
  const handle = (event: Event): void => {
    for (const command of engine.handle(now, event)) {
      if (command.kind === 'report') notify(command);
      else if (command.kind === 'deletePod' && delayMs !== null) {
        waiting.push([now + delayMs, { kind: 'commandSent', command }]);
      }
    }
  };
  const shown = async (minutes: number): Promise<Phase> => {
    const text = await metricsText(metrics.registry, 'text');
    return { minutes, scrapes: [{ instance: 'one', text, atSeconds: now / 1000 }], moves: true };
  };
  const one = nodeFromJson(node('n1'));
  handle({ kind: 'nodeUpsert', node: one });
  const patient = { key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  const tolerations = [patient];
  const made = pod('shop', 'web-0', { spec: { nodeName: 'n1', tolerations } });
  handle({ kind: 'podUpsert', pod: podFromJson(made) });
  handle({ kind: 'synced' });
  notify({ kind: 'synced' });
  const calm = await shown(60);
  const taints = [{ ...parseTaint('bad:NoExecute'), timeAdded: null }];
  handle({ kind: 'nodeUpsert', node: { ...one, taints } });
  for (const end = begun + 90_000; now < end; now += 1000) {
    handle({ kind: 'tick' });
    for (const [at, notice] of waiting.splice(0)) {
      if (at <= now) notify(notice);
      else waiting.push([at, notice]);
    }
  }
  return [calm, await shown(5)];
}

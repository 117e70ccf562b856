import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import {
  customResourceDefinitions,
  readManifest,
  type TaintManagerStatus,
} from '@taintmgr/k8s-adapter/kinds';
import { namespace, node, pod, type Rule, toleration, type User } from '@taintmgr/sim-cluster';
import { resolveChoices } from '../../src/flags/resolve.ts';
import { isOwnStatus } from '../../src/process/published-status.ts';
import { markedAt } from '../../src/shadow/shadow.ts';
import { ask } from '../harness/https-client.ts';
import { startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

// The whole controller in a dry run beside kube-controller-manager, over HTTPS and in real time.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const manager: User = { name: 'system:kube-controller-manager', groups: [], rules: [everything] };
const taintManagers = 'taintmanagers.taintmgr.dev';
const path = '/apis/taintmgr.dev/v1alpha1/taintmanagers';

interface ShadowedCluster extends TestApi {
  /** What the controller asked for that is no dry run and may change something, each once. */
  readonly writes: ReadonlySet<string>;
  /** The resources of which objects have changed, whoever did it. */
  readonly changed: ReadonlySet<string>;
}

/** A node with a pod of the shop, and one of the databases, which a policy keeps. */
async function startCluster(t: TestContext): Promise<ShadowedCluster> {
  const writes = new Set<string>();
  const cluster = await startTestApi([everything], { manager }, (exchange) => (request, sink) => {
    const { method, path: asked, headers, body } = request;
    const isOurs = headers.authorization === 'Bearer token';
    const isDryRun = asked.includes('dryRun=All') || `${body}`.includes('"dryRun":["All"]');
    if (isOurs && method !== 'GET' && !isDryRun) {
      writes.add(`${method} ${asked.replace(/[?].*/, '')}`);
    }
    return exchange(request, sink);
  });
  t.after(() => cluster.stop());
  const { api } = cluster;
  await installDefinitions(api, customResourceDefinitions());
  for (const name of ['shop', 'db']) api.create('namespaces', namespace(name));
  api.create('evictionpolicies.taintmgr.dev', {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPolicy',
    metadata: { name: 'databases' },
    spec: { match: { namespaces: ['db'] }, action: 'Keep' },
  });
  api.create('nodes', node('n1'));
  api.create('pods', pod('shop', 'web', { spec: { nodeName: 'n1' } }));
  api.create('pods', pod('db', 'pg', { spec: { nodeName: 'n1' } }));
  const { access } = await loadKubeconfig({ kubeconfig: cluster.kubeconfig, token: 'manager' });
  const kubeControllerManager = new UpstreamManager(access);
  kubeControllerManager.start();
  t.after(() => kubeControllerManager.stop());
  const changed = new Set<string>();
  api.subscribe(({ resource }) => changed.add(resource));
  return { ...cluster, writes, changed };
}

function statusOf({ api }: TestApi): TaintManagerStatus | null {
  const [only, ...more] = api.list(taintManagers);
  assert.deepEqual(more, []);
  const read = readManifest(only, 0);
  assert.ok(read.kind === 'allowed' && read.value.kind === 'TaintManager');
  assert.equal(read.value.value.name, 'taintmgr-shadow');
  return read.value.value.status;
}

/** Resolves when the published report has so many pods that would have been kept. */
async function keptIn(cluster: TestApi, kept: number): Promise<void> {
  const { api } = cluster;
  await new Promise<void>((resolve) => {
    const stop = api.subscribe(() => {
      if (api.list(taintManagers).length === 0 || statusOf(cluster)?.shadow?.kept !== kept) return;
      stop();
      resolve();
    });
  });
}

function taint({ api }: TestApi): void {
  const found = api.get('nodes', '', 'n1');
  assert.ok(found);
  const taints = [{ key: 'spot', effect: 'NoExecute' }];
  api.update('nodes', { ...found, spec: { ...found.spec, taints } });
}

describe('a dry run beside kube-controller-manager', () => {
  // kube-controller-manager deletes both pods at once. taintmgr would have evicted web in the same
  // instant, asking budgets by --mode=evict, and kept pg by policy databases.
  for (const kind of ['client', 'server']) {
    it(`keeps score and changes nothing but its own status: --dry-run=${kind}`, async (t) => {
      const cluster = await startCluster(t);
      const flags = [
        ...[`--dry-run=${kind}`, '--mode=evict', '--controllers=taint-eviction-controller'],
        '--authorization-always-allow-paths=/*',
      ];
      const controller = await startProcess(t, { connection: cluster, flags });
      await controller.saw('caches synced, the dry run starts: nothing is evicted');
      taint(cluster);
      await keptIn(cluster, 1);
      const status = statusOf(cluster);
      const { same, earlier, later, kept, onlyTaintmgr, budgetsAsked, following, policies } =
        status?.shadow ?? {};
      assert.deepEqual([same, earlier, later, kept, onlyTaintmgr], [1, 0, 0, 1, 0]);
      assert.deepEqual([budgetsAsked, following], [1, 0]);
      assert.deepEqual(
        policies?.map(({ name }) => name),
        ['(none)', 'databases'],
      );
      assert.equal(status?.settings?.['dry-run'], kind);
      assert.equal(status?.counts?.evicted, undefined);
      assert.deepEqual(status?.features ?? [], []);
      const metrics = await ask(controller.port, '/metrics');
      assert.match(metrics.body, /^taintmgr_shadow_pods_total\{verdict="same"\} 1$/m);
      assert.match(metrics.body, /^taintmgr_shadow_pods_total\{verdict="kept"\} 1$/m);
      assert.match(metrics.body, /^taintmgr_shadow_budgets_asked_pods_total 1$/m);
      const page = await ask(controller.port, '/statusz');
      assert.match(page.body, /^Shadow: deleted by kube-controller-manager: 2$/m);
      assert.match(page.body, /^Shadow: taintmgr would have kept: 1$/m);
      await controller.stop();
      const own = [`POST ${path}`, `PATCH ${path}/taintmgr-shadow/status`];
      assert.deepEqual([...cluster.writes].toSorted(), own.toSorted());
      // The node by this test, pods, Events and a lease by kube-controller-manager.
      const { api, changed } = cluster;
      const sources = api.list('events').map(({ source }) => source.component);
      assert.deepEqual([...new Set(sources)], ['taint-eviction-controller']);
      const leases = api.list('leases').map(({ metadata }) => metadata.name);
      assert.deepEqual(leases, ['kube-controller-manager']);
      const all = ['events', 'leases', 'nodes', 'pods', taintManagers];
      assert.deepEqual([...changed].toSorted(), all);
    });
  }
});

describe('a pod that is gone before its mark was seen', () => {
  const stories: readonly (readonly [string, readonly string[], number])[] = [
    ['was deleted by kube-controller-manager, as its Event says', ['Marking for deletion Pod'], 1],
    [
      'was not, where that one took it back',
      ['Marking for deletion Pod', 'Cancelling deletion of Pod'],
      0,
    ],
    ['was not, where there is no such Event', [], 0],
  ];
  for (const [name, words, kept] of stories) {
    it(name, async (t) => {
      const cluster = await startTestApi([everything]);
      t.after(() => cluster.stop());
      const { api } = cluster;
      await installDefinitions(api, customResourceDefinitions());
      api.create('namespaces', namespace('shop'));
      const tolerations = [{ ...toleration('spot:NoExecute', 3600) }];
      const spec = { nodeName: 'n1', tolerations };
      api.create('nodes', node('n1', { spec: { taints: [{ key: 'spot', effect: 'NoExecute' }] } }));
      api.create('pods', pod('shop', 'web', { spec }));
      const flags = ['--dry-run=client', '--controllers=taint-eviction-controller'];
      const open = '--authorization-always-allow-paths=/*';
      const controller = await startProcess(t, { connection: cluster, flags: [...flags, open] });
      await controller.saw('caches synced, the dry run starts: nothing is evicted');
      await controller.saw('publishing status');
      for (const [index, said] of words.entries()) {
        const at = `${new Date(Date.now() + index * 1000).toISOString().slice(0, 19)}Z`;
        api.create('events', {
          metadata: { name: `web.${index}`, namespace: 'shop' },
          involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace: 'shop', name: 'web' },
          ...{ reason: 'TaintManagerEviction', message: `${said} shop/web`, type: 'Normal' },
          ...{ firstTimestamp: at, lastTimestamp: at, count: 1 },
          source: { component: 'taint-eviction-controller' },
        });
      }
      // All watches break, and what was in between is forgotten.
      api.faults.down = true;
      api.delete('pods', 'shop', 'web', { gracePeriodSeconds: 0 });
      api.compact();
      api.faults.down = false;
      await controller.saw('read Events about a pod that is gone', { isMarked: kept === 1 });
      const page = async (): Promise<string> => (await ask(controller.port, '/statusz')).body;
      const settled = kept === 1 ? /^Shadow: taintmgr later: 1$/m : /^Shadow: no verdict yet: 0$/m;
      while (!settled.test(await page())) await new Promise((resolve) => setImmediate(resolve));
      assert.match(
        await page(),
        new RegExp(`^Shadow: deleted by kube-controller-manager: ${kept}$`, 'm'),
      );
      await controller.stop();
    });
  }
});

describe('what Events say of a pod', () => {
  const said = (message: string, at: string, component = 'taint-eviction-controller') => ({
    ...{ message, lastTimestamp: at, source: { component } },
  });
  const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'];
  const marking = 'Marking for deletion Pod shop/web';
  const cancelling = 'Cancelling deletion of Pod shop/web';
  const cases: readonly (readonly [string, readonly object[], string | null])[] = [
    ['nothing', [], null],
    ['that it was marked', [said(marking, early)], early],
    ['the last word counts', [said(cancelling, early), said(marking, late)], late],
    ['also in another order', [said(marking, early), said(cancelling, late)], null],
    ['of another pod', [said('Marking for deletion Pod shop/web-2', early)], null],
    ['by ourselves', [said(marking, early, 'taintmgr')], null],
    ['without a time', [{ message: marking, lastTimestamp: null }], null],
    ['in a newer form', [{ message: marking, lastTimestamp: null, eventTime: late }], late],
  ];
  for (const [name, events, at] of cases) {
    it(name, () => {
      const found = markedAt(events, { namespace: 'shop', name: 'web' });
      assert.equal(found, at === null ? null : Date.parse(at));
    });
  }
});

describe('what a dry run may write', () => {
  const { settings } = resolveChoices(['--dry-run=client'], {});
  const request = { headers: {}, body: null };
  const cases: readonly (readonly [
    method: 'PATCH' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body: string | null,
    is: boolean,
  ])[] = [
    ['PATCH', `${path}/taintmgr-shadow/status?fieldManager=x`, null, true],
    ['PATCH', `${path}/taintmgr/status`, null, false],
    ['PATCH', `${path}/taintmgr-shadow`, null, false],
    ['PATCH', '/api/v1/nodes/n1/status', null, false],
    ['PUT', `${path}/taintmgr-shadow/status`, null, false],
    ['DELETE', `${path}/taintmgr-shadow`, null, false],
    ['POST', path, '{"metadata":{"name":"taintmgr-shadow"}}', true],
    ['POST', path, '{"metadata":{"name":"taintmgr"}}', false],
    ['POST', path, '{}', false],
    ['POST', path, null, false],
    ['POST', '/api/v1/namespaces/shop/pods', '{"metadata":{"name":"taintmgr-shadow"}}', false],
  ];
  for (const [method, to, body, is] of cases) {
    it(`${is ? 'is' : 'is not'} ${method} ${to} ${body ?? ''}`, () => {
      assert.equal(isOwnStatus(settings, { ...request, method, path: to, body }), is);
    });
  }
});

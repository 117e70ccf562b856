import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { namespace, node, pod } from '@taintmgr/sim-cluster';
import { freePort } from '../harness/free-port.ts';
import { ask } from '../harness/https-client.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

// The port that serves health alone, of the controller as it runs.

const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
const readsHealth = {
  name: 'on-call',
  groups: [],
  rules: [{ verbs: ['get'], nonResourceURLs: ['/readyz/*'] }],
};
const flags = ['--leader-elect=false', '--allow-overlap'];

async function startApi(t: TestContext): Promise<TestApi> {
  const api = await startTestApi(everything, { 'of-on-call': readsHealth });
  t.after(() => api.stop());
  return api;
}

function start(
  t: TestContext,
  api: TestApi,
  healthz: number,
  ...more: readonly string[]
): Promise<RunningProcess> {
  const connection = { kubeconfig: api.kubeconfig };
  const own = ['--healthz-bind-address=127.0.0.1', `--healthz-port=${healthz}`];
  return startProcess(t, { connection, flags: [...flags, ...own, ...more] });
}

it('says over HTTP whether it is well, and nothing else', async (t) => {
  const healthz = await freePort();
  const controller = await start(t, await startApi(t), healthz);
  await controller.saw('caches synced, evictions start');
  const cases: readonly (readonly [path: string, status: number])[] = [
    ['/livez', 200],
    ['/readyz', 200],
    ['/healthz?verbose', 200],
    // These give reasons, with the names of nodes; and these say still more.
    ['/livez/loop', 404],
    ['/metrics', 404],
    ['/statusz', 404],
  ];
  for (const [path, status] of cases) {
    assert.equal((await fetch(`http://127.0.0.1:${healthz}${path}`)).status, status, path);
  }
  // Where kube-controller-manager has it, it is too.
  assert.equal((await ask(controller.port, '/livez')).status, 200);
  await controller.stop();
});

it('names nobody for whom a limit has tripped, who is told of it elsewhere', async (t) => {
  const healthz = await freePort();
  const api = await startApi(t);
  api.api.create('namespaces', namespace('shop'));
  api.api.create('nodes', node('n1'));
  for (const name of ['a', 'b']) {
    api.api.create('pods', pod('shop', name, { spec: { nodeName: 'n1' } }));
  }
  const folder = mkdtempSync(join(tmpdir(), 'health-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'policy.json');
  const limits = [{ per: 'Namespace', pods: 1, window: '1h', onLimit: 'Trip' }];
  const metadata = { name: 'per-ns' };
  const apiVersion = 'taintmgr.dev/v1alpha1';
  writeFileSync(
    file,
    JSON.stringify({ apiVersion, kind: 'EvictionPolicy', metadata, spec: { limits } }),
  );
  const controller = await start(t, api, healthz, `--policy=${file}`);
  await controller.saw('caches synced, evictions start');
  const one = api.api.get('nodes', '', 'n1') ?? assert.fail();
  const taints = [{ key: 'bad', effect: 'NoExecute' }];
  api.api.update('nodes', { ...one, spec: { ...one.spec, taints } });
  await controller.saw('limit has tripped: pods under it are not evicted until it is resumed');
  for (const path of ['/livez?verbose', '/readyz?verbose', '/healthz?verbose&exclude=loop']) {
    const answers = [
      await (await fetch(`http://127.0.0.1:${healthz}${path}`)).text(),
      (await ask(controller.port, path)).body,
    ];
    for (const body of answers) {
      assert.match(body, /^\[\+\]ping ok$/m);
      assert.doesNotMatch(body, /shop|per-ns|n1/, path);
    }
  }
  const headers = { authorization: 'Bearer of-on-call' };
  const told = await ask(controller.port, '/readyz/limits', { headers });
  assert.match(told.body, /^ok: tripped: namespace=shop policy=per-ns/);
  await controller.stop();
});

it('is named with its flag where it is taken', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await once(taken, 'listening');
  const address = taken.address();
  assert.ok(address instanceof Object);
  const { result } = await start(t, await startApi(t), address.port);
  await assert.rejects(result, (error: Error) => {
    assert.match(
      error.message,
      new RegExp(`^--healthz-port: got "${address.port}", want a free one`),
    );
    return true;
  });
});

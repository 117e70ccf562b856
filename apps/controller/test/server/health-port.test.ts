import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { it, type TestContext } from 'node:test';
import { freePort } from '../harness/free-port.ts';
import { ask } from '../harness/https-client.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

// The port that serves health alone, of the controller as it runs.

const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
const flags = ['--leader-elect=false', '--allow-overlap'];

async function startApi(t: TestContext): Promise<TestApi> {
  const api = await startTestApi(everything);
  t.after(() => api.stop());
  return api;
}

function start(t: TestContext, api: TestApi, healthz: number): Promise<RunningProcess> {
  const connection = { kubeconfig: api.kubeconfig };
  const own = ['--healthz-bind-address=127.0.0.1', `--healthz-port=${healthz}`];
  return startProcess(t, { connection, flags: [...flags, ...own] });
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

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { node, pod, type Rule, type User } from '@taintmgr/sim-cluster';
// @boundaries-ignore the runtimes are the same for every package
import { runtimes } from '../../../../packages/k8s-adapter/test/world/runtimes.ts';
import { freePort } from '../harness/free-port.ts';
import { ask } from '../harness/https-client.ts';
import { startReplica } from '../harness/replica.ts';
import { startTestApi } from '../harness/test-api.ts';

// The controller as a process from source, on the other runtimes: it is elected, evicts, records,
// answers over HTTPS to those who may ask, and ends in order.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
/** Ends what hangs. */
const timeout = 240_000;

function testdata(name: string): string {
  return fileURLToPath(new URL(`../testdata/server/tls/${name}`, import.meta.url));
}

for (const runtime of runtimes.filter(({ name }) => name !== 'Node')) {
  describe(`the controller on ${runtime.name}`, () => {
    it('evicts, answers, and ends in order', { timeout }, async (t) => {
      const cluster = await startTestApi([everything], { admin });
      t.after(() => cluster.stop());
      const { api, kubeconfig } = cluster;
      api.create('nodes', node('n1', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }));
      const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0 };
      api.create('pods', pod('default', 'web-0', { spec }));
      const port = await freePort();
      const record = join(dirname(kubeconfig), 'flight');
      const address = ['--bind-address=127.0.0.1', `--secure-port=${port}`];
      const flags = [
        ...address,
        '--allow-overlap',
        `--flight-record=${record}`,
        `--client-ca-file=${testdata('ca.crt')}`,
      ];
      const controller = startReplica(t, kubeconfig, flags, runtime);
      await controller.saw('became the leader');
      await controller.saw('evicted');
      assert.equal(api.get('pods', 'default', 'web-0'), null);
      const authorization = (token: string): object => ({
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal((await ask(port, '/livez')).body, 'ok');
      assert.equal((await ask(port, '/metrics')).status, 403);
      assert.equal((await ask(port, '/metrics', authorization('nobody'))).status, 401);
      const { body } = await ask(port, '/metrics', authorization('admin'));
      assert.match(body, /^taint_eviction_controller_pod_deletions_total 1$/m);
      const [cert, key] = ['client.crt', 'client.key'].map((name) => readFileSync(testdata(name)));
      assert.equal((await ask(port, '/metrics', { cert, key })).status, 200);
      await controller.stop();
      assert.ok(statSync(record).size > 0);
    });
  });
}

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { ApiServer, createCertificate, startHttps, writeKubeconfig } from '@taintmgr/api-server';
import { node, RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { startProcess } from '../harness/running-process.ts';

const tokenPath =
  '/api/v1/namespaces/taintmgr-system/serviceaccounts/taintmgr-summary-reader/token';

it('the controller asks kubelets over TLS, and shows them a token that is not its own', async (t) => {
  const certificate = createCertificate(Date.now());
  let heard = (_heard: string): void => {};
  const asked = new Promise<string>((resolve) => {
    heard = resolve;
  });
  const kubelet = await startHttps({
    certificate,
    exchange: ({ path, headers }, sink) => {
      heard(`${path} ${headers.authorization}`);
      sink.head(200, { 'content-type': 'application/json' });
      sink.data('{"node":{"nodeName":"n1"}}');
      sink.end();
      return () => {};
    },
  });
  t.after(() => kubelet.close());
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1) });
  const server = await startHttps({
    certificate,
    exchange: (request, sink) => {
      if (request.path !== tokenPath) return api.exchange(request, sink);
      sink.head(201, { 'content-type': 'application/json' });
      const kind = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1' };
      sink.data(JSON.stringify({ ...kind, status: { token: 'of-the-reader' } }));
      sink.end();
      return () => {};
    },
  });
  t.after(() => server.close());
  const Port = Number(new URL(kubelet.url).port);
  api.create('nodes', {
    ...node('n1'),
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port } },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-kubelets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'own' });
  const controller = await startProcess(t, {
    connection: { kubeconfig },
    flags: [
      ...['--controllers=node-pressure-controller', '--eviction-hard=memory.available<1Gi'],
      ...['--summary-source=kubelet', '--leader-elect=false', '--allow-overlap'],
    ],
  });
  assert.equal(await asked, '/stats/summary Bearer of-the-reader');
  await controller.stop();
});

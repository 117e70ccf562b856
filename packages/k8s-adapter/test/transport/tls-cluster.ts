import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ApiClient } from '../../src/client/client.ts';
import { loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { startServer } from '../world/http-server.ts';

export const tls = (name: string): string =>
  fileURLToPath(new URL(`../testdata/transport/tls/${name}`, import.meta.url));

/** A client by a kubeconfig on disk. */
export async function clientOf(t: TestContext, cluster: object): Promise<ApiClient> {
  const home = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  const kubeconfig = path.join(home, 'config');
  writeFileSync(kubeconfig, configFor(cluster));
  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, 'taintmgr/test');
  t.after(() => transport.close());
  // What makes a SOCKS connection is loaded first, which takes seconds on a busy machine.
  return new ApiClient({ transport, server: access.server, requestTimeout: 180_000 });
}

/** A kubeconfig for the cluster, with a client certificate. */
export function configFor(cluster: object): string {
  const user = { 'client-certificate': tls('client.crt'), 'client-key': tls('client.key') };
  return JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  });
}

/** From a kubeconfig on disk to an answer over TLS. */
export async function ask(t: TestContext, cluster: object): Promise<unknown> {
  const api = await clientOf(t, cluster);
  return [await api.get('/one'), await api.get('/two')];
}

export async function startApi(t: TestContext): Promise<string> {
  const { url } = await startServer(
    t,
    (request, response) => {
      const socket = request.socket as import('node:tls').TLSSocket;
      response.end(JSON.stringify([request.url, socket.getPeerCertificate().subject.CN]));
    },
    {
      cert: readFileSync(tls('server.crt')),
      key: readFileSync(tls('server.key')),
      ca: readFileSync(tls('ca.crt')),
      requestCert: true,
    },
  );
  return url;
}

export const expected = [
  ['/one', 'test-client'],
  ['/two', 'test-client'],
];

/** The cluster of a kubeconfig whose certificate is verified. */
export const verified = (server: string) => ({
  server,
  'certificate-authority': tls('ca.crt'),
  'tls-server-name': 'api.test',
});

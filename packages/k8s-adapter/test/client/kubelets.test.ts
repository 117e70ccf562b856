import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createCertificate, type HttpsServer, startHttps } from '@taintmgr/api-server';
import type { ApiRequest, Exchange } from '@taintmgr/sim-cluster';
import { type KubeletAddress, summariesFromKubelets, summaryRequest } from '../../src/index.ts';
import { AnswerCollector } from '../../src/proto/exchange.ts';
import { InputSink, type Transport } from '../../src/transport/sink.ts';

// Kubelets asked over TLS, with real sockets.

const certificate = createCertificate(Date.now());
const reader = { namespace: 'taintmgr-system', name: 'reader' };

interface Kubelet {
  readonly address: KubeletAddress;
  readonly heard: ApiRequest[];
}

/** It takes this token, as a kubelet does that has it reviewed. */
async function startKubelet(t: TestContext, isGood: (token: string) => boolean): Promise<Kubelet> {
  const heard: ApiRequest[] = [];
  const exchange: Exchange = (request, sink) => {
    heard.push(request);
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    sink.head(isGood(token) ? 200 : 401, { 'content-type': 'application/json' });
    sink.data(isGood(token) ? '{"node":{"nodeName":"n1"}}' : 'Unauthorized');
    sink.end();
    return () => {};
  };
  const server: HttpsServer = await startHttps({ exchange, certificate });
  t.after(() => server.close());
  return { address: { host: '127.0.0.1', port: Number(new URL(server.url).port) }, heard };
}

/** An API server that gives tokens: `token-1`, `token-2` and so on. */
function tokenServer(): { readonly api: Transport; readonly asked: ApiRequest[] } {
  const asked: ApiRequest[] = [];
  const api: Transport = {
    send: (request, sink) => {
      asked.push(request);
      const answer = {
        ...{ kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1' },
        spec: { expirationSeconds: 3600 },
        status: { token: `token-${asked.length}` },
      };
      const timer = setImmediate(() => {
        sink.head(request.path.endsWith('/token') ? 201 : 404, {});
        sink.data(JSON.stringify(answer));
        sink.end();
      });
      return () => clearImmediate(timer);
    },
  };
  return { api, asked };
}

/** How it is answered: the status and the body, or why not. */
function summaryOf(transport: Transport, nodeName: string): Promise<string> {
  const collector = new AnswerCollector();
  return new Promise((resolve) => {
    transport.send(
      summaryRequest(nodeName),
      new InputSink('', (input) => {
        const answer = collector.take(input);
        if (answer) {
          resolve(answer.kind === 'none' ? answer.message : `${answer.status} ${answer.body}`);
        }
      }),
    );
  });
}

describe('summaries from kubelets', () => {
  it('come from the kubelet, which is shown the token of another service account', async (t) => {
    const { address, heard } = await startKubelet(t, (token) => token === 'token-1');
    const { api, asked } = tokenServer();
    const options = { api, serviceAccount: reader, ca: certificate.ca, userAgent: 'test' };
    const transport = summariesFromKubelets({ ...options, addressOf: () => address });
    for (let count = 0; count < 3; count += 1) {
      assert.equal(await summaryOf(transport, 'n1'), '200 {"node":{"nodeName":"n1"}}');
    }
    assert.deepEqual(
      heard.map(({ method, path }) => `${method} ${path}`),
      Array(3).fill('GET /stats/summary'),
    );
    // One token for all, and nothing of ours goes to a kubelet.
    assert.deepEqual(
      asked.map(({ method, path }) => `${method} ${path}`),
      ['POST /api/v1/namespaces/taintmgr-system/serviceaccounts/reader/token'],
    );
    assert.deepEqual(
      new Set(heard.map(({ headers }) => headers.authorization)),
      new Set(['Bearer token-1']),
    );
  });

  it('come with another token when the first is not taken any more', async (t) => {
    const { address } = await startKubelet(t, (token) => token === 'token-2');
    const { api } = tokenServer();
    const options = { api, serviceAccount: reader, ca: certificate.ca, userAgent: 'test' };
    const transport = summariesFromKubelets({ ...options, addressOf: () => address });
    assert.equal(await summaryOf(transport, 'n1'), '401 Unauthorized');
    assert.equal(await summaryOf(transport, 'n1'), '200 {"node":{"nodeName":"n1"}}');
  });

  it('are not asked of whoever has no certificate of that authority', async (t) => {
    const { address, heard } = await startKubelet(t, () => true);
    const { api } = tokenServer();
    const { ca } = createCertificate(Date.now());
    const options = { api, serviceAccount: reader, ca, userAgent: 'test' };
    const transport = summariesFromKubelets({ ...options, addressOf: () => address });
    assert.match(await summaryOf(transport, 'n1'), /certificate/);
    assert.deepEqual(heard, []);
  });

  it('are not to be had of a node without an address', async () => {
    const { api, asked } = tokenServer();
    const options = { api, serviceAccount: reader, ca: certificate.ca, userAgent: 'test' };
    const transport = summariesFromKubelets({ ...options, addressOf: () => null });
    assert.equal(await summaryOf(transport, 'n1'), 'the node has no address');
    assert.deepEqual(asked, []);
  });

  it('leave all other requests to the API server', async () => {
    const { api, asked } = tokenServer();
    const options = { api, serviceAccount: reader, ca: certificate.ca, userAgent: 'test' };
    const transport = summariesFromKubelets({ ...options, addressOf: () => assert.fail() });
    const request = { method: 'GET', path: '/api/v1/nodes', headers: {}, body: null } as const;
    await new Promise<void>((resolve) => {
      transport.send(request, new InputSink('', ({ kind }) => kind === 'end' && resolve()));
    });
    assert.deepEqual(asked, [request]);
  });
});

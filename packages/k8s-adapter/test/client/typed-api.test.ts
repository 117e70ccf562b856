import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  ApiException,
  CoreV1Api,
  Observable,
  type ObservableMiddleware,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { ApiServer, createCertificate, startHttps } from '@taintmgr/api-server';
import { RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { typedApi } from '../../src/client/typed-api.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { deferred } from '../world/heard.ts';
import { certificates, startHttp2Server } from '../world/http-server.ts';

async function coreOf(t: TestContext, server: string, tls: object): Promise<CoreV1Api> {
  const authorize = async () => ({ headers: {}, tls, agent: null });
  const transport = new HttpTransport({ server, authorize, rejected: () => {} }, 'taintmgr/test');
  t.after(() => transport.close());
  return typedApi(CoreV1Api, transport);
}

async function coreOfCluster(t: TestContext): Promise<CoreV1Api> {
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1) });
  const certificate = createCertificate(Date.now());
  const server = await startHttps({ exchange: api.exchange, certificate });
  t.after(() => server.close());
  return coreOf(t, server.url, { ca: certificate.ca });
}

describe('the typed API on our transport', () => {
  it('creates, patches, lists and deletes', async (t) => {
    const core = await coreOfCluster(t);
    const metadata = { name: 'n1', annotations: { a: 'ü' } };
    await core.createNode({ body: { metadata } });
    const patched = await core.patchNode(
      { name: 'n1', body: { metadata: { labels: { b: 'c' } } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    assert.deepEqual(patched.metadata?.labels, { b: 'c' });
    assert.deepEqual(patched.metadata?.annotations, { a: 'ü' });
    assert.ok(patched.metadata?.creationTimestamp instanceof Date);
    const { items } = await core.listNode({ labelSelector: 'b=c', limit: 5 });
    assert.deepEqual(
      items.map(({ metadata }) => metadata?.name),
      ['n1'],
    );
    await core.deleteNode({ name: 'n1', body: { gracePeriodSeconds: 0 } });
  });

  it('says what the server refuses as client-node does', async (t) => {
    const core = await coreOfCluster(t);
    const refused = core.readNode({ name: 'nobody' });
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof ApiException);
      assert.equal(error.code, 404);
      assert.equal(JSON.parse(error.body).reason, 'NotFound');
      return true;
    });
  });

  it('says what is wrong where no answer comes', async (t) => {
    const core = await coreOf(t, 'https://127.0.0.1:1', {});
    await assert.rejects(core.listNode(), { message: 'connect ECONNREFUSED 127.0.0.1:1' });
  });

  it('uses one connection for many calls', async (t) => {
    const server = await startHttp2Server(t, (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"items":[]}');
    });
    const core = await coreOf(t, server.url, { ca: certificates.ca, servername: 'api.test' });
    await Promise.all(Array.from({ length: 50 }, () => core.listNode()));
    assert.equal(server.connections(), 1);
  });

  it('hangs up a call that is not wanted any more', async (t) => {
    const asked = deferred();
    const closed = deferred();
    const server = await startHttp2Server(t, (request) => {
      request.once('close', closed.resolve);
      asked.resolve();
    });
    const core = await coreOf(t, server.url, { ca: certificates.ca, servername: 'api.test' });
    const abort = new AbortController();
    const call = core.listNode({}, { middleware: [withSignal(abort.signal)] });
    await asked.promise;
    abort.abort(new Error('enough'));
    await assert.rejects(call, { message: 'enough' });
    await closed.promise;
  });
});

function withSignal(signal: AbortSignal): ObservableMiddleware {
  return {
    pre: (context) => {
      context.setSignal(signal);
      return new Observable(Promise.resolve(context));
    },
    post: (context) => new Observable(Promise.resolve(context)),
  };
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { node, pod, toleration } from '@taintmgr/sim-cluster';
import { type EmbeddedCluster, startEmbedded } from '../src/embedded.ts';
import { nodes, pods } from './world/api-fixture.ts';

const token = 'T';

/** Asks over HTTPS as the administrator. */
function ask({ url, ca }: EmbeddedCluster, method: string, path: string): ClientRequest {
  const type = 'application/merge-patch+json';
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  return request(`${url}${path}`, { ca, method, headers, agent: false });
}

async function started(taintManager: boolean): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({ token, taintManager, without: ['scheduler'] });
  const { api } = embedded.cluster;
  api.create('nodes', node('n1'));
  const tolerations = [{ ...toleration('k:NoExecute', 1) }];
  api.create('pods', pod('default', 'for-a-second', { spec: { nodeName: 'n1', tolerations } }));
  api.create('pods', pod('default', 'at-once', { spec: { nodeName: 'n1' } }));
  const forEver = [{ ...toleration('k:NoExecute') }];
  api.create(
    'pods',
    pod('default', 'for-ever', { spec: { nodeName: 'n1', tolerations: forEver } }),
  );
  return embedded;
}

/** Gives the node a taint; the HTTP status. */
async function taintNode(embedded: EmbeddedCluster): Promise<number | undefined> {
  const taints = [{ key: 'k', effect: 'NoExecute' }];
  const body = JSON.stringify({ spec: { taints } });
  const [response] = await once(ask(embedded, 'PATCH', `${nodes}/n1`).end(body), 'response');
  response.resume();
  return response.statusCode;
}

it('with a taint manager, an embedded cluster evicts pods when their tolerations end', async (t) => {
  const embedded = await started(true);
  t.after(() => embedded.stop());
  const watch = ask(embedded, 'GET', `${pods}?watch=true`);
  t.after(() => watch.destroy());
  const [response] = await once(watch.end(), 'response');
  // The watch is torn off at the end.
  const lines = createInterface({ input: response }).on('error', () => {});
  const since = performance.now();
  assert.equal(await taintNode(embedded), 200);
  const evicted = new Map<string, number>();
  for await (const line of lines) {
    const { metadata, status } = JSON.parse(line).object;
    if (metadata.deletionTimestamp === undefined || evicted.has(metadata.name)) continue;
    assert.equal(status.conditions.at(-1).reason, 'DeletionByTaintManager');
    evicted.set(metadata.name, performance.now() - since);
    if (evicted.size === 2) break;
  }
  assert.deepEqual([...evicted.keys()], ['at-once', 'for-a-second']);
  // A timer of Node may fire a little early.
  assert.ok((evicted.get('for-a-second') ?? 0) > 980);
  const stays = embedded.cluster.api.get('pods', 'default', 'for-ever');
  assert.equal(stays?.metadata.deletionTimestamp, undefined);
  assert.deepEqual(embedded.cluster.api.access.denials, []);
});

it('without one, an embedded cluster leaves evictions to others', async (t) => {
  const embedded = await started(false);
  t.after(() => embedded.stop());
  assert.equal(await taintNode(embedded), 200);
  const { api } = embedded.cluster;
  const path = `${pods}/at-once`;
  const [response] = await once(ask(embedded, 'GET', path).end(), 'response');
  response.resume();
  assert.equal(response.statusCode, 200);
  assert.equal(api.get('pods', 'default', 'at-once')?.metadata.deletionTimestamp, undefined);
});

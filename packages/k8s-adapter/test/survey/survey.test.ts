// Who else waits for a limit is known as well as the pods that are asked about: since when taints count
// decides who goes first, also on nodes whose taints were just written.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import {
  type KubeObject,
  node,
  seededRandom,
  taint,
  type User,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { ApiClient } from '../../src/client/client.ts';
import { exchangeSink, type Transport } from '../../src/index.ts';
import { customResourceDefinitions } from '../../src/kinds/crd.ts';
import { ClusterReader } from '../../src/survey/reader.ts';
import { surveyForecast } from '../../src/survey/survey.ts';
import { leaveTaints } from '../world/shown-manager.ts';

const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
const start = Date.UTC(2026, 0, 2, 3, 4, 5, 300);
const limiting: KubeObject = {
  ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy', metadata: { name: 'paced' } },
  spec: { match: {}, limits: [{ per: 'Total', podsPerSecond: 1 }] },
};

it('since when taints count of nodes that nobody asked about', async () => {
  const clock = new VirtualClock(start);
  const api = new ApiServer({
    clock,
    random: seededRandom(1),
    tokens: new Map([['admin', admin]]),
  });
  for (const definition of customResourceDefinitions()) {
    api.create('customresourcedefinitions', structuredClone(definition) as object as KubeObject);
  }
  leaveTaints(api);
  clock.advanceTo(start + 1_000);
  api.create('evictionpolicies.taintmgr.dev', limiting);
  const tainted = (name: string, ...texts: readonly string[]): void => {
    const known = api.get('nodes', '', name) ?? assert.fail();
    const taints = texts.map(taint);
    api.as('kubectl-taint').update('nodes', { ...known, spec: { ...known.spec, taints } });
  };
  for (const name of ['n1', 'n2']) api.as('kubelet').create('nodes', node(name));
  tainted('n1', 'a:NoExecute');
  tainted('n2', 'a:NoExecute');
  clock.advanceTo(start + 61_000);
  tainted('n2', 'a:NoExecute', 'b:NoExecute');
  clock.advanceTo(start + 62_000);
  const transport: Transport = {
    send: (request, sink) => {
      const headers = { ...request.headers, authorization: 'Bearer admin' };
      return api.exchange({ ...request, headers }, exchangeSink(sink));
    },
  };
  const client = new ApiClient({ transport, server: 'https://sim' });
  const reader = new ClusterReader(client, undefined, undefined, () => clock.now());
  const asked = [await reader.node('n1')];
  const { crowd } = await surveyForecast(reader, asked, asked);
  const other = crowd?.nodes.find((facts) => facts.node.name === 'n2') ?? assert.fail();
  const wholeSecond = Math.ceil((start + 1_000) / 1000) * 1000;
  assert.deepEqual(other.node.taintStarts, { 'a:NoExecute': wholeSecond });
});

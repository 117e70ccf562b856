import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:https';
import { it } from 'node:test';
import { ApiError } from '@taintmgr/sim-cluster';
import { serviceAccountUser } from '../src/auth/authorizer.ts';
import { startEmbedded } from '../src/embedded.ts';
import { nodes } from './world/api-fixture.ts';

it('an embedded cluster lets in those it is told of, with the rights its RBAC objects give', async (t) => {
  const users = new Map([['T', serviceAccountUser('kube-system', 'agent')]]);
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const snapshot = [
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: 'agent' },
      rules: [{ verbs: ['list', 'watch'], apiGroups: [''], resources: ['nodes'] }],
    },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'agent' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'agent' },
      subjects: [{ kind: 'ServiceAccount', name: 'agent', namespace: 'kube-system' }],
    },
  ];
  const embedded = await startEmbedded({ users, snapshot, serviceMs: () => 1 });
  t.after(() => embedded.stop());
  const ask = async (path: string): Promise<number | undefined> => {
    const headers = { authorization: 'Bearer T' };
    const sent = request(`${embedded.url}${path}`, { ca: embedded.ca, headers, agent: false });
    const [response] = await once(sent.end(), 'response');
    response.resume();
    return response.statusCode;
  };
  assert.deepEqual([await ask(nodes), await ask('/api/v1/pods')], [200, 403]);
  const { access } = embedded.cluster.api;
  assert.deepEqual(
    access.denials.map(({ verb, resource }) => `${verb} ${resource}`),
    ['list pods'],
  );
  const unused = access.unusedRights('system:serviceaccount:kube-system:agent');
  assert.deepEqual(
    unused.map(({ verb, resource }) => `${verb} ${resource}`),
    ['watch nodes'],
  );
  assert.ok(existsSync(embedded.kubeconfig));
});

it('an embedded cluster knows where its own API server is', async (t) => {
  const embedded = await startEmbedded();
  t.after(() => embedded.stop());
  const { api } = embedded.cluster;
  const { hostname, port } = new URL(embedded.url);
  const service = api.get('services', 'default', 'kubernetes');
  assert.deepEqual(service?.spec.ports, [
    { name: 'https', protocol: 'TCP', port: 443, targetPort: Number(port) },
  ]);
  assert.equal(service?.spec.clusterIP, '10.96.0.1');
  const [slice] = api.list('endpointslices', 'default');
  assert.deepEqual(slice?.endpoints, [{ addresses: [hostname], conditions: { ready: true } }]);
  const headers = { authorization: `Bearer T` };
  const users = new Map([['T', { name: 'a', groups: ['system:masters'], rules: [] }]]);
  const other = await startEmbedded({ users });
  t.after(() => other.stop());
  const path = '/api/v1/namespaces/default/endpoints/kubernetes';
  const sent = request(`${other.url}${path}`, { ca: other.ca, headers, agent: false });
  const [response] = await once(sent.end(), 'response');
  response.resume();
  assert.match(response.headers.warning ?? '', /^299 - "v1 Endpoints is deprecated in v1.33\+/);
});

const policies = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'policies.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'policies', kind: 'Policy' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
};

it('an embedded cluster serves definitions from its start', async (t) => {
  const embedded = await startEmbedded({ definitions: [policies] });
  t.after(() => embedded.stop());
  assert.deepEqual(embedded.cluster.api.list('policies.example.com'), []);
});

it('an embedded cluster whose definition is refused leaves nothing open', async () => {
  // Below the ports that are handed out to whoever asks for any.
  const port = 10_000 + (process.pid % 20_000);
  const wrong = { ...policies, metadata: { name: 'policies' } };
  await assert.rejects(startEmbedded({ port, definitions: [wrong] }), (error) => {
    assert.ok(error instanceof ApiError);
    return /metadata\.name/.test(error.message);
  });
  const second = await startEmbedded({ port });
  await second.stop();
});

it('an embedded cluster goes on after a mistake of its own, and tells it', async (t) => {
  const told: string[] = [];
  const embedded = await startEmbedded({
    token: 'T',
    serviceMs: ({ path }) => (path.endsWith('odd') ? assert.fail('a mistake') : 0),
    reportBug: (error, during) => told.push(`${during}: ${error}`),
  });
  t.after(() => embedded.stop());
  const ask = async (path: string): Promise<number | undefined> => {
    const headers = { authorization: 'Bearer T' };
    const sent = request(`${embedded.url}${path}`, { ca: embedded.ca, headers, agent: false });
    const [response] = await once(sent.end(), 'response');
    response.resume();
    return response.statusCode;
  };
  assert.deepEqual([await ask(`${nodes}/odd`), await ask(nodes)], [500, 200]);
  assert.match(told.join(), /^GET \/api\/v1\/nodes\/odd: AssertionError.*a mistake$/);
});

it('says who writes taints of nodes that came with a snapshot, whose owners kubectl leaves out', async (t) => {
  const taint = { key: 'old', effect: 'NoExecute' };
  const plain = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'plain' },
    spec: { taints: [taint] },
  };
  const owners = [
    { manager: 'kubelet', operation: 'Update', apiVersion: 'v1', fieldsV1: { 'f:spec': {} } },
  ];
  const owned = { ...plain, metadata: { name: 'owned', managedFields: owners } };
  const embedded = await startEmbedded({ snapshot: [plain, owned], without: ['conditionTaints'] });
  t.after(() => embedded.stop());
  const { api } = embedded.cluster;
  const managers = (name: string): unknown => {
    const { managedFields = [] } = api.get('nodes', '', name)?.metadata ?? {};
    return managedFields.map(({ manager, fieldsV1 }) => [
      manager,
      JSON.stringify(fieldsV1).includes('f:taints'),
    ]);
  };
  assert.deepEqual(
    managers('plain'),
    [['before-snapshot', false]],
    'nobody knows who wrote the old one',
  );
  assert.deepEqual(managers('owned'), [['kubelet', false]]);
  const node = api.get('nodes', '', 'plain');
  assert.ok(node);
  const taints = [taint, { key: 'new', effect: 'NoExecute' }];
  api.as('kubectl-taint').update('nodes', { ...node, spec: { ...node.spec, taints } });
  assert.deepEqual(managers('plain'), [
    ['before-snapshot', false],
    ['kubectl-taint', true],
  ]);
});

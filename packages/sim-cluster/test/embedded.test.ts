import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:https';
import { it } from 'node:test';
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

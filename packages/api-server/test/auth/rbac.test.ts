import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Right } from '../../src/auth/rights.ts';
import { fixture, nodes, podNamed, pods, summary } from '../world/api-fixture.ts';
import {
  agentAccount,
  apiVersion,
  type Bench,
  bench,
  binding,
  group,
  role,
  rule,
} from '../world/rbac.ts';

const statuses = (
  b: Bench,
  ...requests: readonly (readonly [string, string])[]
): readonly number[] => requests.map(([method, path]) => b.ask(method, path).status);

describe('RBAC objects', () => {
  it('grant in the whole cluster what a cluster role binding says', () => {
    const b = bench(
      role('ClusterRole', 'reader', [rule('get list', 'pods'), rule('delete', 'nodes')]),
      binding('ClusterRoleBinding', 'agent', 'ClusterRole reader'),
    );
    assert.deepEqual(
      statuses(b, ['GET', pods], ['GET', '/api/v1/pods'], ['DELETE', `${nodes}/n`], ['GET', nodes]),
      [200, 200, 404, 403],
    );
  });

  const people: readonly (readonly [role: string, statuses: readonly number[]])[] = [
    ['view', [200, 403, 403, 403, 403, 403]],
    ['edit', [200, 200, 404, 404, 403, 403]],
    ['admin', [200, 200, 404, 404, 200, 403]],
  ];
  for (const [name, expected] of people) {
    it(`grant what ${name} may in every cluster, in the namespace of the binding`, () => {
      const b = bench(binding('RoleBinding', 'agent', `ClusterRole ${name}`));
      const got = statuses(
        b,
        ['GET', pods],
        ['GET', '/api/v1/namespaces/default/secrets'],
        ['DELETE', `${pods}/none`],
        ['DELETE', '/apis/apps/v1/namespaces/default/deployments/none'],
        ['GET', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'],
        ['GET', nodes],
      );
      assert.deepEqual(got, expected);
    });
  }

  it('add to the roles for people by their labels', () => {
    const added = role('ClusterRole', 'added', [rule('list', 'nodes')]);
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    for (const name of ['view', 'edit', 'admin']) {
      const b = bench(
        { ...added, metadata: { ...added.metadata, labels } },
        binding('ClusterRoleBinding', 'agent', `ClusterRole ${name}`),
      );
      assert.deepEqual(statuses(b, ['GET', nodes], ['DELETE', `${nodes}/n`]), [200, 403]);
    }
  });

  it('ask for create as well where an apply makes something new', () => {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const applied = (may: string, name: string): number => {
      const b = bench(
        role('ClusterRole', 'writer', [rule(may, 'nodes')]),
        binding('ClusterRoleBinding', 'agent', 'ClusterRole writer'),
      );
      b.api.create('nodes', { metadata: { name: 'there' } });
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
      return b.ask('PATCH', `${nodes}/${name}`, { query: { fieldManager: 'm' }, headers, body })
        .status;
    };
    assert.deepEqual(
      [applied('patch', 'there'), applied('patch', 'new'), applied('patch create', 'new')],
      [200, 403, 201],
    );
  });

  it('grant in one namespace what a role binding says, of a role or a cluster role', () => {
    const b = bench(
      role('Role', 'reader', [rule('list', 'pods')]),
      role('ClusterRole', 'writer', [
        rule('create', 'pods'),
        { verbs: ['get'], nonResourceURLs: ['/metrics'] },
      ]),
      binding('RoleBinding', 'a', 'Role reader'),
      binding('RoleBinding', 'b', 'ClusterRole writer'),
    );
    const create = b.ask('POST', pods, { body: podNamed('p') });
    const elsewhere = b.ask('POST', pods.replace('default', 'kube-system'), {
      body: podNamed('p'),
    });
    assert.deepEqual([create.status, elsewhere.status], [201, 403]);
    assert.deepEqual(
      statuses(b, ['GET', pods], ['GET', '/api/v1/pods'], ['GET', '/metrics']),
      [200, 403, 403],
    );
  });

  it('grant to users and groups by name', () => {
    const b = bench(
      role('ClusterRole', 'reader', [rule('list', 'pods')]),
      role('ClusterRole', 'watcher', [rule('list', 'nodes')]),
      binding('ClusterRoleBinding', 'a', 'ClusterRole reader', [{ kind: 'User', name: 'alice' }]),
      binding('ClusterRoleBinding', 'b', 'ClusterRole watcher', [{ kind: 'Group', name: 'staff' }]),
    );
    const alice = (path: string) => b.client.get(path, { token: 'alice' }).status;
    assert.deepEqual([alice(pods), alice(nodes)], [200, 200]);
    assert.deepEqual(statuses(b, ['GET', pods], ['GET', nodes]), [403, 403]);
  });

  it('mean an account of the namespace of the binding where they name none', () => {
    const [{ namespace: _ops, ...agent } = assert.fail()] = agentAccount;
    const grants = (kind: 'RoleBinding' | 'ClusterRoleBinding', namespace: string): number => {
      const made = binding(kind, 'a', 'ClusterRole reader', [agent]);
      const home = kind === 'RoleBinding' ? { namespace } : {};
      const b = bench(role('ClusterRole', 'reader', [rule('list', 'pods')]), {
        ...made,
        metadata: { name: 'a', ...home },
      });
      return b.ask('GET', '/api/v1/namespaces/ops/pods').status;
    };
    assert.deepEqual(
      [
        grants('RoleBinding', 'ops'),
        grants('RoleBinding', 'other'),
        grants('ClusterRoleBinding', ''),
      ],
      [200, 403, 403],
    );
  });

  it('limit to names where they say so, which an empty list does not', () => {
    const b = bench(
      role('Role', 'one', [
        rule('get', 'configmaps', { resourceNames: ['one'] }),
        rule('get', 'pods', { resourceNames: [] }),
      ]),
      binding('RoleBinding', 'one', 'Role one'),
    );
    const maps = pods.replace('pods', 'configmaps');
    assert.deepEqual(
      statuses(b, ['GET', `${maps}/one`], ['GET', `${maps}/two`], ['GET', `${pods}/x`]),
      [404, 403, 404],
    );
  });

  it('take effect and lose it at once', () => {
    const b = bench(role('ClusterRole', 'reader', [rule('list', 'pods')]));
    const list = () => b.ask('GET', pods).status;
    assert.equal(list(), 403);
    const bindings = `/apis/${apiVersion}/clusterrolebindings`;
    const made = b.client.post(bindings, binding('ClusterRoleBinding', 'a', 'ClusterRole reader'), {
      token: 'admin',
    });
    assert.deepEqual([made.status, list()], [201, 200]);
    b.api.update('clusterroles', role('ClusterRole', 'reader', [rule('get', 'pods')]));
    assert.equal(list(), 403);
    b.api.update('clusterroles', role('ClusterRole', 'reader', [rule('*', '*')]));
    assert.equal(list(), 200);
    b.api.delete('clusterrolebindings', '', 'a');
    assert.equal(list(), 403);
  });

  it('are put together by labels in an aggregated cluster role', () => {
    const labels = { part: 'agent' };
    const whole = role('ClusterRole', 'whole', []);
    const b = bench(
      { ...whole, aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] } },
      role('ClusterRole', 'pods', [rule('list', 'pods')], { labels }),
      role('ClusterRole', 'nodes', [rule('list', 'nodes')]),
      binding('ClusterRoleBinding', 'a', 'ClusterRole whole'),
    );
    assert.deepEqual(statuses(b, ['GET', pods], ['GET', nodes]), [200, 403]);
  });

  it('may name the cluster roles that every cluster has, and no others', () => {
    const b = bench(binding('ClusterRoleBinding', 'a', 'ClusterRole cluster-admin'));
    assert.equal(b.ask('GET', nodes).status, 200);
    const none = bench(
      binding('ClusterRoleBinding', 'a', 'ClusterRole none'),
      binding('RoleBinding', 'b', 'Role nothing'),
    );
    assert.equal(
      none.ask('GET', nodes).body.message,
      'nodes is forbidden: User "system:serviceaccount:ops:agent" cannot list resource "nodes" in API group "" at the cluster scope: RBAC: [clusterrole.rbac.authorization.k8s.io "none" not found, role.rbac.authorization.k8s.io "nothing" not found]',
    );
  });

  const refusals: readonly (readonly [string, object, string])[] = [
    ['roles', { rules: [rule('', 'pods', { verbs: [] })] }, 'rules[0].verbs'],
    ['roles', { rules: [rule('get', 'pods', { apiGroups: [] })] }, 'rules[0].apiGroups'],
    ['roles', { rules: [rule('get', '', { resources: [] })] }, 'rules[0].resources'],
    ['roles', { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }, 'rules[0].nonResourceURLs'],
    ['roles', { metadata: { name: 'a%b' } }, 'metadata.name'],
    ['rolebindings', { roleRef: { kind: 'Node', name: 'x' } }, 'roleRef.kind'],
    ['rolebindings', { roleRef: { kind: 'Role', name: '' } }, 'roleRef.name'],
    ['rolebindings', { subjects: [{ kind: 'Pod', name: 'x' }] }, 'subjects[0].kind'],
    [
      'rolebindings',
      { subjects: [{ kind: 'ServiceAccount', name: 'x' }] },
      'subjects[0].namespace',
    ],
  ];
  for (const [plural, fields, field] of refusals) {
    it(`are refused for ${field}`, () => {
      const { client } = fixture();
      const roleRef = { kind: 'Role', name: 'x' };
      const whole = { metadata: { name: 'system:x' }, ...(plural === 'roles' ? {} : { roleRef }) };
      const path = `/apis/${apiVersion}/namespaces/default/${plural}`;
      const { status, body } = client.post(path, { ...whole, ...fields });
      const causes: readonly { readonly field: string }[] = body.details?.causes ?? [];
      assert.deepEqual([status, causes.map((cause) => cause.field)], [422, [field]]);
    });
  }

  it('get the groups that are left out, and keep the role they were made for', () => {
    const { client } = fixture();
    const path = `/apis/${apiVersion}/namespaces/default/rolebindings`;
    const subjects = [{ kind: 'User', name: 'u' }, ...agentAccount];
    const roleRef = { kind: 'Role', name: 'x' };
    const { body } = client.post(path, { metadata: { name: 'b' }, subjects, roleRef });
    assert.equal(body.roleRef.apiGroup, group);
    assert.deepEqual(
      body.subjects.map((subject: { apiGroup?: string }) => subject.apiGroup),
      [group, undefined],
    );
    const other = { ...body, roleRef: { ...body.roleRef, name: 'y' } };
    assert.equal(client.put(`${path}/b`, other).status, 422);
  });

  it('are listed and watched like anything else', () => {
    const { client, api } = bench(role('Role', 'reader', [rule('list', 'pods')]));
    const path = `/apis/${apiVersion}/roles`;
    const watching = client.watch(path, { token: 'admin' });
    api.create('roles', role('Role', 'second', [rule('list', 'pods')]));
    assert.deepEqual(summary(watching.events).slice(-1), ['ADDED second']);
    const names = client.get(path, { token: 'admin' }).body.items;
    assert.deepEqual(
      names.map(({ metadata }: KubeObject) => metadata.name),
      ['reader', 'second'],
    );
  });
});

describe('the account of rights', () => {
  const text = ({ verb, resource, namespace, name, role: from }: Right): string =>
    `${from}: ${verb} ${resource}${name === null ? '' : ` ${name}`}${namespace === null ? '' : ` in ${namespace}`}`;

  it('names those that nobody used', () => {
    const b = bench(
      role('ClusterRole', 'agent', [
        rule('get list watch', 'nodes pods'),
        rule('create', 'pods/eviction'),
        { verbs: ['get'], nonResourceURLs: ['/metrics', '/debug/*'] },
      ]),
      role('Role', 'lease', [
        {
          verbs: ['get', 'update'],
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          resourceNames: ['a', 'b'],
        },
      ]),
      binding('ClusterRoleBinding', 'agent', 'ClusterRole agent'),
      binding('RoleBinding', 'lease', 'Role lease'),
    );
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    for (const path of [pods, `${pods}?watch=true`, `${nodes}/n`, '/debug/x', `${leases}/a`]) {
      b.ask('GET', path);
    }
    assert.deepEqual(b.api.access.denials, []);
    assert.deepEqual(b.api.access.unusedRights('system:serviceaccount:ops:agent').map(text), [
      'ClusterRole agent: get pods',
      'ClusterRole agent: list nodes',
      'ClusterRole agent: watch nodes',
      'ClusterRole agent: create pods/eviction',
      'ClusterRole agent: get /metrics',
      'Role default/lease: get leases.coordination.k8s.io b in default',
      'Role default/lease: update leases.coordination.k8s.io a in default',
      'Role default/lease: update leases.coordination.k8s.io b in default',
    ]);
  });

  it('counts a right that somebody has twice once', () => {
    const b = bench(
      role('ClusterRole', 'a', [rule('list', 'pods')]),
      role('ClusterRole', 'b', [rule('list', 'pods')]),
      binding('ClusterRoleBinding', 'a', 'ClusterRole a'),
      binding('ClusterRoleBinding', 'b', 'ClusterRole b'),
    );
    b.ask('GET', pods);
    const unused = b.api.access.unusedRights('system:serviceaccount:ops:agent');
    assert.deepEqual(unused.map(text), ['ClusterRole b: list pods']);
  });

  it('names what was refused, and how often', () => {
    const b = bench();
    b.ask('GET', `${pods}/p`);
    b.ask('GET', `${pods}/p`);
    b.ask('GET', '/metrics');
    b.ask('POST', `${pods}/p/eviction`);
    b.client.get(nodes, { token: 'admin' });
    const user = 'system:serviceaccount:ops:agent';
    const namespace = 'default';
    assert.deepEqual(b.api.access.denials, [
      { user, verb: 'get', resource: 'pods', namespace, name: 'p', count: 2 },
      { user, verb: 'get', resource: '/metrics', namespace: '', name: '', count: 1 },
      { user, verb: 'create', resource: 'pods/eviction', namespace, name: 'p', count: 1 },
    ]);
  });

  it('leaves out what is only asked about', () => {
    const b = bench();
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const spec = { resourceAttributes: { verb: 'get', resource: 'nodes' } };
    assert.equal(b.ask('POST', path, { body: { spec } }).body.status.allowed, false);
    assert.deepEqual(b.api.access.denials, []);
  });
});

describe('the time a server takes', () => {
  it('is set by what it is asked', () => {
    const { client, api, pass } = fixture({
      serviceMs: ({ verb, resource }) => (verb === 'create' && resource?.plural === 'pods' ? 5 : 0),
    });
    assert.equal(client.get(pods).status, 200);
    const response = client.send('POST', pods, { body: podNamed('p') });
    pass(4);
    assert.deepEqual([response().ended, api.list('pods').length], [false, 0]);
    pass(1);
    assert.deepEqual([response().status, api.list('pods').length], [201, 1]);
  });
});

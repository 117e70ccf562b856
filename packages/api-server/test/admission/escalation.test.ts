import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import type { RequestOptions } from '../../../sim-cluster/test/world/client.ts';
import { agentAccount, bench, binding, group, role, rule } from '../world/rbac.ts';

const base = `/apis/${group}/v1`;
const roles = `${base}/namespaces/default/roles`;
const clusterRoles = `${base}/clusterroles`;
const roleBindings = `${base}/namespaces/default/rolebindings`;
const clusterRoleBindings = `${base}/clusterrolebindings`;
const all = 'roles clusterroles rolebindings clusterrolebindings';
const writer = rule('create update patch get', all, { apiGroups: [group] });
const paths = { verbs: ['get'], nonResourceURLs: ['/metrics', '/logs/*'] };
const who =
  'user "system:serviceaccount:ops:agent" (groups=["system:serviceaccounts" "system:serviceaccounts:ops" "system:authenticated"])';

/** The agent may write RBAC objects everywhere, and holds these rules. */
const holder = (rules: readonly object[], ...more: readonly object[]) =>
  bench(
    role('ClusterRole', 'held', [writer, ...rules]),
    binding('ClusterRoleBinding', 'held', 'ClusterRole held'),
    ...more,
  );

const missing = (object: string, ...rules: readonly string[]): string =>
  `${object} is forbidden: ${who} is attempting to grant RBAC permissions not currently held:\n${rules.join('\n')}`;

describe('who writes a role', () => {
  const held = [
    rule('get list', 'pods configmaps'),
    rule('delete', 'nodes', { resourceNames: ['a', 'b'] }),
    rule('get', '*/status', { apiGroups: ['apps'] }),
    paths,
  ];
  const cases: readonly (readonly [name: string, rules: object[], refused: readonly string[]])[] = [
    ['gives what he holds', [rule('get', 'pods')], []],
    ['gives it in other pieces', [rule('list get', 'configmaps pods')], []],
    ['gives some of the names', [rule('delete', 'nodes', { resourceNames: ['b'] })], []],
    [
      'gives a subresource of all',
      [rule('get', 'deployments/status', { apiGroups: ['apps'] })],
      [],
    ],
    ['gives nothing', [], []],
    [
      'gives all verbs',
      [rule('*', 'secrets')],
      ['{APIGroups:[""], Resources:["secrets"], Verbs:["*"]}'],
    ],
    [
      'gives more verbs',
      [rule('get delete watch', 'pods'), rule('delete create', 'pods')],
      ['{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch" "create"]}'],
    ],
    [
      'gives it of any name',
      [rule('delete', 'nodes')],
      ['{APIGroups:[""], Resources:["nodes"], Verbs:["delete"]}'],
    ],
    [
      'gives other names',
      [rule('delete', 'nodes', { resourceNames: ['b', 'c'] })],
      ['{APIGroups:[""], Resources:["nodes"], ResourceNames:["c"], Verbs:["delete"]}'],
    ],
    [
      'gives other groups and resources',
      [rule('get', 'pods *', { apiGroups: ['', '*'] })],
      [
        '{APIGroups:[""], Resources:["*"], Verbs:["get"]}',
        '{APIGroups:["*"], Resources:["*"], Verbs:["get"]}',
        '{APIGroups:["*"], Resources:["pods"], Verbs:["get"]}',
      ],
    ],
  ];
  for (const [name, rules, refused] of cases) {
    it(`and ${name} is ${refused.length > 0 ? 'refused' : 'let'}`, () => {
      const { status, body } = holder(held).ask('POST', roles, { body: role('Role', 'x', rules) });
      const message = missing(`roles.${group} "x"`, ...refused);
      const expected = refused.length > 0 ? [403, message] : [201, undefined];
      assert.deepEqual([status, body.message], expected);
    });
  }

  it('gives away paths that he holds, in cluster roles', () => {
    const b = holder(held);
    const give = (...nonResourceURLs: string[]) =>
      b.ask('POST', clusterRoles, {
        body: role('ClusterRole', 'x', [{ verbs: ['get', 'put'], nonResourceURLs }]),
      }).body.message;
    assert.equal(
      give('/logs/a', '/log'),
      missing(
        `clusterroles.${group} "x"`,
        ...[
          '{NonResourceURLs:["/log"], Verbs:["get"]}',
          '{NonResourceURLs:["/log"], Verbs:["put"]}',
        ],
        '{NonResourceURLs:["/logs/a"], Verbs:["put"]}',
      ),
    );
  });

  it('gives away in a namespace what he holds there, and nowhere else', () => {
    const b = bench(
      role('ClusterRole', 'writer', [writer]),
      role('Role', 'held', [rule('get', 'pods')]),
      binding('ClusterRoleBinding', 'writer', 'ClusterRole writer'),
      binding('RoleBinding', 'held', 'Role held'),
    );
    const rules = [rule('get', 'pods')];
    const { metadata: _default, ...rest } = role('Role', 'x', rules);
    const elsewhere = { ...rest, metadata: { name: 'x' } };
    const statuses = [
      b.ask('POST', roles, { body: role('Role', 'x', rules) }),
      b.ask('POST', roles.replace('default', 'kube-system'), { body: elsewhere }),
      b.ask('POST', clusterRoles, { body: role('ClusterRole', 'x', rules) }),
    ].map(({ status }) => status);
    assert.deepEqual(statuses, [201, 403, 403]);
  });

  it('may write any with the verb escalate', () => {
    const b = holder([rule('escalate', 'roles', { apiGroups: [group] })]);
    const rules = [rule('*', 'secrets')];
    const statuses = [
      b.ask('POST', roles, { body: role('Role', 'x', rules) }),
      b.ask('POST', clusterRoles, { body: role('ClusterRole', 'x', rules) }),
    ].map(({ status }) => status);
    assert.deepEqual(statuses, [201, 403]);
  });

  it('may change those whose names go with the verb escalate, and make none', () => {
    const may = rule('escalate', 'roles', { apiGroups: [group], resourceNames: ['x'] });
    const b = holder([may], role('Role', 'x', []), role('Role', 'y', []));
    const rules = [rule('*', 'secrets')];
    const statuses = [
      b.ask('PUT', `${roles}/x`, { body: role('Role', 'x', rules) }),
      b.ask('PUT', `${roles}/y`, { body: role('Role', 'y', rules) }),
      holder([may]).ask('POST', roles, { body: role('Role', 'x', rules) }),
    ].map(({ status }) => status);
    assert.deepEqual(statuses, [200, 403, 403]);
  });

  it('may write any as an administrator', () => {
    const body = role('Role', 'x', [rule('*', 'secrets')]);
    assert.equal(bench().ask('POST', roles, { token: 'admin', body }).status, 201);
  });

  it('has to hold everything to let a role gather others', () => {
    const gathering = {
      ...role('ClusterRole', 'x', []),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    };
    const give = (...rules: object[]) =>
      holder(rules).ask('POST', clusterRoles, { body: gathering });
    assert.equal(
      give().body.message,
      `clusterroles.${group} "x" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    );
    const everything = rule('*', '*', { apiGroups: ['*'] });
    assert.equal(give(everything, { verbs: ['*'], nonResourceURLs: ['*'] }).status, 201);
    const { aggregationRule: _rule, ...plain } = gathering;
    const undone = holder([], gathering).ask('PUT', `${clusterRoles}/x`, { body: plain });
    assert.equal(undone.status, 403);
  });

  const strong = role('Role', 'strong', [rule('get', 'secrets')]);
  const updates: readonly (readonly [name: string, patch: object, status: number])[] = [
    ['nothing', {}, 200],
    ['its finalizers', { metadata: { finalizers: ['example.com/f'] } }, 200],
    ['its labels', { metadata: { labels: { a: 'b' } } }, 403],
    ['its rules to more', { rules: [rule('get list', 'secrets')] }, 403],
    ['its rules to what he holds', { rules: [rule('get', 'pods')] }, 200],
  ];
  for (const [name, patch, status] of updates) {
    it(`and changes ${name} of one that gives what he does not hold is answered ${status}`, () => {
      const b = holder(held, strong);
      const options: RequestOptions = {
        headers: { 'content-type': 'application/merge-patch+json' },
        body: patch,
      };
      assert.equal(b.ask('PATCH', `${roles}/strong`, options).status, status);
    });
  }

  it('cannot apply more than he holds', () => {
    const options: RequestOptions = {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      query: { fieldManager: 'm' },
      body: role('Role', 'x', [rule('get', 'secrets')]),
    };
    assert.equal(holder(held).ask('PATCH', `${roles}/x`, options).status, 403);
  });
});

describe('who writes a binding', () => {
  const strong = role('ClusterRole', 'strong', [rule('get', 'secrets'), rule('get', 'pods')]);
  const bind = (name: string) =>
    rule('bind', 'clusterroles', { apiGroups: [group], resourceNames: [name] });
  const give = (
    rules: readonly object[],
    roleRef: string,
    kind: 'RoleBinding' | 'ClusterRoleBinding',
  ) => {
    const path = kind === 'RoleBinding' ? roleBindings : clusterRoleBindings;
    return holder(rules, strong).ask('POST', path, {
      body: binding(kind, 'x', roleRef, agentAccount),
    });
  };
  const cases: readonly (readonly [
    name: string,
    rules: readonly object[],
    roleRef: string,
    status: number,
  ])[] = [
    ['of a role that gives more', [rule('get', 'pods')], 'ClusterRole strong', 403],
    ['of a role that he holds', [rule('get', 'pods secrets')], 'ClusterRole strong', 201],
    ['of a role that he may bind', [bind('strong')], 'ClusterRole strong', 201],
    ['of a role, while he may bind another', [bind('weak')], 'ClusterRole strong', 403],
    ['of the role of administrators', [rule('*', '*')], 'ClusterRole cluster-admin', 403],
    ['of a role that is not there', [], 'ClusterRole none', 404],
  ];
  for (const kind of ['RoleBinding', 'ClusterRoleBinding'] as const) {
    for (const [name, rules, roleRef, status] of cases) {
      it(`a ${kind} ${name}, is answered ${status}`, () => {
        assert.equal(give(rules, roleRef, kind).status, status);
      });
    }
  }

  it('is told what he does not hold', () => {
    const refused = '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}';
    assert.equal(
      give([rule('get', 'pods')], 'ClusterRole strong', 'RoleBinding').body.message,
      missing(`rolebindings.${group} "x"`, refused),
    );
  });
});

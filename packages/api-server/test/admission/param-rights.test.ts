import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Bench, bench, binding, role, rule } from '../world/rbac.ts';

const group = 'admissionregistration.k8s.io';
const policies = `/apis/${group}/v1/validatingadmissionpolicies`;
const bindings = `/apis/${group}/v1/validatingadmissionpolicybindings`;
const leases = { apiGroups: ['coordination.k8s.io'] };
const writes = rule(
  'create patch',
  'validatingadmissionpolicies validatingadmissionpolicybindings',
  {
    apiGroups: [group],
  },
);

/** A service account that may write policies, and read these. */
function allowed(...rules: readonly object[]): Bench {
  return bench(
    role('ClusterRole', 'writer', [writes, ...rules]),
    binding('ClusterRoleBinding', 'agent', 'ClusterRole writer'),
  );
}

const pods = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };

const policy = (name: string, paramKind?: object): string =>
  JSON.stringify({
    metadata: { name },
    spec: {
      ...(paramKind && { paramKind }),
      matchConstraints: { resourceRules: [pods] },
      validations: [{ expression: 'true' }],
    },
  });
const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
const paramRef = { name: 'l', namespace: 'default', parameterNotFoundAction: 'Allow' };
const bound = JSON.stringify({
  metadata: { name: 'b' },
  spec: { policyName: 'p', validationActions: ['Deny'], paramRef },
});

describe('the parameters of a policy', () => {
  it('have to be readable by whoever writes the policy', () => {
    const { ask } = allowed();
    const refused = ask('POST', policies, { body: policy('p', lease) });
    assert.equal(refused.status, 422);
    assert.equal(
      refused.body.message,
      'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user system:serviceaccount:ops:agent must have "get" permission on all objects of the referenced paramKind (kind=Lease, apiVersion=coordination.k8s.io/v1)',
    );
    assert.equal(ask('POST', policies, { body: policy('q') }).status, 201);
  });

  it('are all of them: the right to one by its name is not enough', () => {
    const one = allowed(rule('get', 'leases', { ...leases, resourceNames: ['l'] }));
    assert.equal(one.ask('POST', policies, { body: policy('p', lease) }).status, 422);
    const all = allowed(rule('get', 'leases', leases));
    assert.equal(all.ask('POST', policies, { body: policy('p', lease) }).status, 201);
    assert.equal(all.ask('POST', bindings, { body: bound }).status, 201);
  });

  it('have to be readable by whoever writes the binding', () => {
    const { ask, client } = allowed();
    assert.equal(
      client.request('POST', policies, { token: 'admin', body: policy('p', lease) }).status,
      201,
    );
    const refused = ask('POST', bindings, { body: bound });
    assert.equal(refused.status, 422);
    assert.match(refused.body.message, /spec.paramRef: Forbidden: user .* "get" permission/);
  });
});

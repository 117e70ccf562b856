import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stored, virtualCluster } from '../world/virtual-cluster.ts';

const policies = 'validatingadmissionpolicies';
const rule = (apiGroups: readonly string[], resources: readonly string[]): object => ({
  apiGroups,
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources,
});

/** `KIND what is wrong`, for each kind. */
const lines = (warning: string): readonly string[] =>
  [...warning.matchAll(/Kind=(\w+): ERROR: <input>:[\d:]+ (.*)/g)].map(
    ([, kind, what]) => `${kind} ${what}`,
  );

function statusOf(rules: readonly object[], validations: readonly object[], more: object = {}) {
  const { api, pass } = virtualCluster();
  api.create(policies, {
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: rules }, validations, ...more },
  });
  assert.deepEqual(stored(api, policies, '', 'p').status, {});
  pass(1);
  return { api, pass, status: stored(api, policies, '', 'p').status };
}

it('the status of a policy tells what its expressions name that its kinds do not have', () => {
  const validations = [
    { expression: "object.dta['x'] == 'y'", messageExpression: "'x' + object.nope" },
    { expression: "has(object.data) && object.data['x'] == 5" },
    { expression: "oldObject.data['x'] == object.data['x']" },
  ];
  const { status } = statusOf([rule(['', 'apps'], ['configmaps', 'deployments'])], validations);
  assert.equal(status.observedGeneration, 1);
  const line = " | object.dta['x'] == 'y'\n | ......^\n";
  const [first, ...others] = status.typeChecking.expressionWarnings;
  assert.deepEqual(first, {
    fieldRef: 'spec.validations[0].expression',
    warning: `/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'dta'\n${line}\napps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'dta'\n${line}`,
  });
  const told = others.map(({ fieldRef, warning }: Readonly<Record<string, string>>) => [
    fieldRef,
    ...lines(warning ?? ''),
  ]);
  const noMatch = "found no matching overload for '_==_' applied to '(string, int)'";
  assert.deepEqual(told, [
    [
      'spec.validations[0].messageExpression',
      "ConfigMap undefined field 'nope'",
      "Deployment undefined field 'nope'",
    ],
    ['spec.validations[1].expression', `ConfigMap ${noMatch}`, "Deployment undefined field 'data'"],
    ['spec.validations[2].expression', "Deployment undefined field 'data'"],
  ]);
});

it('nothing is told of a policy that is right, or that names no kind', () => {
  const validations = [
    { expression: 'variables.name != request.name && object.spec.replicas > 1' },
    {
      expression:
        "timestamp(object.metadata.creationTimestamp) > timestamp('2026-01-01T00:00:00Z')",
    },
  ];
  const variables = [{ name: 'name', expression: 'object.metadata.name' }];
  const right = statusOf([rule(['apps'], ['deployments'])], validations, { variables });
  assert.deepEqual(right.status, { observedGeneration: 1, typeChecking: {} });
  const any = [{ expression: 'object.nope == 1' }];
  const { api, pass, status } = statusOf([rule(['*'], ['*']), rule([''], ['pods/status'])], any);
  assert.deepEqual(status, { observedGeneration: 1, typeChecking: {} });
  const policy = stored(api, policies, '', 'p');
  const resourceRules = [rule([''], ['configmaps'])];
  api.update(policies, {
    ...policy,
    spec: { ...policy.spec, matchConstraints: { resourceRules } },
  });
  pass(1);
  const { observedGeneration, typeChecking } = stored(api, policies, '', 'p').status;
  assert.deepEqual([observedGeneration, typeChecking.expressionWarnings.length], [2, 1]);
  const { managedFields } = stored(api, policies, '', 'p').metadata;
  assert.match(JSON.stringify(managedFields), /"validatingadmissionpolicy-status"/);
});

it('an object may be compared with null: that of a DELETE is', () => {
  const expressions = [
    'object == null',
    'null != oldObject',
    'object != null && oldObject == null',
  ];
  const validations = expressions.map((expression) => ({ expression }));
  const { status } = statusOf([rule([''], ['configmaps'])], validations);
  assert.deepEqual(status.typeChecking, {});
});

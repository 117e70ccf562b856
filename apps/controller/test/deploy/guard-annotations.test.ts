import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { evaluate } from '@marcbachmann/cel-js';
import { parseAllDocuments } from 'yaml';

const file = '../../../../deploy/kustomize/components/guard-annotations/admission-policy.yaml';
const [policy, binding] = parseAllDocuments(
  readFileSync(new URL(file, import.meta.url), 'utf8'),
).map((document) => document.toJS());
const { matchConstraints, matchConditions, variables, validations, failurePolicy } = policy.spec;

type Metadata = { readonly annotations?: object; readonly labels?: object };

interface Request {
  readonly by?: string;
  readonly groups?: readonly string[];
  readonly operation?: string;
  readonly resource?: string;
  /** Null: there is none, as in a creation. */
  readonly before?: Metadata | null;
  readonly after: Metadata;
}

const kubelet = 'system:node:n1';
const nodes = ['system:nodes', 'system:authenticated'];
const note = { 'taintmgr.dev/owned-taints': '{"a:NoExecute":"rule"}' };
const other = { 'example.com/note': '1' };

/** What a server that enforces policies says: null, or the message of the first validation that fails. */
function refusal(request: Request): string | null {
  const { by = kubelet, groups = nodes, operation = 'UPDATE', resource = 'nodes' } = request;
  const { before = {}, after } = request;
  const isMatched = matchConstraints.resourceRules.some(
    (rule: { operations: readonly string[]; resources: readonly string[] }) =>
      rule.operations.includes(operation) && rule.resources.includes(resource),
  );
  if (!isMatched) return null;
  const context = {
    request: { userInfo: { username: by, groups } },
    object: { metadata: after },
    oldObject: before === null ? null : { metadata: before },
  };
  const holds = (expression: string, more: object = {}): unknown =>
    evaluate(expression, { ...context, ...more });
  if (!matchConditions.every((one: { expression: string }) => holds(one.expression))) return null;
  const values = Object.fromEntries(
    variables.map((one: { name: string; expression: string }) => [one.name, holds(one.expression)]),
  );
  const failed = validations.find(
    (one: { expression: string }) => holds(one.expression, { variables: values }) !== true,
  );
  return failed?.message ?? null;
}

describe('the policy that guards taintmgr.dev on nodes and pods', () => {
  const refused: readonly [string, Request][] = [
    ['sets an annotation', { after: { annotations: note } }],
    [
      'sets one beside others',
      { before: { annotations: other }, after: { annotations: { ...other, ...note } } },
    ],
    [
      'changes one',
      {
        before: { annotations: note },
        after: { annotations: { 'taintmgr.dev/owned-taints': '{}' } },
      },
    ],
    ['removes one', { before: { annotations: note }, after: { annotations: {} } }],
    ['removes all annotations', { before: { annotations: note }, after: {} }],
    ['sets one with the status', { resource: 'nodes/status', after: { annotations: note } }],
    [
      'registers a node with one',
      { operation: 'CREATE', before: null, after: { annotations: note } },
    ],
    [
      'sets one on a pod',
      { resource: 'pods', after: { annotations: { 'taintmgr.dev/evict': 'false' } } },
    ],
    [
      'sets one with the status of a pod',
      { resource: 'pods/status', after: { annotations: note } },
    ],
    ['sets a label', { after: { labels: { 'taintmgr.dev/pool': 'a' } } }],
    ['is one by its group alone', { by: 'edge-agent', after: { annotations: note } }],
  ];
  for (const [name, request] of refused) {
    it(`refuses a kubelet that ${name}`, () => {
      assert.match(refusal(request) ?? 'allowed', /^a kubelet may not set, change or remove/);
    });
  }

  const allowed: readonly [string, Request][] = [
    [
      'a kubelet that leaves ours as they are',
      { before: { annotations: note }, after: { annotations: { ...note, ...other } } },
    ],
    ['a kubelet that writes others', { after: { annotations: other, labels: other } }],
    ['a kubelet whose node has neither annotations nor labels', { after: {} }],
    [
      'a kubelet that registers a node',
      { operation: 'CREATE', before: null, after: { labels: other } },
    ],
    [
      'a kubelet that creates the mirror of a static pod',
      { operation: 'CREATE', resource: 'pods', before: null, after: { annotations: note } },
    ],
    [
      'the controller',
      {
        by: 'system:serviceaccount:taintmgr-system:taintmgr-controller',
        groups: ['system:serviceaccounts'],
        after: { annotations: note },
      },
    ],
    ['an administrator', { by: 'admin', groups: ['system:masters'], after: { annotations: note } }],
  ];
  for (const [name, request] of allowed) {
    it(`lets ${name}`, () => assert.equal(refusal(request), null));
  }

  it('is in force once its binding is there, and refuses rather than passes when it fails', () => {
    assert.equal(policy.apiVersion, 'admissionregistration.k8s.io/v1');
    assert.equal(policy.kind, 'ValidatingAdmissionPolicy');
    assert.equal(binding.kind, 'ValidatingAdmissionPolicyBinding');
    assert.equal(binding.spec.policyName, policy.metadata.name);
    assert.ok(binding.spec.validationActions.includes('Deny'));
    assert.equal(failurePolicy, 'Fail');
  });
});

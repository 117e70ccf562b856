import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ApiServer, type KubeObject, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { parseAllDocuments } from 'yaml';

const file = '../../../../deploy/kustomize/components/guard-annotations/admission-policy.yaml';
const [policy, binding] = parseAllDocuments(
  readFileSync(new URL(file, import.meta.url), 'utf8'),
).map((document) => document.toJS());
/** Policies are compiled once a second. */
const inForceMs = 1000;

type Texts = Readonly<Record<string, string>>;
type Metadata = { readonly annotations?: Texts; readonly labels?: Texts };

interface Request {
  readonly by?: string;
  readonly groups?: readonly string[];
  /** `nodes`, `pods/status`. */
  readonly resource?: string;
  /** Null: there is none, as in a creation. */
  readonly before?: Metadata | null;
  readonly after: Metadata;
}

const kubelet = 'system:node:n1';
const nodes = ['system:nodes', 'system:authenticated'];
const note = { 'taintmgr.dev/owned-taints': '{"a:NoExecute":"rule"}' };
const other = { 'example.com/note': '1' };

/** A server that enforces the policy. */
function guardedServer(): ApiServer {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const api = new ApiServer({ clock, random: seededRandom(1) });
  api.create('validatingadmissionpolicies', policy);
  api.create('validatingadmissionpolicybindings', binding);
  clock.advanceTo(clock.now() + inForceMs);
  return api;
}

/** Null, or the words in which the request is refused. */
function refusal(request: Request): string | null {
  const { by = kubelet, groups = nodes, resource = 'nodes', before = {}, after } = request;
  const api = guardedServer();
  const [plural = '', subresource = ''] = resource.split('/');
  const path = plural === 'nodes' ? '/api/v1/nodes' : '/api/v1/namespaces/default/pods';
  const object = (metadata: Metadata): KubeObject => ({
    metadata: { ...metadata, name: 'x', ...(plural === 'pods' ? { namespace: 'default' } : {}) },
    spec: plural === 'pods' ? { containers: [{ name: 'c', image: 'i' }] } : {},
  });
  if (before === null) return send(api, 'POST', path, { by, groups }, object(after));
  const stored = api.create(plural, object(before));
  const { annotations: _annotations, labels: _labels, ...metadata } = stored.metadata;
  const next = { ...stored, metadata: { ...metadata, ...after } };
  const place = `${path}/x${subresource === '' ? '' : `/${subresource}`}`;
  return send(api, 'PUT', place, { by, groups }, next);
}

function send(
  api: ApiServer,
  method: string,
  path: string,
  { by, groups }: { readonly by: string; readonly groups: readonly string[] },
  object: object,
): string | null {
  const headers = {
    'content-type': 'application/json',
    'impersonate-user': by,
    // Whoever it is may write; the policy does not look at this group.
    'impersonate-group': [...groups, 'system:masters'].join(', '),
  };
  let [code, text] = [0, ''];
  api.exchange(
    { method, path, headers, body: JSON.stringify(object) },
    {
      head: (status) => {
        code = status;
      },
      data: (chunk) => {
        text += String(chunk);
      },
      end: () => {},
      reset: () => {},
    },
  );
  if (code < 300) return null;
  assert.equal(code, 403, text);
  return JSON.parse(text).message.replace(/^.* denied request: /, '');
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
    ['registers a node with one', { before: null, after: { annotations: note } }],
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
    ['a kubelet that registers a node', { before: null, after: { labels: other } }],
    [
      'a kubelet that creates the mirror of a static pod',
      { resource: 'pods', before: null, after: { annotations: note } },
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
    assert.equal(policy.spec.failurePolicy, 'Fail');
  });
});

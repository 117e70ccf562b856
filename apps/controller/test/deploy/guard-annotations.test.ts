import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { customResourceDefinitions, drainFinalizer } from '@taintmgr/k8s-adapter/kinds';
import { type KubeObject, node, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { parseAllDocuments } from 'yaml';
import { readManifests } from './manifests.ts';

const policiesOf = (file: string): readonly KubeObject[] => {
  const url = new URL(`../../../../deploy/kustomize/components/${file}`, import.meta.url);
  return parseAllDocuments(readFileSync(url, 'utf8')).map((document) => document.toJS());
};
const kubeletPolicy = policiesOf('guard-annotations/admission-policy.yaml');
const accountPolicy = policiesOf('guard-annotations/account-policy.yaml');
const rolloutPolicy = policiesOf('rollout-restart/admission-policy.yaml');
/** Policies are compiled once a second. */
const inForceMs = 1000;

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

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

/** A server that enforces the policies. */
function guardedServer(): ApiServer {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const api = new ApiServer({ clock, random: seededRandom(1) });
  for (const definition of customResourceDefinitions()) {
    api.create('customresourcedefinitions', structuredClone(definition) as KubeObject);
  }
  for (const object of [...kubeletPolicy, ...accountPolicy, ...rolloutPolicy]) {
    const isPolicy = object.kind === 'ValidatingAdmissionPolicy';
    api.create(
      isPolicy ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings',
      object,
    );
  }
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
  type = 'application/json',
): string | null {
  const headers = {
    'content-type': type,
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

  for (const [policy, binding] of [kubeletPolicy, accountPolicy, rolloutPolicy]) {
    it(`is in force once its binding is there, and refuses rather than passes when it fails: ${policy?.metadata.name}`, () => {
      assert.equal(policy?.apiVersion, 'admissionregistration.k8s.io/v1');
      assert.equal(policy.kind, 'ValidatingAdmissionPolicy');
      assert.equal(binding?.kind, 'ValidatingAdmissionPolicyBinding');
      assert.equal(binding.spec.policyName, policy.metadata.name);
      assert.ok(binding.spec.validationActions.includes('Deny'));
      assert.equal(policy.spec.failurePolicy, 'Fail');
    });
  }
});

const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'gone', uid: 'gone' };
const web = '/api/v1/namespaces/default/pods/web';
const event = '/api/v1/namespaces/default/events';
const rollout = '/apis/apps/v1/namespaces/default/deployments/web';
const drain = '/apis/taintmgr.dev/v1alpha1/nodedrains/one';
const template = (spec: object, metadata: object = {}): object => ({
  spec: { template: { metadata, spec } },
});
const container = (changes: object): object => ({
  containers: [{ name: 'c', image: 'i', ...changes }],
});

/** Null, or the words in which a patch is refused to the account of the controller. */
function accountRefusal(path: string, changes: object, by = 'taintmgr-controller'): string | null {
  const api = guardedServer();
  const metadata = { namespace: 'default', labels: { app: 'web' }, annotations: other };
  const one = node('n1');
  api.create('nodes', { ...one, metadata: { ...one.metadata, annotations: other } });
  api.create('pods', pod('default', 'web'));
  for (const component of ['kubelet', 'node-controller', 'taintmgr']) {
    api.create('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'default', name: component },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
      reason: 'Killing',
      source: { component },
      reportingComponent: component,
    });
  }
  api.create('deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: metadata.labels },
      template: { metadata, spec: container({}) },
    },
  });
  api.create('nodedrains.taintmgr.dev', {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'NodeDrain',
    metadata: { name: 'one' },
    spec: { nodes: ['n1'], taint: { key: 'maintenance' } },
  });
  const who = { by: `system:serviceaccount:anywhere:${by}`, groups: ['system:serviceaccounts'] };
  const kind = path === drain ? 'merge' : 'strategic-merge';
  return send(api, 'PATCH', path, who, changes, `application/${kind}-patch+json`);
}

describe('the policies that guard what the account of the controller may change', () => {
  const refused: readonly [string, string, object][] = [
    ['an owner of a node', '/api/v1/nodes/n1', { metadata: { ownerReferences: [owner] } }],
    ['a finalizer of a node', '/api/v1/nodes/n1', { metadata: { finalizers: ['a/b'] } }],
    ['a label of a node', '/api/v1/nodes/n1', { metadata: { labels: { 'a/role': 'b' } } }],
    [
      'a system that the node does not have',
      '/api/v1/nodes/n1',
      { metadata: { labels: { 'beta.kubernetes.io/os': 'windows' } } },
    ],
    ['an annotation of others', '/api/v1/nodes/n1', { metadata: { annotations: { 'a/b': '1' } } }],
    [
      'the removal of one',
      '/api/v1/nodes/n1',
      { metadata: { annotations: { 'example.com/note': null } } },
    ],
    ['the provider of a node', '/api/v1/nodes/n1', { spec: { providerID: 'a://b' } }],
    [
      'the address of a node',
      '/api/v1/nodes/n1/status',
      { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] } },
    ],
    [
      'a label by the status',
      '/api/v1/nodes/n1/status',
      { metadata: { labels: { 'a/role': 'b' } } },
    ],
    ['the IP of a pod', `${web}/status`, { status: { podIP: '192.0.2.1' } }],
    ['the labels of a pod', `${web}/status`, { metadata: { labels: { app: 'other' } } }],
    [
      'a readiness gate',
      `${web}/status`,
      { status: { conditions: [{ type: 'a/gate', status: 'True' }] } },
    ],
    ['an Event of others', `${event}/kubelet`, { message: 'forged' }],
    ['an Event of kube-controller-manager', `${event}/node-controller`, { message: 'forged' }],
    ['a finalizer of others on a drain', drain, { metadata: { finalizers: ['a.b/c'] } }],
    ['what a drain drains', drain, { spec: { nodes: ['n1', 'n2'] } }],
    [
      'a privileged container',
      rollout,
      template(container({ securityContext: { privileged: true } })),
    ],
    ['the node of the host', rollout, template({ hostPID: true })],
    ['another service account', rollout, template({ serviceAccountName: 'admin' })],
    ['the scale', rollout, { spec: { replicas: 0 } }],
    ['the strategy', rollout, { spec: { paused: true } }],
    ['labels of its pods', rollout, template({}, { labels: { a: 'b' } })],
    ['annotations of its pods', rollout, template({}, { annotations: { 'a/inject': 'true' } })],
    ['the owner of a Deployment', rollout, { metadata: { ownerReferences: [owner] } }],
  ];
  for (const [name, path, changes] of refused) {
    it(`refuses ${name}`, () => {
      assert.match(
        accountRefusal(path, changes) ?? 'allowed',
        /^the account of taintmgr-controller/,
      );
      assert.equal(accountRefusal(path, changes, 'somebody-else'), null);
    });
  }

  const allowed: readonly [string, string, object][] = [
    [
      'taints, a cordon and annotations of taintmgr.dev',
      '/api/v1/nodes/n1',
      {
        metadata: { annotations: note },
        spec: { unschedulable: true, taints: [{ key: 'a', effect: 'NoExecute' }] },
      },
    ],
    [
      'deprecated labels',
      '/api/v1/nodes/n1',
      { metadata: { labels: { 'beta.kubernetes.io/os': 'linux' } } },
    ],
    [
      'conditions of a node',
      '/api/v1/nodes/n1/status',
      { status: { conditions: [{ type: 'Drained', status: 'True' }] } },
    ],
    [
      'the mark of an eviction, and its end',
      `${web}/status`,
      {
        status: {
          phase: 'Failed',
          reason: 'Evicted',
          message: 'm',
          conditions: [{ type: 'DisruptionTarget', status: 'True' }],
        },
      },
    ],
    ['another count of its own Event', `${event}/taintmgr`, { count: 2, message: 'more' }],
    ['the finalizer of a drain', drain, { metadata: { finalizers: [drainFinalizer] } }],
    [
      'the restart of a rollout',
      rollout,
      template(
        {},
        { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' } },
      ),
    ],
  ];
  for (const [name, path, changes] of allowed) {
    it(`lets ${name}`, () => assert.equal(accountRefusal(path, changes), null));
  }

  it('are out of reach of the account that they guard', () => {
    const folders = readdirSync(
      new URL('../../../../deploy/kustomize/components', import.meta.url),
    );
    const { objects } = readManifests(
      'modes/evict',
      ...folders.map((name) => `components/${name}`),
    );
    const guards = [kubeletPolicy, accountPolicy, rolloutPolicy].flat();
    const ofPolicies = objects
      .flatMap(({ rules = [] }): readonly Rule[] => rules)
      .filter(({ apiGroups = [] }) => apiGroups.includes('admissionregistration.k8s.io'));
    assert.equal(ofPolicies.length, 3);
    for (const { verbs, resourceNames } of ofPolicies) {
      // What exists has a name, and is out of reach of create.
      if (resourceNames === undefined) assert.deepEqual(verbs, ['create']);
      for (const { metadata } of guards) assert.ok(!resourceNames?.includes(metadata.name));
      assert.ok(!verbs.some((verb) => ['delete', 'deletecollection', '*'].includes(verb)));
    }
  });
});

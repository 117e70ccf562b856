import assert from 'node:assert/strict';
// @boundaries-ignore the cluster's own tests live in the same world
import {
  type Client,
  merge,
  type RequestOptions,
  type Response,
  strategic,
} from '../../../sim-cluster/test/world/client.ts';
import { type Fixture, fixture, podNamed } from '../world/api-fixture.ts';

export const namespace = 'wire-vap';
export const other = 'wire-vap2';
const apiVersion = 'admissionregistration.k8s.io/v1';
/** Policies are compiled once a second. */
const inForceMs = 1000;

/** A server with two namespaces, a pod `m` and one policy. */
export interface Installed extends Fixture {
  /** Sends a request that changes nothing, and answers what came of it: 201, 422. */
  readonly asked: Readonly<Record<string, () => number>>;
  configMap(name: string, labels?: object, home?: string, options?: RequestOptions): Response;
}

const always = [{ expression: 'false', message: 'no' }];
export const rule = (
  resources: readonly string[] = ['configmaps'],
  operations: readonly string[] = ['CREATE', 'UPDATE'],
  more: object = {},
): object => ({ apiGroups: [''], apiVersions: ['v1'], operations, resources, ...more });

/** Installs a policy and its binding, and waits until they are in force. */
export function installed(spec: object = {}, bindingSpec: object = {}): Installed {
  const made = fixture();
  const { api, client, pass } = made;
  api.create('namespaces', { metadata: { name: namespace, labels: { judged: 'no' } } });
  api.create('namespaces', { metadata: { name: other, labels: { judged: 'yes' } } });
  api.create('pods', podNamed('m', {}, { namespace }));
  install(made, 'p', spec, bindingSpec);
  pass(inForceMs);
  const dry = { query: { dryRun: 'All' } };
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'm' } };
  const condition = { type: 'Ready', status: 'True' };
  const status = { status: { conditions: [condition] } };
  const label = { metadata: { labels: { x: 'y' } } };
  return {
    ...made,
    asked: {
      'create pod': () => client.post(path, podNamed('q'), dry).status,
      'update pod': () => client.patch(`${path}/m`, label, merge, dry).status,
      'update pods/status': () => client.patch(`${path}/m/status`, status, strategic, dry).status,
      'create pods/eviction': () => client.post(`${path}/m/eviction`, eviction, dry).status,
      'delete pod': () => client.delete(`${path}/m`, dry).status,
      'create node': () => client.post('/api/v1/nodes', { metadata: { name: 'n' } }, dry).status,
    },
    configMap: (name, labels = {}, home = namespace, options = dry) =>
      client.post(
        `/api/v1/namespaces/${home}/configmaps`,
        { metadata: { name, labels }, data: {} },
        options,
      ),
  };
}

/** A policy and a binding of that name; without a word more it refuses every ConfigMap. */
export function install(
  { client }: Pick<Fixture, 'client'>,
  name: string,
  spec: object = {},
  bindingSpec: object = {},
): void {
  const policySpec = {
    matchConstraints: { resourceRules: [rule()] },
    validations: always,
    ...spec,
  };
  installPolicy(client, name, policySpec, { validationActions: ['Deny'], ...bindingSpec });
}

/** A policy and its binding as they are given. */
export function installPolicy(
  client: Client,
  name: string,
  spec: object,
  bindingSpec: object,
): void {
  const group = `/apis/${apiVersion}`;
  const policy = client.post(`${group}/validatingadmissionpolicies`, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec,
  });
  assert.equal(policy.status, 201, policy.text);
  const binding = client.post(`${group}/validatingadmissionpolicybindings`, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, ...bindingSpec },
  });
  assert.equal(binding.status, 201, binding.text);
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import {
  type Client,
  merge,
  type Response,
  strategic,
} from '../../../sim-cluster/test/world/client.ts';
import { fixture, podNamed } from '../world/api-fixture.ts';
import { installPolicy } from './installed.ts';

// The policy by which a controller keeps kube-controller-manager from evicting pods while its own
// heartbeat, a custom resource, is fresh.

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const managers = '/apis/taintmgr.dev/v1alpha1/taintmanagers';
const manager = 'taintmgr-controller';
const policyName = 'taintmgr-takeover';
const optedIn = { 'taintmgr.dev/takeover': 'enabled' };

const begins = (object: string): string =>
  `${object}.status.?conditions.orValue([]).exists(c, c.type == 'DisruptionTarget' && c.status == 'True' && c.?reason.orValue('') == 'DeletionByTaintManager')`;

const policySpec = {
  failurePolicy: 'Ignore',
  paramKind: { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' },
  matchConstraints: {
    namespaceSelector: { matchLabels: optedIn },
    resourceRules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods/status'] },
    ],
  },
  matchConditions: [
    {
      name: 'taint-eviction-begins',
      expression: `request.userInfo.username != 'taintmgr' && ${begins('object')} && !${begins('oldObject')}`,
    },
  ],
  variables: [
    {
      name: 'now',
      expression:
        "object.status.conditions.filter(c, c.type == 'DisruptionTarget')[0].lastTransitionTime",
    },
  ],
  validations: [
    {
      expression:
        "!has(params.status) || !has(params.status.renewTime) || timestamp(params.status.renewTime) + duration('60s') < timestamp(variables.now)",
      messageExpression:
        "'taintmgr decides about this pod; its heartbeat was ' + string(params.status.renewTime)",
      reason: 'Forbidden',
    },
  ],
};
const bindingSpec = {
  validationActions: ['Deny'],
  paramRef: { name: manager, parameterNotFoundAction: 'Allow' },
};

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'taintmanagers.taintmgr.dev' },
  spec: {
    group: 'taintmgr.dev',
    scope: 'Cluster',
    names: { plural: 'taintmanagers', kind: 'TaintManager' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              status: {
                type: 'object',
                properties: { renewTime: { type: 'string', format: 'date-time' } },
              },
            },
          },
        },
      },
    ],
  },
};

/** A pod in an opted-in namespace, the policy, and a heartbeat that is fresh. */
function takenOver() {
  const { api, client, clock, pass } = fixture();
  for (const [name, labels] of [
    ['in', optedIn],
    ['out', {}],
  ] as const) {
    api.create('namespaces', { metadata: { name, labels } });
    api.create('pods', podNamed('p', {}, { namespace: name }));
  }
  const install = (): void => installPolicy(client, policyName, policySpec, bindingSpec);
  const define = (): void => {
    assert.equal(client.post(definitions, definition).status, 201);
    pass(2000);
    const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' };
    const answer = client.post(managers, { ...object, metadata: { name: manager } });
    assert.equal(answer.status, 201, answer.text);
  };
  const beat = (agoMs = 0): void => {
    const renewTime = new Date(clock.now() - agoMs).toISOString();
    const patch = { status: { renewTime } };
    assert.equal(client.patch(`${managers}/${manager}/status`, patch, merge).status, 200);
    pass(10);
  };
  define();
  install();
  beat();
  pass(1000);
  /** What kube-controller-manager does before it deletes a pod; nothing of it is kept. */
  const begin = (more: BeginOptions = {}): Response => beginOf(client, clock.now(), more);
  return { api, client, pass, beat, begin, define, install };
}

interface BeginOptions {
  readonly user?: string;
  readonly namespace?: string;
  readonly reason?: string;
  readonly keep?: boolean;
}

function beginOf(
  client: Client,
  now: number,
  {
    user = 'system:kube-controller-manager',
    namespace = 'in',
    reason = 'DeletionByTaintManager',
    keep = false,
  }: BeginOptions,
): Response {
  const lastTransitionTime = new Date(now).toISOString().replace('.000', '');
  const condition = { type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime };
  const path = `/api/v1/namespaces/${namespace}/pods/p/status`;
  const headers = { 'impersonate-user': user, 'impersonate-group': 'system:masters' };
  const query = keep ? {} : { dryRun: 'All' };
  return client.patch(path, { status: { conditions: [condition] } }, strategic, { headers, query });
}

describe('a policy whose parameter is a heartbeat', () => {
  it('refuses while it is fresh, by whomever but its owner, and only where it was asked for', () => {
    const { begin, api } = takenOver();
    const refused = begin({ keep: true });
    assert.equal(refused.status, 403);
    assert.match(
      refused.body.message,
      /^pods "p" is forbidden: ValidatingAdmissionPolicy 'taintmgr-takeover' with binding 'taintmgr-takeover' denied request: taintmgr decides about this pod; its heartbeat was 2026-01-01T00:00:0/,
    );
    assert.equal(api.get('pods', 'in', 'p')?.status?.conditions, undefined);
    assert.equal(begin({ user: 'anybody' }).status, 403);
    assert.equal(begin({ user: 'taintmgr' }).status, 200);
    assert.equal(begin({ namespace: 'out' }).status, 200);
    assert.equal(begin({ reason: 'EvictionByEvictionAPI' }).status, 200);
  });

  it('gives way a minute after the last beat, and refuses again with the next', () => {
    const { begin, beat, pass } = takenOver();
    pass(58_000);
    assert.equal(begin().status, 403);
    pass(3000);
    assert.equal(begin().status, 200);
    beat();
    assert.equal(begin().status, 403);
  });

  it('gives way without the object, and without its kind', () => {
    const { begin, beat, client, define, pass } = takenOver();
    assert.equal(client.delete(`${managers}/${manager}`).status, 200);
    pass(10);
    assert.equal(begin().status, 200);
    assert.equal(client.delete(`${definitions}/${definition.metadata.name}`).status, 200);
    pass(3000);
    assert.equal(client.get(managers).status, 404);
    assert.equal(begin().status, 200);
    define();
    beat();
    assert.equal(begin().status, 403);
  });

  it('gives way when it is removed, and refuses when it is installed again', () => {
    const { api, begin, beat, install, pass } = takenOver();
    api.delete('validatingadmissionpolicies', '', policyName);
    api.delete('validatingadmissionpolicybindings', '', policyName);
    pass(1000);
    assert.equal(begin().status, 200);
    install();
    pass(1000);
    beat();
    assert.equal(begin().status, 403);
  });

  it('lets pass what is no beginning: who updates a marked pod, and an eviction', () => {
    const { begin, client } = takenOver();
    assert.equal(begin({ user: 'taintmgr', keep: true }).status, 200);
    assert.equal(begin().status, 200);
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
    assert.equal(client.post('/api/v1/namespaces/in/pods/p/eviction', eviction).status, 201);
  });
});

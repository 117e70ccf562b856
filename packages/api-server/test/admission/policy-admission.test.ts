import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests live in the same world
import { Client } from '../../../sim-cluster/test/world/client.ts';
import { fixture } from '../world/api-fixture.ts';
import { small, virtualCluster } from '../world/virtual-cluster.ts';
import { install, installed, namespace, rule } from './installed.ts';

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

describe('a policy in force', () => {
  it('begins between 0.3 and 1 s after it was made, ends as long after it was removed', () => {
    const { api, configMap, pass } = installed();
    const untilIt = (status: number): number => {
      for (let ms = 0; ms <= 2000; ms += 10) {
        if (configMap('x').status === status) return ms;
        pass(10);
      }
      return assert.fail(`never ${status}`);
    };
    api.delete('validatingadmissionpolicybindings', '', 'p');
    const removed = untilIt(201);
    assert.ok(removed >= 300 && removed <= 1000, `${removed} ms`);
    api.create('validatingadmissionpolicybindings', {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    });
    const made = untilIt(422);
    assert.ok(made >= 300 && made <= 1000, `${made} ms`);
  });

  it('is the one that was stored last', () => {
    const { client, configMap, pass } = installed();
    const answer = client.patch(`${policies}/p`, {
      spec: { validations: [{ expression: 'true' }] },
    });
    assert.equal(answer.status, 200);
    pass(1000);
    assert.equal(configMap('x').status, 201);
  });

  it('does what a patch of its binding says: actions are replaced as a whole', () => {
    const { api, client, configMap, pass } = installed(
      {},
      { validationActions: ['Deny', 'Audit'] },
    );
    const validationActions = ['Warn'];
    const patch = { spec: { validationActions } };
    const answer = client.patch(`${policies.replace('policies', 'policybindings')}/p`, patch);
    assert.equal(answer.status, 200, answer.text);
    const stored = api.get('validatingadmissionpolicybindings', '', 'p');
    assert.deepEqual(stored?.spec.validationActions, validationActions);
    pass(1000);
    assert.equal(configMap('x').status, 201);
  });

  it('comes with a snapshot too, where an expression that is none fails every request', () => {
    const made = fixture();
    made.api.load([
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'p' },
        spec: {
          matchConstraints: { resourceRules: [rule()] },
          variables: [{ name: 'v', expression: 'nobody' }],
          validations: [{ expression: 'object.x ==' }, { expression: 'variables.v' }],
        },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'p' },
        spec: { policyName: 'p', validationActions: ['Warn'] },
      },
    ]);
    made.pass(1000);
    const path = '/api/v1/namespaces/default/configmaps';
    const { status, headers } = made.client.post(path, { metadata: { name: 'x' } });
    assert.equal(status, 201);
    assert.match(
      headers.warning ?? '',
      /expression 'object.x ==' resulted in error: .*compilation/,
    );
    assert.match(headers.warning ?? '', /composited variable \\"v\\" fails to evaluate/);
  });

  it('tells the audit log what it found, the last thousand times', () => {
    const { api, configMap } = installed(
      { auditAnnotations: [{ key: 'who', valueExpression: 'request.userInfo.username' }] },
      { validationActions: ['Audit'] },
    );
    assert.equal(configMap('x').status, 201);
    const { annotations, request } = api.policies.audited.at(-1) ?? assert.fail('nothing');
    assert.deepEqual([request.name, request.namespace], ['x', namespace]);
    assert.equal(annotations['p/who'], 'admin');
    assert.match(
      annotations['validation.policy.admission.k8s.io/validation_failure'] ?? '',
      /"no"/,
    );
    for (let at = 0; at < 1001; at++) configMap(`x${at}`);
    assert.equal(api.policies.audited.length, 1000);
    assert.equal(api.policies.audited.at(-1)?.request.name, 'x1000');
  });

  it('knows uid and extra of one who is impersonated', () => {
    const { api, configMap } = installed(
      {
        auditAnnotations: [
          {
            key: 'who',
            valueExpression:
              'request.userInfo.uid + request.userInfo.extra["example.com/team"].join("+")',
          },
        ],
      },
      { validationActions: ['Audit'] },
    );
    const headers = {
      'impersonate-user': 'bob',
      'impersonate-group': 'system:masters',
      'impersonate-uid': '7',
      'impersonate-extra-example.com%2fteam': 'a, b',
    };
    assert.equal(configMap('x', {}, namespace, { headers }).status, 201);
    assert.equal(api.policies.audited.at(-1)?.annotations['p/who'], '7a+b');
  });

  it('warns with every kind of answer', () => {
    const { client, api } = installed(
      { matchConstraints: { resourceRules: [rule(['*/*'], ['*'])] } },
      { validationActions: ['Warn'] },
    );
    const path = `/api/v1/namespaces/${namespace}`;
    const warning = `299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': no"`;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'm' } };
    const binding = { metadata: { name: 'm' }, target: { kind: 'Node', name: 'n' } };
    const answers = [
      client.post(`${path}/pods/m/binding`, binding),
      client.post(`${path}/pods/m/eviction`, eviction),
      client.put(`${path}/configmaps/new`, { metadata: { name: 'new' } }),
      client.post(`${path}/configmaps`, { metadata: { name: 'one' } }),
      client.delete(`${path}/configmaps/one`),
    ];
    assert.deepEqual(
      answers.map(({ headers, status }) => (status < 300 ? headers.warning : status)),
      [warning, warning, 404, warning, warning],
    );
    api.create('configmaps', { metadata: { name: 'a', namespace } });
    api.create('configmaps', { metadata: { name: 'b', namespace } });
    const { headers } = client.delete(`${path}/configmaps`);
    assert.equal(headers.warning, warning, 'once for both');
  });

  it('is told of everything that is only tried', () => {
    const { asked, client } = installed({
      matchConstraints: { resourceRules: [rule(['pods', 'pods/*'], ['*'])] },
      validations: [{ expression: '!request.dryRun' }],
    });
    const { 'create node': _node, ...ofPods } = asked;
    for (const [what, ask] of Object.entries(ofPods)) assert.equal(ask(), 422, what);
    assert.equal(client.delete(`/api/v1/namespaces/${namespace}/pods/m`).status, 200);
  });

  it('judges the number of pods as the Scale that it is', () => {
    const { client, api } = installed({
      matchConstraints: {
        resourceRules: [rule(['deployments/scale'], ['UPDATE'], { apiGroups: ['apps'] })],
      },
      validations: [{ expression: 'object.spec.replicas < 5', message: 'too many' }],
    });
    api.create('deployments', deployment(namespace, 'd', { replicas: 1 }));
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/d/scale`;
    const scale = (replicas: number): string => client.patch(path, { spec: { replicas } }).text;
    assert.match(scale(5), /denied request: too many/);
    assert.match(scale(4), /"replicas":4/);
  });

  it('judges the controllers of the cluster, which try again', () => {
    const { api, pass, untilIdle } = virtualCluster({ topology: small(['a']) });
    untilIdle();
    const client = new Client(api);
    const pods = { matchConstraints: { resourceRules: [rule(['pods'], ['CREATE'])] } };
    install({ client }, 'p', pods);
    pass(1000);
    api.create('deployments', deployment('default', 'd', { replicas: 1 }));
    pass(60_000);
    assert.deepEqual(api.list('pods'), []);
    api.delete('validatingadmissionpolicies', '', 'p');
    pass(120_000);
    assert.equal(api.list('pods').length, 1);
  });
});

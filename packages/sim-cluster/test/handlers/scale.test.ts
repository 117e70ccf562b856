import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSet, deployment, statefulSet } from '../../src/builders.ts';
import { fixture } from '../world/api-fixture.ts';
import { applyType, type Client, jsonPatch } from '../world/client.ts';
import { small, virtualCluster } from '../world/virtual-cluster.ts';

const apps = '/apis/apps/v1/namespaces/default';
const web = `${apps}/deployments/web`;

function withWorkloads(): { readonly client: Client } {
  const running = fixture();
  running.api.create('deployments', deployment('default', 'web', { replicas: 3 }));
  running.api.create('statefulsets', statefulSet('default', 'db', { replicas: 0 }));
  running.api.create('daemonsets', daemonSet('default', 'agent'));
  return running;
}

describe('the scale of a workload', () => {
  it('shows how many pods there should be, how many there are, and which', () => {
    const { client } = withWorkloads();
    const { status, body } = client.get(`${web}/scale`);
    const { uid, resourceVersion, creationTimestamp } = client.get(web).body.metadata;
    assert.equal(status, 200);
    assert.deepEqual(body, {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'web', namespace: 'default', uid, resourceVersion, creationTimestamp },
      spec: { replicas: 3 },
      status: { replicas: 0, selector: 'app=web' },
    });
    assert.deepEqual(client.get(`${apps}/statefulsets/db/scale`).body.spec, {});
  });

  it('is an int32, as all numbers of pods are', () => {
    const { client } = withWorkloads();
    const replicas = 3_000_000_000;
    const { text } = client.get(`${web}/scale`);
    const scale = JSON.parse(text);
    const answers = [
      [400, client.put(`${web}/scale`, { ...scale, spec: { replicas } })],
      [422, client.patch(`${web}/scale`, { spec: { replicas } })],
      [422, client.patch(web, { spec: { replicas } })],
    ] as const;
    for (const [code, { status, body }] of answers) {
      assert.equal(status, code);
      assert.match(
        body.message,
        /json: cannot unmarshal number 3000000000 into Go struct field \w+Spec\.spec\.replicas of type int32/,
      );
    }
    const budget = { metadata: { name: 'web' }, spec: { minAvailable: replicas } };
    assert.match(
      client.post('/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget).body.message,
      /json: cannot unmarshal number 3000000000 into Go value of type int32/,
    );
    for (const edge of [2 ** 31 - 1, 0]) {
      assert.equal(client.patch(`${web}/scale`, { spec: { replicas: edge } }).status, 200);
    }
  });

  it('is set by patch and by update, and nothing else of the workload with it', () => {
    const { client } = withWorkloads();
    const before = client.get(web).body;
    const patched = client.patch(`${web}/scale`, { spec: { replicas: 5 } });
    assert.deepEqual([patched.status, patched.body.spec], [200, { replicas: 5 }]);
    const steps = [{ op: 'replace', path: '/spec/replicas', value: 7 }];
    assert.equal(client.patch(`${web}/scale`, steps, jsonPatch).body.spec.replicas, 7);
    const { body } = client.get(`${web}/scale`);
    const put = { ...body, metadata: { ...body.metadata, labels: { x: 'y' } }, spec: {} };
    assert.deepEqual(client.put(`${web}/scale`, put).body.spec, {});
    const after = client.get(web).body;
    assert.deepEqual(after.metadata.labels, before.metadata.labels);
    assert.deepEqual({ ...after.spec, replicas: 3 }, before.spec);
    assert.equal(after.metadata.generation, 4);
  });

  it('is not set by one who saw another state, tries only, or asks for less than nothing', () => {
    const { client } = withWorkloads();
    const { body } = client.get(`${web}/scale`);
    const spec = { replicas: 1 };
    client.patch(web, { metadata: { labels: { x: 'y' } } });
    assert.equal(client.put(`${web}/scale`, { ...body, spec }).status, 409);
    const now = client.get(`${web}/scale`).body;
    const metadata = { ...now.metadata, uid: 'other' };
    assert.equal(client.put(`${web}/scale`, { ...now, metadata, spec }).status, 409);
    assert.equal(
      client.patch(`${web}/scale`, { spec }, undefined, { query: { dryRun: 'All' } }).status,
      200,
    );
    const refused = client.patch(`${web}/scale`, { spec: { replicas: -1 } });
    assert.equal(
      refused.body.message,
      'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
    assert.equal(client.patch(`${web}/scale`, { spec }, applyType).status, 415);
    assert.equal(client.get(web).body.spec.replicas, 3);
  });

  it('is a thing that daemon sets have not', () => {
    const { client } = withWorkloads();
    assert.equal(client.get(`${apps}/daemonsets/agent/scale`).status, 404);
    assert.equal(client.get(`${apps}/deployments/none/scale`).status, 404);
  });

  it('is followed by the workload', () => {
    const workloads = [deployment('default', 'web', { replicas: 1 })];
    const { api, untilIdle } = virtualCluster({ topology: small(['a', 'b'], workloads) });
    untilIdle();
    const body = JSON.stringify({ spec: { replicas: 4 } });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const sink = { head: () => {}, data: () => {}, end: () => {}, reset: () => {} };
    api.exchange({ method: 'PATCH', path: `${web}/scale`, headers, body }, sink);
    untilIdle();
    assert.equal(api.list('pods').length, 4);
  });
});

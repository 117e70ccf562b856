// Defaults are those of every write: of a new object, of one that is replaced, patched or applied.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resources } from '@taintmgr/sim-cluster/server';
// @boundaries-ignore the cluster's own tests live in the same world
import {
  applyType,
  type Client,
  jsonPatch,
  merge,
} from '../../../sim-cluster/test/world/client.ts';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';
import { minimal, pathOf, workload } from '../world/minimal-bodies.ts';
import { small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const labels = { app: 'web' };
const as = (fieldManager: string) => ({ query: { fieldManager } });

describe('a PUT of the body that an object was created from changes nothing', () => {
  for (const resource of resources.filter(({ storage }) => !storage)) {
    it(`of ${resource.plural}`, () => {
      const { client } = fixture();
      const path = pathOf(resource);
      const body = minimal(resource);
      const made = client.post(path, body, as('one'));
      assert.equal(made.status, 201, made.text);
      const { resourceVersion } = made.body.metadata;
      const seen = resource.unconditionalUpdate ? {} : { resourceVersion };
      const again = { ...body, metadata: { ...body.metadata, ...seen } };
      const put = client.put(`${path}/${body.metadata.name}`, again, as('two'));
      assert.equal(put.status, 200, put.text);
      // The same version, and the same owners of its fields.
      assert.deepEqual(put.body, made.body);
    });
  }
});

const web = '/apis/apps/v1/namespaces/default/deployments/web';

function withWeb(): { readonly client: Client } {
  const running = fixture();
  const configuration = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { ...workload.spec, replicas: 3 },
  };
  running.client.patch(web, configuration, applyType, as('one'));
  return running;
}

describe('the defaults of a changed object', () => {
  it('take the place of what an apply leaves out, and belong to nobody', () => {
    const { client } = withWeb();
    const configuration = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } };
    const left = { ...configuration, spec: workload.spec };
    const { body } = client.patch(web, left, applyType, as('one'));
    assert.equal(body.spec.replicas, 1);
    assert.equal(body.metadata.managedFields?.length, 1);
    const [own] = body.metadata.managedFields ?? [];
    assert.deepEqual(Object.keys(own?.fieldsV1?.['f:spec'] ?? {}), ['f:selector', 'f:template']);
  });

  it('are those of a container that a patch adds', () => {
    const { client } = withWeb();
    const value = { name: 'two', image: 'registry.example/two' };
    const steps = [{ op: 'add', path: '/spec/template/spec/containers/-', value }];
    const { body } = client.patch(web, steps, jsonPatch);
    assert.deepEqual(body.spec.template.spec.containers[1], {
      ...value,
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'Always',
    });
  });

  it('take the place of what a merge patch removes', () => {
    const { client } = withWeb();
    const { body } = client.patch(web, { spec: { replicas: null, strategy: null } }, merge);
    const rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%' };
    assert.equal(body.spec.replicas, 1);
    assert.deepEqual(body.spec.strategy, { type: 'RollingUpdate', rollingUpdate });
  });

  it('are not another address for a Service that was given its own', () => {
    const { client } = fixture();
    const services = '/api/v1/namespaces/default/services';
    const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    const clusterIP = '10.96.7.7';
    client.post(services, { ...service, spec: { ...service.spec, clusterIP } });
    const { status, body } = client.put(`${services}/s`, service);
    assert.deepEqual([status, body.spec.clusterIPs], [200, [clusterIP]]);
  });

  it('do not change the type of a Secret unseen', () => {
    const { client } = fixture();
    const secrets = '/api/v1/namespaces/default/secrets';
    const secret = { metadata: { name: 's' }, data: {} };
    client.post(secrets, { ...secret, type: 'example.com/token' });
    const { status, body } = client.put(`${secrets}/s`, secret);
    const text = 'Secret "s" is invalid: type: Invalid value: "Opaque": field is immutable';
    assert.deepEqual([status, body.message], [422, text]);
  });
});

describe('what was loaded without defaults', () => {
  const metadata = { name: 'web', namespace: 'default', uid: 'uid-of-web' };

  it('is a pod that may be labelled', () => {
    const { api, client } = fixture();
    const pod = podNamed('web', {}, { namespace: 'default' });
    api.load([{ apiVersion: 'v1', kind: 'Pod', ...pod }]);
    const { status, body } = client.patch(`${pods}/web`, { metadata: { labels } });
    assert.deepEqual([status, body.metadata.labels], [200, labels]);
  });

  it('is a Deployment that goes on with the ReplicaSet it has', () => {
    const replicated = { ...workload.spec, replicas: 2 };
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-of-web' };
    const ownerReferences = [{ ...owner, controller: true }];
    const itsOwn = { ...metadata, uid: 'uid-of-set', labels, ownerReferences };
    const set = { metadata: itsOwn, spec: replicated };
    const snapshot = [
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: replicated },
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', ...set },
    ];
    const { api, untilIdle } = virtualCluster({ topology: small(['a']), snapshot });
    untilIdle();
    const path = '/apis/apps/v1/namespaces/default/deployments/web/scale';
    const body = JSON.stringify({ spec: { replicas: 3 } });
    const headers = { 'content-type': merge };
    const sink = { head: () => {}, data: () => {}, end: () => {}, reset: () => {} };
    api.exchange({ method: 'PATCH', path, headers, body }, sink);
    untilIdle();
    assert.equal(stored(api, 'replicasets', 'default', 'web').spec.replicas, 3);
    assert.equal(api.list('replicasets').length, 1);
  });
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deployment } from '../../src/builders.ts';
import { small, virtualCluster } from '../world/virtual-cluster.ts';

const userAgent = 'kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/0/shared-informers';

/** Opens a watch as a client of this name; the result hangs up. */
function follow(
  { api }: ReturnType<typeof virtualCluster>,
  path: string,
  agent: string = userAgent,
  accept: string = 'application/json',
): () => void {
  const request = {
    method: 'GET',
    path: `${path}?watch=true`,
    headers: { 'user-agent': agent, accept },
    body: null,
  };
  return api.exchange(request, { head: () => {}, data: () => {}, end: () => {}, reset: () => {} });
}

function scaleTo({ api }: ReturnType<typeof virtualCluster>, replicas: number): void {
  const web = api.get('deployments', 'shop', 'web') ?? assert.fail('no Deployment');
  api.update('deployments', { ...web, spec: { ...web.spec, replicas } });
}

const replicaSets = '/apis/apps/v1/replicasets';

function running(): ReturnType<typeof virtualCluster> {
  const world = virtualCluster({ topology: small(['a'], [deployment('shop', 'web')]) });
  world.untilIdle();
  return world;
}

it('while a kube-controller-manager follows ReplicaSets, workloads are left to it', () => {
  const world = running();
  const hangUp = follow(world, replicaSets);
  scaleTo(world, 3);
  world.pass(60_000);
  assert.equal(world.api.list('pods', 'shop').length, 1);
  // Its next watch comes in time.
  hangUp();
  world.pass(10_000);
  const hangUpAgain = follow(world, replicaSets);
  world.pass(60_000);
  assert.equal(world.api.list('pods', 'shop').length, 1);
  hangUpAgain();
  world.pass(14_000);
  assert.equal(world.api.list('pods', 'shop').length, 1);
  world.untilIdle();
  assert.equal(world.api.list('pods', 'shop').length, 3);
});

it('its scheduler and its kubelets work all the same', () => {
  const world = running();
  follow(world, replicaSets);
  const [pod] = world.api.list('pods', 'shop');
  assert.ok(pod);
  const { containers } = pod.spec;
  world.api.create('pods', { metadata: { name: 'p', namespace: 'shop' }, spec: { containers } });
  world.pass(10_000);
  assert.equal(world.api.get('pods', 'shop', 'p')?.status.phase, 'Running');
});

for (const [what, path, agent] of [
  ['follows other collections only', '/api/v1/pods', userAgent],
  ['is another program', replicaSets, 'taintmgr/0.1.0'],
] as const) {
  it(`one that ${what} does not stop them`, () => {
    const world = running();
    follow(world, path, agent);
    scaleTo(world, 3);
    world.untilIdle();
    assert.equal(world.api.list('pods', 'shop').length, 3);
  });
}

it('the certificate of the cluster is left to one that follows ConfigMaps, and not to one that follows their metadata', () => {
  const world = virtualCluster({ ca: 'PEM' });
  const hangUp = follow(world, '/api/v1/configmaps');
  const has = (namespace: string): boolean => {
    world.api.create('namespaces', { metadata: { name: namespace } });
    world.pass(1000);
    return world.api.get('configmaps', namespace, 'kube-root-ca.crt') !== null;
  };
  assert.equal(has('beside'), false);
  hangUp();
  world.pass(15_000);
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  follow(world, '/api/v1/configmaps', userAgent, accept);
  follow(world, '/api/v1/namespaces/kube-system/configmaps');
  world.pass(60_000);
  assert.equal(has('alone'), true);
});

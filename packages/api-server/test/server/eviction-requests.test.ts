import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment, pdb } from '@taintmgr/sim-cluster';
import { isTerminating } from '@taintmgr/sim-cluster/server';
import { evictionRequestDefinition } from '../../src/server/eviction-requests.ts';
import { podsOf, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const resource = 'evictionrequests.lifecycle.k8s.io';

function start() {
  const web = deployment('default', 'web', { replicas: 2 });
  const running = virtualCluster({ topology: small(['a', 'b'], [web]), evictionRequestMs: 5000 });
  const { api, pass, untilIdle } = running;
  untilIdle();
  api.create('customresourcedefinitions', evictionRequestDefinition());
  pass(5000);
  const [pod = assert.fail()] = podsOf(api, 'web');
  const request = (uid = pod.metadata.uid): void => {
    const target = { pod: { name: pod.metadata.name, uid } };
    api.create(resource, {
      apiVersion: 'lifecycle.k8s.io/v1alpha1',
      kind: 'EvictionRequest',
      metadata: { name: 'r', namespace: 'default' },
      spec: { target, requester: 'example.com/me', intent: 'Eviction' },
    });
  };
  const isGoing = (): boolean => {
    const found = api.get('pods', 'default', pod.metadata.name);
    return found === null || isTerminating(found);
  };
  const said = (): readonly string[] => {
    const { status } = stored(api, resource, 'default', 'r');
    return (status?.conditions ?? []).map(({ reason }: { reason: string }) => reason);
  };
  return { ...running, request, isGoing, said };
}

describe('an EvictionRequest', () => {
  it('is answered after its time, and is told when the pod is gone', () => {
    const { pass, request, isGoing, said } = start();
    request();
    pass(4999);
    assert.deepEqual([isGoing(), said()], [false, []]);
    pass(1);
    assert.deepEqual([isGoing(), said()], [true, []]);
    pass(10_000);
    assert.deepEqual(said(), ['PodDeleted']);
  });

  it('that is withdrawn in time is not answered', () => {
    const { api, pass, request, isGoing } = start();
    request();
    pass(3000);
    const now = stored(api, resource, 'default', 'r');
    api.update(resource, { ...now, spec: { ...now.spec, intent: 'Withdrawn' } });
    pass(60_000);
    assert.equal(isGoing(), false);
  });

  it('for an earlier pod of the name is told that it is gone, and the next one stays', () => {
    const { pass, request, isGoing, said } = start();
    request('another-uid');
    pass(60_000);
    assert.deepEqual([isGoing(), said()], [false, ['PodDeleted']]);
  });

  it('waits until every budget of the pod allows it', () => {
    const { api, pass, request, isGoing } = start();
    api.create('poddisruptionbudgets', pdb('default', 'web', { minAvailable: 1 }));
    const strict = pdb('default', 'web', { minAvailable: 2 });
    const metadata = { ...strict.metadata, name: 'strict' };
    api.create('poddisruptionbudgets', { ...strict, metadata });
    request();
    pass(60_000);
    assert.equal(isGoing(), false);
    api.delete('poddisruptionbudgets', 'default', 'strict');
    pass(2000);
    assert.equal(isGoing(), true);
  });
});

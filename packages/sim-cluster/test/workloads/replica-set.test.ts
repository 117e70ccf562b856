import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment, pod } from '../../src/builders.ts';
import { isTerminating } from '../../src/controllers/pods.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { podsOf, stored, virtualCluster } from '../world/virtual-cluster.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-of-web' };

interface State {
  readonly nodeName?: string;
  readonly phase?: string;
  readonly isReady?: boolean;
  /** The minute of its creation. */
  readonly born: number;
}

function member(name: string, { nodeName, phase = 'Running', isReady, born }: State): KubeObject {
  const made = pod('default', name, {
    labels: { app: 'web' },
    spec: nodeName ? { nodeName, terminationGracePeriodSeconds: 30 } : {},
  });
  return {
    ...made,
    metadata: {
      ...made.metadata,
      uid: `uid-of-${name}`,
      creationTimestamp: `2025-12-31T23:${born}:00Z`,
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

/** Five pods that count as replicas, from the one that goes first to the last, and one that has ended. */
const members: readonly KubeObject[] = [
  member('waiting', { phase: 'Pending', born: 10 }),
  member('starting', { nodeName: 'a-1', born: 11 }),
  member('young', { nodeName: 'a-1', isReady: true, born: 30 }),
  member('old', { nodeName: 'a-1', isReady: true, born: 20 }),
  member('older', { nodeName: 'a-1', isReady: true, born: 20 }),
  member('ended', { nodeName: 'a-1', phase: 'Failed', born: 40 }),
];

/** A cluster without machines, in which pods are what they are said to be. */
function loaded(replicas: object, pods: readonly KubeObject[]) {
  const { metadata, spec, ...web } = deployment('default', 'web');
  const { replicas: _given, ...rest } = spec;
  const set = {
    ...web,
    kind: 'ReplicaSet',
    metadata: { ...metadata, uid: owner.uid },
    spec: { ...rest, ...replicas },
  };
  return virtualCluster({ snapshot: [set, ...pods], without: ['scheduler', 'garbageCollection'] });
}

describe('a ReplicaSet with too many pods gives up those that are missed least', () => {
  const cases: readonly (readonly [replicas: object, kept: readonly string[]])[] = [
    [{ replicas: 5 }, ['ended', 'old', 'older', 'starting', 'waiting', 'young']],
    [{ replicas: 4 }, ['ended', 'old', 'older', 'starting', 'young']],
    [{ replicas: 3 }, ['ended', 'old', 'older', 'young']],
    [{ replicas: 2 }, ['ended', 'old', 'older']],
    [{ replicas: 1 }, ['ended', 'older']],
    [{ replicas: 0 }, ['ended']],
    [{}, ['ended', 'older']],
  ];
  for (const [replicas, kept] of cases) {
    it(`${JSON.stringify(replicas)} keeps ${kept.join(', ')}`, () => {
      const { api, pass } = loaded(replicas, members);
      pass(1000);
      const left = podsOf(api, 'web').filter((one) => !isTerminating(one));
      assert.deepEqual(left.map(({ metadata }) => metadata.name).sort(), kept);
    });
  }
});

it('a ReplicaSet counts no pod that has ended or is ending, and makes others for them', () => {
  const { api, pass } = loaded({ replicas: 6 }, members);
  pass(1000);
  const { status } = stored(api, 'replicasets', 'default', 'web');
  assert.deepEqual([status.replicas, status.readyReplicas, status.availableReplicas], [6, 3, 3]);
  assert.equal(podsOf(api, 'web').length, 7);
  api.delete('pods', 'default', 'young');
  pass(1000);
  assert.equal(podsOf(api, 'web').length, 8);
  assert.equal(stored(api, 'replicasets', 'default', 'web').status.readyReplicas, 2);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Rollout as Outcome } from '@taintmgr/page';
import {
  Cluster,
  daemonSet,
  deployment,
  type KubeObject,
  pdb,
  statefulSet,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { Rollout } from '../../../../src/commands/simulate/apply/rollout.ts';

interface World {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
}

/** Three nodes with the workloads web, db and agent, at rest. */
function world(): World {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const workloads = [
    deployment('shop', 'web', { replicas: 3 }),
    statefulSet('shop', 'db', { replicas: 3 }),
    daemonSet('shop', 'agent'),
  ];
  const nodes = { region: 'r', zones: ['a'], nodesPerZone: 3 };
  const topology = { ...nodes, workloads, budgets: [pdb('shop', 'web', { minAvailable: 2 })] };
  const cluster = new Cluster({ clock, seed: 1, topology });
  cluster.start();
  clock.advanceTo(clock.now() + 120_000);
  return { cluster, clock };
}

function rolloutOf(...objects: readonly KubeObject[]): Rollout {
  const applied = objects.map(({ kind = '', metadata: { namespace = '', name } }) => {
    return { file: '', line: 1, kind, namespace, name, change: 'changed', fields: [] } as const;
  });
  return new Rollout({ objects, applied });
}

function played({ cluster, clock }: World, rollout: Rollout, which: 'before' | 'after'): Outcome {
  const work = rollout[which](cluster, (instant) => clock.advanceTo(instant));
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

const manifest = (kind: string, name: string, spec: object): KubeObject => {
  return { apiVersion: 'apps/v1', kind, metadata: { namespace: 'shop', name }, spec };
};
const image = (name: string): object => ({
  template: { spec: { containers: [{ name, image: 'registry.example/new:2' }] } },
});

/** The number of pods of a workload that have the new image. */
function updated({ cluster }: World, name: string): number {
  const pods = cluster.api.list('pods').filter(({ metadata }) => metadata.name.startsWith(name));
  return pods.filter(({ spec }) => spec.containers[0].image.endsWith('new:2')).length;
}

describe('a rollout comes to rest', () => {
  const cases: readonly (readonly [
    what: string,
    object: KubeObject,
    name: string,
    updatedPods: number,
    leastSeconds: number,
  ])[] = [
    ['of a Deployment', manifest('Deployment', 'web', image('web')), 'web', 3, 3],
    ['of a StatefulSet', manifest('StatefulSet', 'db', image('db')), 'db', 3, 6],
    ['of a DaemonSet, on each node', manifest('DaemonSet', 'agent', image('agent')), 'agent', 3, 6],
    [
      'of a DaemonSet that waits for its pods to be deleted',
      manifest('DaemonSet', 'agent', { ...image('agent'), updateStrategy: { type: 'OnDelete' } }),
      ...(['agent', 0, 2] as const),
    ],
    [
      'of a StatefulSet down to its partition',
      manifest('StatefulSet', 'db', {
        ...image('db'),
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
      }),
      ...(['db', 1, 3] as const),
    ],
    [
      'of pods that have to be ready for longer than anything else may stand still',
      manifest('Deployment', 'web', {
        ...image('web'),
        minReadySeconds: 900,
        progressDeadlineSeconds: 9000,
      }),
      ...(['web', 3, 1800] as const),
    ],
  ];
  for (const [what, object, name, pods, least] of cases) {
    it(what, () => {
      const one = world();
      const { seconds, unfinished } = played(one, rolloutOf(object), 'after');
      assert.deepEqual(unfinished, []);
      assert.ok(seconds >= least, `${seconds} s`);
      assert.equal(updated(one, name), pods);
    });
  }

  it('and the cluster as it is waits as long', () => {
    const rollout = rolloutOf(manifest('Deployment', 'web', image('web')));
    const [one, other] = [world(), world()];
    const after = played(one, rollout, 'after');
    const before = played(other, rollout, 'before');
    assert.equal(before.seconds, after.seconds);
    assert.equal(other.clock.now(), one.clock.now());
    assert.equal(updated(other, 'web'), 0);
  });

  it('at once where nothing moves', () => {
    const rollout = new Rollout({ objects: [], applied: [] });
    assert.deepEqual(played(world(), rollout, 'after'), {
      ...{ seconds: 0, unfinished: [], closedBudgets: [] },
    });
  });
});

describe('a rollout does not come to rest', () => {
  it('where its pods have no room, and has what there is of budgets', () => {
    const resources = { requests: { cpu: '900' } };
    const containers = [{ name: 'web', image: 'registry.example/new:2', resources }];
    const object = manifest('Deployment', 'web', { template: { spec: { containers } } });
    const budget = {
      ...manifest('PodDisruptionBudget', 'web', { maxUnavailable: 0 }),
      apiVersion: 'policy/v1',
    };
    const { seconds, unfinished, closedBudgets } = played(
      world(),
      rolloutOf(object, budget),
      'after',
    );
    assert.ok(seconds > 600 && seconds < 700, `${seconds} s`);
    assert.deepEqual(
      unfinished.map(({ workload, text }) => [workload, text.replace(/: 0\/3 nodes.*/, '')]),
      [['Deployment shop/web', '1 of 3 pods updated; 1 of its pods fits on no node']],
    );
    assert.deepEqual(closedBudgets, [{ namespace: 'shop', name: 'web', pods: 3 }]);
  });

  it('where a machine is dead', () => {
    const one = world();
    one.cluster.node('a-2').stop();
    const rollout = rolloutOf(manifest('DaemonSet', 'agent', image('agent')));
    const [unfinished] = played(one, rollout, 'after').unfinished;
    assert.match(
      unfinished?.text ?? '',
      /^\d of 3 pods updated; pod agent-\w+ on a-2 does not end$/,
    );
  });

  it('within two hours, where it goes on for longer', () => {
    const object = manifest('Deployment', 'web', {
      ...image('web'),
      minReadySeconds: 7000,
      progressDeadlineSeconds: 9000,
    });
    const { seconds, unfinished } = played(world(), rolloutOf(object), 'after');
    assert.ok(seconds >= 7200 && seconds < 7300, `${seconds} s`);
    assert.deepEqual(unfinished, [
      { workload: 'Deployment shop/web', text: '2 of 3 pods updated; the rollout continues' },
    ]);
  });
});

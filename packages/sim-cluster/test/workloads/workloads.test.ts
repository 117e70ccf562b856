import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonSet, deployment, statefulSet, toleration } from '../../src/builders.ts';
import { conditionOf, isReady, isTerminating } from '../../src/controllers/pods.ts';
import { daemonTolerations } from '../../src/workloads/daemon-set.ts';
import {
  placesOf,
  podsOf,
  setSpec,
  setTaints,
  small,
  stored,
  virtualCluster,
} from '../world/virtual-cluster.ts';

const zones = ['a', 'b', 'c'];

describe('a Deployment', () => {
  const start = () => {
    const topology = small(zones, [deployment('default', 'web', { replicas: 3 })]);
    const running = virtualCluster({ topology });
    running.untilIdle();
    return running;
  };

  it('owns a ReplicaSet that owns its pods, named and labelled by the template', () => {
    const { api } = start();
    const [set] = api.list('replicasets');
    const hash = set?.metadata.labels?.['pod-template-hash'];
    assert.equal(set?.metadata.name, `web-${hash}`);
    assert.equal(set?.metadata.ownerReferences?.[0]?.kind, 'Deployment');
    for (const { metadata, spec } of podsOf(api, 'web')) {
      assert.match(metadata.name, new RegExp(`^web-${hash}-[a-z0-9]{5}$`));
      assert.equal(metadata.labels?.['pod-template-hash'], hash);
      assert.deepEqual(metadata.ownerReferences, [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `web-${hash}`,
          uid: set?.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      assert.ok(spec.nodeName);
    }
    const { status } = stored(api, 'deployments', 'default', 'web');
    assert.equal(status.availableReplicas, 3);
    assert.equal(conditionOf({ metadata: { name: '' }, status }, 'Available')?.status, 'True');
  });

  it('keeps the numbers of a rolling update whose type is left out, and gets the others', () => {
    const { api } = start();
    const made = deployment('default', 'api', { replicas: 1 });
    const strategy = { rollingUpdate: { maxSurge: 0 } };
    const { spec } = api.create('deployments', { ...made, spec: { ...made.spec, strategy } });
    const rollingUpdate = { maxSurge: 0, maxUnavailable: '25%' };
    assert.deepEqual(spec.strategy, { type: 'RollingUpdate', rollingUpdate });
  });

  it('gets a pod back on another node when one leaves a tainted node', () => {
    const { api, untilIdle } = start();
    const [lost] = podsOf(api, 'web').filter(({ spec }) => spec.nodeName === 'b-1');
    setTaints(api, 'b-1', 'maintenance:NoExecute');
    api.delete('pods', 'default', lost?.metadata.name ?? '');
    untilIdle();
    assert.deepEqual(
      placesOf(api, 'web').filter((place) => place === 'b-1'),
      [],
    );
    assert.equal(podsOf(api, 'web').length, 3);
    assert.ok(!podsOf(api, 'web').some(({ metadata }) => metadata.name === lost?.metadata.name));
  });

  it('starts the replacement while the old pod still ends', () => {
    const { api, pass } = start();
    const [first] = podsOf(api, 'web');
    api.delete('pods', 'default', first?.metadata.name ?? '');
    pass(100);
    assert.deepEqual(podsOf(api, 'web').map(isTerminating).sort(), [false, false, false, true]);
  });

  it('follows its scale in both directions', () => {
    const { api, untilIdle } = start();
    for (const replicas of [5, 1, 0, 2]) {
      setSpec(api, 'deployments', stored(api, 'deployments', 'default', 'web'), { replicas });
      untilIdle();
      assert.equal(podsOf(api, 'web').length, replicas);
    }
  });

  it('rolls a new template out without losing ready pods', () => {
    const { api, untilIdle } = start();
    const before = stored(api, 'deployments', 'default', 'web');
    const { template } = before.spec;
    const containers = [{ ...template.spec.containers[0], image: 'registry.example/web:2.0' }];
    let fewest = 3;
    api.subscribe(() => {
      fewest = Math.min(fewest, podsOf(api, 'web').filter(isReady).length);
    });
    const next = { ...template, spec: { ...template.spec, containers } };
    setSpec(api, 'deployments', before, { template: next });
    untilIdle();
    const images = podsOf(api, 'web').map(({ spec }) => spec.containers[0].image);
    assert.deepEqual(images, Array(3).fill('registry.example/web:2.0'));
    assert.equal(fewest, 3);
    assert.deepEqual(
      api
        .list('replicasets')
        .map(({ spec, metadata }) => [
          spec.replicas,
          metadata.annotations?.['deployment.kubernetes.io/revision'],
        ])
        .sort(),
      [
        [0, '1'],
        [3, '2'],
      ],
    );
  });

  it('takes its ReplicaSet and pods with it', () => {
    const { api, until } = start();
    api.delete('deployments', 'default', 'web');
    until(() => podsOf(api, 'web').length === 0, 'no pods');
    assert.equal(api.list('replicasets').length, 0);
  });

  const policies: readonly (readonly [finalizer: string, sets: number, pods: number])[] = [
    ['orphan', 1, 3],
    ['foregroundDeletion', 0, 0],
  ];
  for (const [finalizer, sets, pods] of policies) {
    it(`leaves ${sets} ReplicaSets and ${pods} pods when its deletion says ${finalizer}`, () => {
      const { api, pass } = start();
      const web = stored(api, 'deployments', 'default', 'web');
      api.update('deployments', { ...web, metadata: { ...web.metadata, finalizers: [finalizer] } });
      api.delete('deployments', 'default', 'web');
      pass(10_000);
      assert.equal(api.get('deployments', 'default', 'web'), null);
      assert.equal(api.list('replicasets').length, sets);
      assert.equal(podsOf(api, 'web').length, pods);
      assert.deepEqual(
        api.list('replicasets').flatMap(({ metadata }) => metadata.ownerReferences ?? []),
        [],
      );
    });
  }

  it('leaves a pod that has another owner beside the one that goes', () => {
    const { api, pass } = start();
    const [shared] = podsOf(api, 'web');
    assert.ok(shared);
    const owner = { apiVersion: 'v1', kind: 'Thing', name: 'thing', uid: 'uid-of-thing' };
    const ownerReferences = [...(shared.metadata.ownerReferences ?? []), owner];
    api.update('pods', { ...shared, metadata: { ...shared.metadata, ownerReferences } });
    api.delete('deployments', 'default', 'web');
    pass(10_000);
    assert.deepEqual(
      podsOf(api, 'web').map(({ metadata }) => metadata.name),
      [shared.metadata.name],
    );
  });

  it('replaces the pods of a node that was removed once they are collected', () => {
    const { api, cluster, pass, untilIdle } = start();
    cluster.removeNode('a-1');
    pass(39_000);
    assert.equal(placesOf(api, 'web').filter((place) => place === 'a-1').length, 1);
    pass(21_000);
    untilIdle();
    assert.deepEqual(new Set(placesOf(api, 'web')), new Set(['b-1', 'c-1']));
    assert.equal(api.get('leases', 'kube-node-lease', 'a-1'), null);
  });

  it('gets back a pod that hangs on a dead node when it is declared out of service', () => {
    const { api, cluster, pass, untilIdle } = start();
    cluster.node('a-1').setCondition('Ready', false);
    pass(0);
    cluster.node('a-1').stop();
    const [stuck] = podsOf(api, 'web').filter(({ spec }) => spec.nodeName === 'a-1');
    api.delete('pods', 'default', stuck?.metadata.name ?? '');
    pass(600_000);
    assert.ok(api.get('pods', 'default', stuck?.metadata.name ?? ''));
    setTaints(api, 'a-1', 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute');
    pass(20_100);
    assert.equal(api.get('pods', 'default', stuck?.metadata.name ?? ''), null);
    cluster.removeNode('a-1');
    untilIdle();
  });
});

describe('a StatefulSet', () => {
  const start = (spec = {}) => {
    const topology = small(zones, [statefulSet('default', 'db', { replicas: 3, spec })]);
    return virtualCluster({ topology });
  };
  const uidOf = (api: Parameters<typeof stored>[0], name: string): string | undefined =>
    api.get('pods', 'default', name)?.metadata.uid;

  it('creates its pods one after the other', () => {
    const { api, untilIdle } = start();
    const events: string[] = [];
    api.subscribe(({ type, resource, object, previous }) => {
      if (resource !== 'pods') return;
      if (type === 'ADDED') events.push(`${object.metadata.name} created`);
      if (isReady(object) && previous && !isReady(previous)) {
        events.push(`${object.metadata.name} ready`);
      }
    });
    untilIdle();
    assert.deepEqual(events, [
      'db-0 created',
      'db-0 ready',
      'db-1 created',
      'db-1 ready',
      'db-2 created',
      'db-2 ready',
    ]);
    const { metadata } = stored(api, 'pods', 'default', 'db-1');
    assert.equal(metadata.labels?.['statefulset.kubernetes.io/pod-name'], 'db-1');
    assert.equal(metadata.labels?.['apps.kubernetes.io/pod-index'], '1');
  });

  it('gives a pod its name back under a new uid, only when the old one is gone', () => {
    const { api, pass, untilIdle } = start();
    untilIdle();
    const old = uidOf(api, 'db-1');
    api.delete('pods', 'default', 'db-1');
    pass(500);
    assert.equal(uidOf(api, 'db-1'), old);
    untilIdle();
    assert.notEqual(uidOf(api, 'db-1'), old);
    assert.ok(isReady(stored(api, 'pods', 'default', 'db-1')));
  });

  it('waits for a pod that cannot end because its kubelet has stopped', () => {
    const { api, cluster, pass, untilIdle } = start();
    untilIdle();
    const { spec, metadata } = stored(api, 'pods', 'default', 'db-1');
    cluster.node(spec.nodeName).stop();
    api.delete('pods', 'default', 'db-1');
    pass(3_600_000);
    assert.equal(uidOf(api, 'db-1'), metadata.uid);
    cluster.node(spec.nodeName).resume();
    untilIdle();
    assert.notEqual(uidOf(api, 'db-1'), metadata.uid);
  });

  it('scales down from the highest number, one at a time', () => {
    const { api, untilIdle } = start();
    untilIdle();
    const deleted: string[] = [];
    api.subscribe(({ type, resource, object }) => {
      if (resource === 'pods' && type === 'DELETED') deleted.push(object.metadata.name);
    });
    setSpec(api, 'statefulsets', stored(api, 'statefulsets', 'default', 'db'), { replicas: 1 });
    untilIdle();
    assert.deepEqual(deleted, ['db-2', 'db-1']);
  });

  it('creates all pods at once when told to', () => {
    const { api, until, pass } = start({ podManagementPolicy: 'Parallel' });
    until(() => podsOf(api, 'db').length > 0, 'a pod');
    pass(0);
    assert.equal(podsOf(api, 'db').length, 3);
  });

  it('rolls a new template out from the highest number down', () => {
    const { api, untilIdle } = start();
    untilIdle();
    const set = stored(api, 'statefulsets', 'default', 'db');
    const { template } = set.spec;
    const deleted: string[] = [];
    api.subscribe(({ type, resource, object }) => {
      if (resource === 'pods' && type === 'DELETED') deleted.push(object.metadata.name);
    });
    const labels = { ...template.metadata.labels, version: '2' };
    setSpec(api, 'statefulsets', set, { template: { ...template, metadata: { labels } } });
    untilIdle();
    assert.deepEqual(deleted, ['db-2', 'db-1', 'db-0']);
    assert.deepEqual(
      podsOf(api, 'db').map(({ metadata }) => metadata.labels?.version),
      ['2', '2', '2'],
    );
  });
});

describe('a DaemonSet', () => {
  const start = (...tolerations: readonly ReturnType<typeof toleration>[]) => {
    const topology = small(zones, [daemonSet('default', 'agent', { tolerations })]);
    const running = virtualCluster({ topology });
    running.untilIdle();
    return running;
  };

  it('has one pod on every node, also on one that joins and on one that is cordoned', () => {
    const { api, cluster, untilIdle } = start();
    assert.deepEqual(placesOf(api, 'agent'), ['a-1', 'b-1', 'c-1']);
    const { status } = stored(api, 'daemonsets', 'default', 'agent');
    assert.equal(status.desiredNumberScheduled, 3);
    assert.equal(status.numberReady, 3);
    cluster.addNode({ name: 'd-1' });
    setSpec(api, 'nodes', stored(api, 'nodes', '', 'b-1'), { unschedulable: true });
    untilIdle();
    api.delete('pods', 'default', podsOf(api, 'agent')[0]?.metadata.name ?? '');
    untilIdle();
    assert.deepEqual(placesOf(api, 'agent'), ['a-1', 'b-1', 'c-1', 'd-1']);
  });

  const taints: readonly (readonly [taint: string, tolerated: boolean, places: number])[] = [
    ['k=v:NoSchedule', false, 3],
    ['k=v:NoExecute', false, 2],
    ['k=v:NoSchedule', true, 3],
    ['k=v:NoExecute', true, 3],
    ['node.kubernetes.io/unreachable:NoExecute', false, 3],
  ];
  for (const [text, tolerated, places] of taints) {
    it(`keeps ${places} of 3 pods when a node gets ${text}, ${tolerated ? '' : 'not '}tolerated`, () => {
      const { api, untilIdle, pass } = start(...(tolerated ? [toleration(text)] : []));
      setTaints(api, 'b-1', text);
      pass(60_000);
      untilIdle();
      assert.equal(placesOf(api, 'agent').length, places);
      const { status } = stored(api, 'daemonsets', 'default', 'agent');
      // A taint under which the pod stays is noticed at the next look only.
      const wanted = places;
      assert.equal(status.desiredNumberScheduled, wanted);
      assert.equal(status.numberMisscheduled, places - wanted);
    });
  }

  it('puts no new pod on a node whose NoSchedule taint is not tolerated', () => {
    const { api, untilIdle } = start();
    setTaints(api, 'b-1', 'k:NoSchedule');
    const [pod] = podsOf(api, 'agent').filter(({ spec }) => spec.nodeName === 'b-1');
    api.delete('pods', 'default', pod?.metadata.name ?? '');
    untilIdle();
    assert.deepEqual(placesOf(api, 'agent'), ['a-1', 'c-1']);
    setTaints(api, 'b-1');
    untilIdle();
    assert.deepEqual(placesOf(api, 'agent'), ['a-1', 'b-1', 'c-1']);
  });

  it('takes back a pod that waits for a node which is gone', () => {
    const topology = small(zones, [daemonSet('default', 'agent')]);
    const { api, cluster, pass } = virtualCluster({ topology, without: ['scheduler'] });
    pass(10_000);
    assert.equal(podsOf(api, 'agent').length, 3);
    cluster.removeNode('b-1');
    pass(10_000);
    assert.equal(podsOf(api, 'agent').length, 3);
    // At its next look.
    setSpec(api, 'daemonsets', stored(api, 'daemonsets', 'default', 'agent'), {
      minReadySeconds: 1,
    });
    pass(100);
    assert.equal(podsOf(api, 'agent').length, 2);
  });

  it('merges its tolerations into those of the template', () => {
    const own = toleration('node.kubernetes.io/not-ready:NoExecute', 60);
    const wide = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 };
    const keys = (list: ReturnType<typeof daemonTolerations>) =>
      list.map(({ key, effect }) => `${key?.replace('node.kubernetes.io/', '')}:${effect}`);
    const merged = daemonTolerations([wide, own], false);
    assert.deepEqual(keys(merged), [
      'undefined:NoExecute',
      'not-ready:NoExecute',
      'unreachable:NoExecute',
      'disk-pressure:NoSchedule',
      'memory-pressure:NoSchedule',
      'pid-pressure:NoSchedule',
      'unschedulable:NoSchedule',
    ]);
    assert.deepEqual(merged[0], wide);
    assert.ok(!('tolerationSeconds' in (merged[1] ?? {})));
    assert.equal(keys(daemonTolerations([], true)).at(-1), 'network-unavailable:NoSchedule');
  });
});

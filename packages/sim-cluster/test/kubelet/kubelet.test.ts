import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { job, pod } from '../../src/builders.ts';
import { conditionOf, isReady } from '../../src/controllers/pods.ts';
import { small, start, stored, virtualCluster } from '../world/virtual-cluster.ts';

const leasesPath = 'kube-node-lease';

describe('a kubelet and its node', () => {
  it('registers the node with its labels and becomes Ready after the start-up time', () => {
    const { api, pass } = virtualCluster({ topology: small(['a']) });
    pass(999);
    const fresh = stored(api, 'nodes', '', 'a-1');
    assert.deepEqual(fresh.metadata.labels, {
      'beta.kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': 'a-1',
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/region': 'r',
      'topology.kubernetes.io/zone': 'a',
    });
    assert.equal(conditionOf(fresh, 'Ready')?.reason, 'KubeletNotReady');
    assert.equal(fresh.spec.taints[0].key, 'node.kubernetes.io/not-ready');
    pass(1);
    const ready = stored(api, 'nodes', '', 'a-1');
    assert.ok(isReady(ready));
    assert.equal(ready.spec.taints, undefined);
    const types = ready.status.conditions.map(({ type }: { type: string }) => type);
    assert.deepEqual(types, ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready']);
  });

  it('renews its lease every 10 s and repeats its status every 5 min', () => {
    const { api, clock, pass } = virtualCluster({ topology: small(['a']) });
    const leases: string[] = [];
    const reports: number[] = [];
    api.subscribe(({ resource, object, previous }) => {
      if (resource === 'leases') leases.push(object.spec.renewTime);
      const beat = (node: typeof previous) => node && conditionOf(node, 'Ready')?.lastHeartbeatTime;
      if (resource === 'nodes' && beat(object) !== beat(previous)) {
        reports.push(clock.now() - start);
      }
    });
    pass(701_500);
    assert.deepEqual(leases.slice(0, 3), [
      '2026-01-01T00:00:01.000000Z',
      '2026-01-01T00:00:11.000000Z',
      '2026-01-01T00:00:21.000000Z',
    ]);
    assert.equal(leases.length, 71);
    assert.deepEqual(reports, [0, 1000, 301_000, 601_000]);
    const lease = stored(api, 'leases', leasesPath, 'a-1');
    assert.equal(lease.spec.leaseDurationSeconds, 40);
    assert.equal(lease.spec.holderIdentity, 'a-1');
    assert.equal(
      lease.metadata.ownerReferences?.[0]?.uid,
      api.get('nodes', '', 'a-1')?.metadata.uid,
    );
  });

  it('corrects a status that somebody else wrote at its next heartbeat', () => {
    const { api, pass } = virtualCluster({ topology: small(['a']) });
    pass(12_000);
    const node = stored(api, 'nodes', '', 'a-1');
    const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }];
    api.update('nodes', { ...node, status: { ...node.status, conditions } }, 'status');
    pass(8999);
    assert.ok(!isReady(stored(api, 'nodes', '', 'a-1')));
    pass(1);
    assert.ok(isReady(stored(api, 'nodes', '', 'a-1')));
  });

  it('sends nothing while stopped and reports at once when resumed', () => {
    const { api, cluster, pass } = virtualCluster({ topology: small(['a']) });
    pass(15_000);
    let writes = 0;
    const close = api.subscribe(() => void writes++);
    cluster.node('a-1').stop();
    pass(3_600_000);
    assert.equal(writes, 0);
    close();
    cluster.node('a-1').resume();
    pass(0);
    const { renewTime } = stored(api, 'leases', leasesPath, 'a-1').spec;
    assert.equal(renewTime, '2026-01-01T01:00:15.000000Z');
    const ready = conditionOf(stored(api, 'nodes', '', 'a-1'), 'Ready');
    assert.equal(ready?.lastHeartbeatTime, '2026-01-01T01:00:15Z');
    assert.equal(ready?.lastTransitionTime, '2026-01-01T00:00:01Z');
  });
});

describe('a kubelet and its pods', () => {
  const onNode = (grace: number) => {
    const running = virtualCluster({ topology: small(['a']) });
    running.pass(5000);
    const spec = { nodeName: 'a-1', terminationGracePeriodSeconds: grace };
    running.api.create('pods', pod('default', 'p', { spec: { ...pod('', 'p').spec, ...spec } }));
    return running;
  };

  it('creates containers and then reports them running and ready', () => {
    const { api, pass } = onNode(30);
    pass(0);
    const creating = stored(api, 'pods', 'default', 'p').status;
    assert.equal(creating.phase, 'Pending');
    assert.equal(creating.hostIP, '10.0.0.1');
    assert.equal(creating.startTime, '2026-01-01T00:00:05Z');
    assert.equal(creating.containerStatuses[0].state.waiting.reason, 'ContainerCreating');
    pass(1999);
    assert.equal(stored(api, 'pods', 'default', 'p').status.phase, 'Pending');
    pass(1);
    const { status } = stored(api, 'pods', 'default', 'p');
    assert.equal(status.phase, 'Running');
    assert.equal(status.podIP, '10.128.1.2');
    assert.equal(status.containerStatuses[0].state.running.startedAt, '2026-01-01T00:00:07Z');
    const trueOnes = status.conditions
      .filter((condition: { status: string }) => condition.status === 'True')
      .map((condition: { type: string }) => condition.type)
      .sort();
    assert.deepEqual(trueOnes, [
      'ContainersReady',
      'Initialized',
      'PodReadyToStartContainers',
      'PodScheduled',
      'Ready',
    ]);
  });

  const endings: readonly (readonly [name: string, grace: number, stop: number, gone: number])[] = [
    ['stops by itself within the grace period', 30, 3000, 3000],
    ['is killed at the end of the grace period', 5, 60_000, 5000],
  ];
  for (const [name, grace, stop, gone] of endings) {
    it(`ends a pod that ${name}`, () => {
      const timing = { podStopMs: [stop, stop] } as const;
      const { api, pass } = virtualCluster({ topology: small(['a']), timing });
      pass(5000);
      const spec = { nodeName: 'a-1', terminationGracePeriodSeconds: grace };
      api.create('pods', pod('default', 'p', { spec: { ...pod('', 'p').spec, ...spec } }));
      pass(10_000);
      api.delete('pods', 'default', 'p');
      pass(gone - 1);
      assert.equal(stored(api, 'pods', 'default', 'p').status.phase, 'Running');
      const phases: string[] = [];
      api.subscribe(({ type, object }) => phases.push(`${type} ${object.status.phase}`));
      pass(1);
      assert.equal(api.get('pods', 'default', 'p'), null);
      const phase = stop < grace * 1000 ? 'Succeeded' : 'Failed';
      assert.deepEqual(phases.slice(0, 1), [`MODIFIED ${phase}`]);
      assert.equal(phases.at(-1), `DELETED ${phase}`);
    });
  }

  const exits: readonly (readonly [policy: string, stop: number, code: number, phase: string])[] = [
    ['Always', 1000, 0, 'Succeeded'],
    ['Never', 1000, 143, 'Failed'],
    ['OnFailure', 1000, 143, 'Failed'],
    ['Always', 60_000, 137, 'Failed'],
    ['Never', 60_000, 137, 'Failed'],
  ];
  for (const [restartPolicy, stop, code, phase] of exits) {
    it(`that is asked to stop and takes ${stop} ms exits with ${code}: ${restartPolicy}`, () => {
      const timing = { podStopMs: [stop, stop] } as const;
      const { api, pass } = virtualCluster({ topology: small(['a']), timing });
      pass(5000);
      const spec = { ...pod('', 'p').spec, nodeName: 'a-1', restartPolicy };
      api.create('pods', pod('default', 'p', { spec }));
      pass(10_000);
      const last: unknown[] = [];
      api.subscribe(({ object, type }) => {
        const [{ state }] = object.status?.containerStatuses ?? [{}];
        if (type === 'DELETED') last.push(object.status.phase, state.terminated.exitCode);
      });
      api.delete('pods', 'default', 'p');
      pass(60_000);
      assert.deepEqual(last, [phase, code]);
    });
  }

  it("gives a pod of the host's network the address of the node", () => {
    const { api, pass } = virtualCluster({ topology: small(['a']) });
    pass(5000);
    const spec = { ...pod('', 'p').spec, nodeName: 'a-1', hostNetwork: true };
    api.create('pods', pod('default', 'p', { spec }));
    pass(10_000);
    const { status } = stored(api, 'pods', 'default', 'p');
    assert.equal(status.podIP, status.hostIP);
  });

  it('obeys a grace period that is shortened while the pod ends', () => {
    const timing = { podStopMs: [60_000, 60_000] } as const;
    const { api, pass } = virtualCluster({ topology: small(['a']), timing });
    pass(5000);
    api.create('pods', pod('default', 'p', { spec: { ...pod('', 'p').spec, nodeName: 'a-1' } }));
    pass(10_000);
    api.delete('pods', 'default', 'p');
    pass(4000);
    api.delete('pods', 'default', 'p', { gracePeriodSeconds: 2 });
    pass(1999);
    assert.ok(api.get('pods', 'default', 'p'));
    pass(1);
    assert.equal(api.get('pods', 'default', 'p'), null);
  });

  it('deletes a pod whose containers were never started at once', () => {
    const { api, pass } = onNode(30);
    pass(500);
    api.delete('pods', 'default', 'p');
    pass(0);
    assert.equal(api.get('pods', 'default', 'p'), null);
  });

  it('neither starts nor ends pods while it is stopped, and catches up afterwards', () => {
    const { api, cluster, pass } = onNode(30);
    pass(3000);
    cluster.node('a-1').stop();
    api.delete('pods', 'default', 'p');
    const spec = { ...pod('', 'q').spec, nodeName: 'a-1' };
    api.create('pods', pod('default', 'q', { spec }));
    pass(600_000);
    assert.equal(stored(api, 'pods', 'default', 'p').status.phase, 'Running');
    assert.equal(stored(api, 'pods', 'default', 'q').status.startTime, undefined);
    cluster.node('a-1').resume();
    pass(2000);
    assert.equal(api.get('pods', 'default', 'p'), null);
    assert.ok(isReady(stored(api, 'pods', 'default', 'q')));
  });

  it('reports a running pod ready again when somebody marked it otherwise', () => {
    const { api, pass } = onNode(30);
    pass(3000);
    const running = stored(api, 'pods', 'default', 'p');
    const conditions = [{ type: 'Ready', status: 'False' }];
    api.update('pods', { ...running, status: { ...running.status, conditions } }, 'status');
    pass(0);
    assert.ok(isReady(stored(api, 'pods', 'default', 'p')));
  });

  it('leaves what somebody says of a pod that has ended, also of one that is ending', () => {
    const { api, pass } = onNode(30);
    pass(3000);
    const mark = (reason: string): void => {
      const found = stored(api, 'pods', 'default', 'p');
      api.update(
        'pods',
        { ...found, status: { ...found.status, phase: 'Failed', reason } },
        'status',
      );
    };
    mark('Lost');
    pass(60_000);
    assert.equal(stored(api, 'pods', 'default', 'p').status.phase, 'Failed');
    api.delete('pods', 'default', 'p');
    pass(0);
    api.create('pods', pod('default', 'p', { spec: { ...pod('', 'p').spec, nodeName: 'a-1' } }));
    pass(3000);
    const last: unknown[] = [];
    api.subscribe(({ type, object: { status } }) => {
      if (type === 'DELETED') last.push(status.phase, status.reason);
    });
    api.delete('pods', 'default', 'p');
    pass(500);
    mark('Evicted');
    pass(10_000);
    assert.deepEqual(last, ['Failed', 'Evicted']);
  });

  it('neither starts nor ends what it was about to when it was stopped', () => {
    const { api, cluster, pass } = onNode(30);
    pass(3000);
    api.delete('pods', 'default', 'p');
    api.create('pods', pod('default', 'q', { spec: { ...pod('', 'q').spec, nodeName: 'a-1' } }));
    pass(500);
    cluster.node('a-1').stop();
    pass(600_000);
    assert.equal(stored(api, 'pods', 'default', 'p').status.phase, 'Running');
    assert.equal(stored(api, 'pods', 'default', 'q').status.phase, 'Pending');
  });

  it('goes on with what it does when it is told to resume while it works', () => {
    const { api, cluster, pass } = onNode(30);
    pass(1999);
    cluster.node('a-1').resume();
    pass(1);
    assert.equal(stored(api, 'pods', 'default', 'p').status.phase, 'Running');
  });

  it('treats a pod that took the name of another as a new one', () => {
    const { api, pass } = onNode(30);
    pass(3000);
    api.delete('pods', 'default', 'p', { gracePeriodSeconds: 0 });
    api.create('pods', pod('default', 'p', { spec: { ...pod('', 'p').spec, nodeName: 'a-1' } }));
    pass(0);
    const reason = (): unknown =>
      stored(api, 'pods', 'default', 'p').status.containerStatuses[0].state.waiting?.reason;
    assert.equal(reason(), 'ContainerCreating');
    pass(2000);
    assert.ok(isReady(stored(api, 'pods', 'default', 'p')));
  });

  it('starts a pod that sleeps again and again where it is always restarted', () => {
    const { api, pass } = virtualCluster({ topology: small(['a']) });
    pass(5000);
    const { spec } = job('default', 'p', 60).spec.template;
    const always = { ...spec, nodeName: 'a-1', restartPolicy: 'Always' };
    api.create('pods', pod('default', 'p', { spec: always }));
    pass(600_000);
    assert.ok(isReady(stored(api, 'pods', 'default', 'p')));
  });

  it('lets a pod that sleeps run to its end', () => {
    const { api, pass } = virtualCluster({ topology: small(['a']) });
    pass(5000);
    const { spec } = job('default', 'p', 60).spec.template;
    api.create('pods', pod('default', 'p', { spec: { ...spec, nodeName: 'a-1' } }));
    pass(61_999);
    assert.equal(stored(api, 'pods', 'default', 'p').status.phase, 'Running');
    pass(1);
    const { status } = stored(api, 'pods', 'default', 'p');
    assert.equal(status.phase, 'Succeeded');
    assert.equal(status.containerStatuses[0].state.terminated.reason, 'Completed');
  });
});

describe('the times of a certain pod', () => {
  /** A pod on a node whose kubelet takes it to be so. */
  function timed(times: object, restartPolicy = 'Always') {
    const podStartMs = [2000, 2000] as const;
    const podStopMs = [3000, 3000] as const;
    const ofPod = () => ({ podStartMs, podStopMs, ...times });
    const running = virtualCluster({ topology: small(['a']), timing: { ofPod } });
    running.pass(5000);
    const { spec } = pod('default', 'p');
    const made = { ...spec, nodeName: 'a-1', restartPolicy, terminationGracePeriodSeconds: 30 };
    running.api.create('pods', pod('default', 'p', { spec: made }));
    const found = () => stored(running.api, 'pods', 'default', 'p');
    return { ...running, found };
  }

  for (const [exitCode, phase] of [
    [0, 'Succeeded'],
    [7, 'Failed'],
  ] as const) {
    it(`end it by itself, with ${exitCode}`, () => {
      const { found, pass } = timed({ podRun: { ms: 1500, exitCode } }, 'Never');
      pass(3499);
      assert.equal(found().status.phase, 'Running');
      pass(1);
      assert.equal(found().status.phase, phase);
      assert.equal(found().status.containerStatuses[0].state.terminated.exitCode, exitCode);
    });
  }

  it('let it run and never get ready', () => {
    const { found, pass } = timed({ neverReady: true });
    pass(60_000);
    assert.equal(found().status.phase, 'Running');
    assert.equal(isReady(found()), false);
  });

  for (const [stopsUnstarted, leftMs] of [
    [false, 0],
    [true, 3000],
  ] as const) {
    it(`${stopsUnstarted ? '' : 'do not '}hold one that has not started`, () => {
      const { api, pass } = timed({ stopsUnstarted });
      pass(1000);
      api.delete('pods', 'default', 'p');
      const isThere = (): boolean => api.get('pods', 'default', 'p') !== null;
      if (leftMs > 0) pass(leftMs - 1);
      assert.equal(isThere(), true);
      pass(1);
      assert.equal(isThere(), false);
    });
  }

  it('keep it for a moment after its last status', () => {
    const { api, found, pass } = timed({ podRemovalMs: 500 });
    pass(2000);
    api.delete('pods', 'default', 'p');
    pass(3000);
    assert.equal(found().status.phase, 'Succeeded');
    pass(499);
    assert.ok(found());
    pass(1);
    assert.equal(api.get('pods', 'default', 'p'), null);
  });
});

it('a kubelet says that a pod is not ready, and ready again', () => {
  const { api, cluster, pass } = virtualCluster({ topology: small(['a']) });
  pass(5000);
  const { spec } = pod('default', 'p');
  api.create('pods', pod('default', 'p', { spec: { ...spec, nodeName: 'a-1' } }));
  pass(2000);
  const found = () => stored(api, 'pods', 'default', 'p');
  for (const ready of [false, true]) {
    cluster.node('a-1').setPodReady(found(), ready);
    pass(0);
    assert.equal(isReady(found()), ready);
    assert.equal(found().status.containerStatuses[0].ready, ready);
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isReady } from '../src/controllers/pods.ts';
import type { KubeObject } from '../src/objects/kube-object.ts';
import { formatMicroTime, formatTime } from '../src/objects/time.ts';
import { threeZones } from '../src/topology.ts';
import {
  podsOf,
  setSpec,
  setTaints,
  start,
  stored,
  virtualCluster,
} from './world/virtual-cluster.ts';

/** What `kubectl get nodes,pods,pdb,leases,deploy,rs,sts,ds -A` takes of a cluster. */
const taken = [
  'nodes',
  'pods',
  'poddisruptionbudgets',
  'leases',
  'deployments',
  'replicasets',
  'statefulsets',
  'daemonsets',
];

/** The three zones after a while, with the names another cluster gives to its revisions. */
function snapshot(): readonly unknown[] {
  const { api, untilIdle } = virtualCluster({ topology: threeZones });
  untilIdle();
  const items = taken.flatMap((resource) => api.list(resource));
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata: {}, items });
  const foreign = text
    .replaceAll(/("pod-template-hash":")/g, '$1x')
    .replaceAll(/("controller-revision-hash":")/g, '$1x')
    .replaceAll(/("(?:current|update)Revision":")/g, '$1x');
  return [JSON.parse(foreign)];
}

const identities = (pods: readonly KubeObject[]): readonly string[] =>
  pods.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).sort();

describe('a snapshot', () => {
  const taken = snapshot();

  it('is there from the start, and by default nothing acts on its nodes', () => {
    const { api, cluster, pass } = virtualCluster({ snapshot: taken, without: ['workloads'] });
    const { loaded, unloaded } = cluster.loadReport;
    assert.deepEqual([loaded, unloaded], [api.list('pods').length + 28, []]);
    const { resourceVersion } = stored(api, 'nodes', '', 'zone-a-1').metadata;
    pass(3_600_000);
    assert.equal(stored(api, 'nodes', '', 'zone-a-1').metadata.resourceVersion, resourceVersion);
    assert.throws(() => cluster.node('zone-a-1'), /no kubelet/);
  });

  it('that is adopted goes on as if nothing had happened', () => {
    const { api, pass } = virtualCluster({ snapshot: taken, adopt: true });
    const before = identities(api.list('pods'));
    const written = new Set<string>();
    api.subscribe(({ resource, type, object }) => {
      // The job of the snapshot comes to its end.
      if (object.metadata.labels?.app !== 'report') written.add(`${type} ${resource}`);
    });
    pass(600_000);
    assert.deepEqual([...written].sort(), ['MODIFIED leases', 'MODIFIED nodes']);
    assert.deepEqual(identities(api.list('pods')), before);
  });

  it('that is adopted replaces what is deleted, tainted away or scaled', () => {
    const { api, untilIdle } = virtualCluster({ snapshot: taken, adopt: true });
    const address = stored(api, 'nodes', '', 'zone-b-2').status.addresses[0].address;
    untilIdle();
    setTaints(api, 'zone-a-1', 'k:NoExecute');
    for (const app of ['web', 'db', 'node-agent']) {
      const { namespace = '', name } = podsOf(api, app)[0]?.metadata ?? assert.fail(app);
      api.delete('pods', namespace, name);
    }
    setSpec(api, 'deployments', stored(api, 'deployments', 'shop', 'web'), { replicas: 8 });
    untilIdle();
    const ready = (app: string): number => podsOf(api, app).filter(isReady).length;
    assert.deepEqual([ready('web'), ready('db'), ready('node-agent')], [8, 3, 9]);
    assert.equal(api.list('replicasets').length, 3);
    const moved = api
      .list('pods')
      .find(({ spec, status }) => spec.nodeName === 'zone-b-2' && status.hostIP);
    assert.equal(moved?.status.hostIP, address);
  });

  it('keeps pods whose owner was not taken, and their siblings', () => {
    const { api, untilIdle } = virtualCluster({ snapshot: taken, adopt: true });
    assert.equal(api.list('jobs').length, 0);
    assert.equal(podsOf(api, 'report').length, 1);
    untilIdle();
    assert.equal(podsOf(api, 'report').length, 1);
    api.delete('deployments', 'shop', 'api');
    untilIdle();
    assert.deepEqual(podsOf(api, 'api'), []);
  });

  it('gives no kubelet to a node that nobody has heard of', () => {
    const text = JSON.stringify(taken);
    const lost = JSON.parse(text)[0];
    for (const { kind, metadata, status } of lost.items) {
      if (kind !== 'Node' || metadata.name !== 'zone-c-1') continue;
      for (const condition of status.conditions) condition.status = 'Unknown';
    }
    const { cluster, pass } = virtualCluster({ snapshot: [lost], adopt: true });
    pass(60_000);
    assert.equal(cluster.node('zone-c-2').isRunning, true);
    assert.throws(() => cluster.node('zone-c-1'), /no kubelet/);
  });

  it('lets kubelets renew at the moments at which they did before', () => {
    const found = JSON.parse(JSON.stringify(taken));
    const isLease = ({ kind }: KubeObject): boolean => kind === 'Lease';
    const leases: readonly KubeObject[] = found[0].items.filter(isLease);
    for (const [index, { spec }] of leases.entries()) {
      spec.renewTime = formatMicroTime(start - 9_000 + 500 * index);
    }
    const { api, pass } = virtualCluster({ snapshot: found, adopt: true });
    pass(30_000);
    const sinceThen = leases.map(({ metadata, spec }) => {
      const renewed = stored(api, 'leases', 'kube-node-lease', metadata.name).spec.renewTime;
      return Date.parse(renewed) - Date.parse(spec.renewTime);
    });
    assert.equal(leases.length, api.list('nodes').length);
    assert.deepEqual([...new Set(sinceThen)], [30_000]);
  });

  it('goes on with pods that are on their way in and out', () => {
    const isMeant = ({ kind, metadata }: KubeObject): boolean =>
      kind === 'Pod' && metadata.labels?.app === 'web';
    /** How long it takes until the first two pods of web are ready, and gone. */
    const left = (agoMs: number): readonly number[] => {
      const found = JSON.parse(JSON.stringify(taken));
      const ago = formatTime(start - agoMs);
      for (const { kind, spec } of found[0].items) {
        if (kind === 'Lease') spec.renewTime = formatMicroTime(start);
      }
      const [coming, going]: readonly KubeObject[] = found[0].items.filter(isMeant);
      if (!coming || !going) throw new Error('there are no pods of web');
      const conditions = [{ type: 'PodScheduled', status: 'True', lastTransitionTime: ago }];
      Object.assign(coming, { status: { phase: 'Pending', conditions } });
      const deletionTimestamp = formatTime(start - agoMs + 30_000);
      Object.assign(going.metadata, { deletionTimestamp, deletionGracePeriodSeconds: 30 });
      const podTiming = { podStartMs: [10_000, 10_000], podStopMs: [20_000, 20_000] } as const;
      const { api, pass } = virtualCluster({ snapshot: found, adopt: true, timing: podTiming });
      const names = [coming, going].map(({ metadata }) => metadata.name);
      const at = [0, 0];
      for (let second = 1; second <= 30; second++) {
        pass(1000);
        const [one, two] = names.map((name) => api.get('pods', 'shop', name));
        if (at[0] === 0 && one && isReady(one)) at[0] = second;
        if (at[1] === 0 && !two) at[1] = second;
      }
      return at;
    };
    assert.deepEqual(left(0), [10, 20]);
    assert.deepEqual(left(4_000), [6, 16]);
    assert.deepEqual(left(60_000), [1, 1], 'at once');
  });

  it('gives no kubelet to a node whose lease was not renewed when others were', () => {
    for (const [behindMs, isAlive] of [
      [20_000, true],
      [20_001, false],
    ] as const) {
      const found = JSON.parse(JSON.stringify(taken));
      for (const { kind, metadata, spec } of found[0].items) {
        if (kind !== 'Lease') continue;
        const late = metadata.name === 'zone-c-1' ? behindMs : 0;
        spec.renewTime = formatMicroTime(start - late);
      }
      const { cluster } = virtualCluster({ snapshot: found, adopt: true });
      assert.equal(cluster.hasKubelet('zone-c-1'), isAlive);
    }
  });

  describe('with a pod that runs and is not ready', () => {
    type Statuses = Readonly<Record<string, string>>;
    const cases: readonly (readonly [string, Statuses, boolean, boolean])[] = [
      ['its containers are not', { Ready: 'False', ContainersReady: 'False' }, false, false],
      ['a container is not', { Ready: 'False' }, false, false],
      ['its kubelet said that its containers are not', { ContainersReady: 'False' }, true, false],
      ['its node was not heard of', { Ready: 'False' }, true, true],
    ];

    /** The three zones with one pod of web, web-1, in such a state. */
    function adopted(statuses: Statuses, ready: boolean) {
      const found = JSON.parse(JSON.stringify(taken));
      const isMeant = ({ kind, metadata }: KubeObject): boolean =>
        kind === 'Pod' && metadata.labels?.app === 'web';
      const pod: KubeObject = found[0].items.find(isMeant);
      for (const condition of pod.status.conditions) {
        condition.status = statuses[condition.type] ?? condition.status;
        if (statuses.ContainersReady && condition.type === 'Ready') condition.status = 'False';
      }
      for (const container of pod.status.containerStatuses) container.ready = ready;
      const { name } = pod.metadata;
      return { ...virtualCluster({ snapshot: found, adopt: true }), pod, name };
    }

    for (const [what, statuses, ready, expected] of cases) {
      it(`${expected ? 'makes it ready' : 'leaves it so'} where ${what}`, () => {
        const { api, cluster, pass, pod, name } = adopted(statuses, ready);
        const isReadyNow = () => isReady(stored(api, 'pods', 'shop', name));
        assert.equal(isReadyNow(), false);
        pass(60_000);
        assert.equal(isReadyNow(), expected);
        // A kubelet that is restarted knows no more than the first one.
        const kubelet = cluster.node(pod.spec.nodeName);
        kubelet.stop();
        kubelet.resume();
        pass(60_000);
        assert.equal(isReadyNow(), expected);
      });
    }

    it('replaces it by one that is ready', () => {
      const { api, untilIdle, name } = adopted({ Ready: 'False' }, false);
      api.delete('pods', 'shop', name);
      untilIdle();
      assert.ok(podsOf(api, 'web').every(isReady));
    });
  });
});

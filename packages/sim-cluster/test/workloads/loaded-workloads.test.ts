import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { daemonSet, deployment, job, statefulSet } from '../../src/builders.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import {
  podsOf,
  setSpec,
  setTaints,
  small,
  stored,
  virtualCluster,
} from '../world/virtual-cluster.ts';

// Workloads of another cluster, and what became of them while nobody looked.

const zones = ['a', 'b', 'c'];
const taken = [
  'nodes',
  'pods',
  'leases',
  'statefulsets',
  'daemonsets',
  'deployments',
  'replicasets',
];

/** Another cluster that has what this one has, as `edit` makes it of its text. */
function loadedFrom(api: PlainServer, edit: (text: string) => string) {
  const items = taken.flatMap((resource) => api.list(resource));
  const text = edit(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  return virtualCluster({ snapshot: [JSON.parse(text)], adopt: true });
}

/** As Kubernetes names revisions, by rules of its own. */
const renamed = (text: string): string =>
  text
    .replaceAll('"controller-revision-hash":"', '"controller-revision-hash":"x')
    .replaceAll(/("(?:current|update)Revision":")/g, '$1x');
const forms: Readonly<Record<string, (text: string) => string>> = {
  'as it is': renamed,
  'with the null that older API servers show': (text) =>
    renamed(text).replaceAll(
      '"template":{"metadata":{',
      '"template":{"metadata":{"creationTimestamp":null,',
    ),
  'without all defaults': (text) =>
    renamed(text).replaceAll('"terminationMessagePath":"/dev/termination-log",', ''),
};
const workloads: readonly (readonly [resource: string, KubeObject, change: object])[] = [
  ['statefulsets', statefulSet('default', 'web', { replicas: 2 }), { replicas: 3 }],
  ['daemonsets', daemonSet('default', 'web'), { minReadySeconds: 1 }],
  ['deployments', deployment('default', 'web', { replicas: 2 }), { replicas: 3 }],
];

describe('a change that leaves the template alone replaces no pod of a loaded workload', () => {
  for (const [form, edit] of Object.entries(forms)) {
    for (const [resource, workload, change] of workloads) {
      it(`${resource}, ${form}`, () => {
        const first = virtualCluster({ topology: small(zones, [workload]) });
        first.untilIdle();
        const { api, untilIdle, pass } = loadedFrom(first.api, edit);
        const before = podsOf(first.api, 'web').map(({ metadata }) => metadata.uid);
        untilIdle();
        setSpec(api, resource, stored(api, resource, 'default', 'web'), change);
        pass(120_000);
        const after = new Set(podsOf(api, 'web').map(({ metadata }) => metadata.uid));
        assert.deepEqual(
          before.filter((uid) => !after.has(uid)),
          [],
        );
      });
    }
  }
});

it('a Deployment whose ReplicaSet was released makes another one', () => {
  const web = deployment('default', 'web', { replicas: 2 });
  const { api, untilIdle, pass } = virtualCluster({ topology: small(zones, [web]) });
  untilIdle();
  const [set = assert.fail('it has none')] = api.list('replicasets');
  const metadata = { ...set.metadata, labels: { app: 'other' } };
  api.update('replicasets', { ...set, metadata });
  pass(60_000);
  const owners = api.list('replicasets').map((one) => one.metadata.ownerReferences?.length ?? 0);
  assert.deepEqual(owners.sort(), [0, 1]);
});

it('a pod that a DaemonSet does not want any more does not name its new revision', () => {
  const { api, untilIdle, pass } = virtualCluster({ topology: small(['a', 'b'], []) });
  untilIdle();
  setTaints(api, 'b-1', 'k=v:NoSchedule');
  api.create('daemonsets', daemonSet('default', 'agent'));
  pass(10_000);
  setTaints(api, 'a-1', 'k=v:NoSchedule');
  setTaints(api, 'b-1');
  pass(20_000);
  const set = stored(api, 'daemonsets', 'default', 'agent');
  const { template } = set.spec;
  const labels = { ...template.metadata.labels, version: '2' };
  let created = 0;
  api.subscribe(
    ({ type }) => {
      if (type === 'ADDED') created += 1;
    },
    new Set(['pods']),
  );
  setSpec(api, 'daemonsets', set, { template: { ...template, metadata: { labels } } });
  pass(300_000);
  assert.equal(created, 1);
});

describe('what changed while the cluster was stopped', () => {
  it('a pod that its owner does not select any more is released', () => {
    const web = deployment('default', 'web', { replicas: 2 });
    const { api, cluster, untilIdle, pass } = virtualCluster({ topology: small(zones, [web]) });
    untilIdle();
    cluster.stop();
    const [first = assert.fail('it has none')] = podsOf(api, 'web');
    api.update('pods', { ...first, metadata: { ...first.metadata, labels: { app: 'debug' } } });
    cluster.start();
    pass(60_000);
    assert.equal(podsOf(api, 'web').length, 2);
  });

  it('a Job goes on from what others have counted', () => {
    const four = job('default', 'four', 20, { completions: 4 });
    const { api, cluster, until, pass } = virtualCluster({ topology: small(zones, [four]) });
    const isOne = () => api.get('jobs', 'default', 'four')?.status?.succeeded === 1;
    until(isOne, 'one has succeeded');
    cluster.stop();
    const now = stored(api, 'jobs', 'default', 'four');
    api.update('jobs', { ...now, status: { ...now.status, succeeded: 3 } }, 'status');
    cluster.start();
    pass(5_000);
    assert.equal(stored(api, 'jobs', 'default', 'four').status.succeeded, 3);
  });
});

// What the last leader has seen of pauses counts while no controller runs, for all who foretell: one that
// is there no more gives its time back, as it does when a controller starts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type KubeObject, node, pod, toleration } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { leaveTaints, startWithDefinitions, type TestCluster } from '../world/test-cluster.ts';

const group = { apiVersion: 'taintmgr.dev/v1alpha1' };
const managers = 'taintmanagers.taintmgr.dev';
const pauses = 'evictionpauses.taintmgr.dev';

/** So many seconds ago. */
function ago(seconds: number): string {
  return new Date(Date.now() - seconds * 1000).toISOString();
}

/** What a leader has left that was heard of so many seconds ago. */
function publish({ api }: TestCluster, seconds: number, status: object): void {
  const object = { ...group, kind: 'TaintManager', metadata: { name: 'taintmgr' } };
  const known = api.get(managers, '', 'taintmgr') ?? api.create(managers, object);
  const common = {
    leader: 'cp-1_7',
    renewTime: ago(seconds).replace('Z', '000Z'),
    settings: { mode: 'evict' },
    controllers: ['taint-eviction-controller'],
  };
  api.update(managers, { ...known, status: { ...common, ...status } } as KubeObject, 'status');
}

/** The pod's time as `explain`, `pending` and `status` have it. */
async function said(): Promise<readonly string[]> {
  const [explained, pending, status] = await Promise.all([
    run('explain', 'node', 'n1', '-o', 'json'),
    run('pending', '-A', '-o', 'json'),
    run('status', '-o', 'json'),
  ]);
  const [one] = JSON.parse(explained.out).pods;
  const [row] = JSON.parse(pending.out).items;
  const [zone] = JSON.parse(status.out).zones;
  const left = (time: string | undefined): string => {
    if (time === undefined) return 'held';
    const minutes = Math.round((Date.parse(time) - Date.now()) / 60_000);
    return minutes < 0 ? 'overdue' : `${minutes}m`;
  };
  const next = zone.nextSeconds as number | undefined;
  const inZone = zone.overdue > 0 ? 'overdue' : `${Math.round((next ?? -60) / 60)}m`;
  return [left(one.deadline), left(row.deadline), zone.held > 0 ? 'held' : inZone];
}

describe('while no controller runs', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    leaveTaints(api);
    const bad = { key: 'bad', effect: 'NoExecute', timeAdded: ago(1800) };
    api.create('nodes', node('n1', { spec: { taints: [bad] } }));
    const tolerations = [{ ...toleration('bad:NoExecute', 600) }];
    const made = pod('default', 'a', { spec: { nodeName: 'n1', tolerations } });
    api.load([{ ...made, metadata: { ...made.metadata, creationTimestamp: ago(7200) } }]);
  });
  after(() => cluster.stop());

  const overdue = ['overdue', 'overdue', 'overdue'];
  const inFive = ['5m', '5m', '5m'];
  const record = (fields: object = {}): object => ({
    pauseRecords: [{ name: 'night', uid: 'u', since: ago(3600), scope: '{}', ...fields }],
  });
  const fileOf = (uid?: string): object => ({
    policies: [{ kind: 'EvictionPause', name: 'night', spec: '{}', since: ago(3600) }],
    ...record({ uid }),
  });
  const cases: readonly [string, number, object, readonly string[]][] = [
    ['nothing was seen of pauses', 60, {}, overdue],
    ['a pause that is gone gives its time back', 60, record(), ['10m', '10m', '10m']],
    ['one that ended by itself gives back what it took', 60, record({ until: ago(300) }), inFive],
    ['one for other pods gives nothing', 60, record({ scope: '{"namespaces":["x"]}' }), overdue],
    ['nothing counts that a leader has seen who is heard of', 3, record(), overdue],
    ['nothing is gone that the files of the last leader have', 60, fileOf(undefined), overdue],
    ['who does not evict has nothing to say', 60, { ...record(), controllers: ['x'] }, overdue],
  ];
  for (const [name, seconds, status, expected] of cases) {
    it(name, async () => {
      publish(cluster, seconds, status);
      assert.deepEqual(await said(), expected);
    });
  }

  it('a pause that is there still holds', async () => {
    const made = { ...group, kind: 'EvictionPause', metadata: { name: 'night' }, spec: {} };
    const { metadata } = cluster.api.create(pauses, made);
    publish(cluster, 60, record({ uid: metadata.uid }));
    assert.deepEqual(await said(), ['held', 'held', 'held']);
    cluster.api.delete(pauses, '', 'night');
  });
});

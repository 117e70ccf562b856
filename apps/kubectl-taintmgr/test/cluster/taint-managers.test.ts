// A controller without leader election holds no lease: that it acts is known by its heartbeat.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type KubeObject, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { leaveTaints, startWithDefinitions, type TestCluster } from '../world/test-cluster.ts';

const controllers = ['taint-eviction-controller', 'node-lifecycle-controller'];
const settings = { mode: 'evict', 'leader-elect': 'false', 'dry-run': 'none' };

/** What the leader `cp-1_7` published so many seconds ago. */
function publish({ api }: TestCluster, seconds: number, fields: object = {}): void {
  const at = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
  const renewTime = at(Date.now() - seconds * 1000);
  const status = {
    leader: 'cp-1_7',
    startedAt: at(0),
    renewTime,
    settings,
    controllers,
    ...fields,
  };
  const known = api.get('taintmanagers.taintmgr.dev', '', 'taintmgr');
  const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' };
  const created =
    known ??
    api.create('taintmanagers.taintmgr.dev', { ...object, metadata: { name: 'taintmgr' } });
  api.update('taintmanagers.taintmgr.dev', { ...created, status } as KubeObject, 'status');
}

async function evictedBy(): Promise<string> {
  const { code, out, err } = await run('explain', 'node', 'n1');
  assert.equal(code, 0, err);
  assert.equal(
    err.includes('no controller here evicts'),
    /^Evicted by: +no controller$/m.test(out),
    err,
  );
  return /Evicted by:\s+(.*)/.exec(out)?.[1] ?? '';
}

describe('a leader without a lease', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    leaveTaints(api);
    api.create('nodes', node('n1', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }));
    api.create('pods', pod('default', 'a', { spec: { nodeName: 'n1' } }));
  });
  after(() => cluster.stop());

  it('acts as long as its heartbeat is fresh', async () => {
    publish(cluster, 3);
    assert.equal(await evictedBy(), 'taintmgr-controller');
    const { out } = await run('status');
    assert.match(
      out,
      /taintmgr-controller: +runs \(cp-1_7, TaintManager taintmgr, heartbeat \d+s ago\)/,
    );
    publish(cluster, 60);
    assert.equal(await evictedBy(), 'no controller');
  });

  it('does not act where it keeps a score only, or leaves taints to others', async () => {
    publish(cluster, 3, { controllers: ['node-drain-controller'] });
    assert.equal(await evictedBy(), 'no controller');
    publish(cluster, 3, {
      conditions: [
        {
          type: 'Leading',
          status: 'False',
          message: '',
          reason: 'Stopped',
          lastTransitionTime: new Date(0).toISOString(),
        },
      ],
    });
    assert.equal(await evictedBy(), 'no controller');
  });

  it('does not act where it only looks on', async () => {
    const none = { same: 0, earlier: 0, later: 0, kept: 0, onlyTaintmgr: 0, budgetsAsked: 0 };
    const shadow = {
      ...{ since: new Date(0).toISOString().replace('.000', ''), ...none },
      earlierSeconds: { mean: 0, most: 0 },
      laterSeconds: { mean: 0, most: 0 },
      ...{ following: 0, notDeleted: 0, leftOtherwise: 0, givenUp: 0 },
      ...{ taints: [], namespaces: [], policies: [], reasons: [], recent: [] },
    };
    publish(cluster, 3, { shadow });
    assert.equal(await evictedBy(), 'no controller');
    publish(cluster, 3);
    assert.equal(await evictedBy(), 'taintmgr-controller');
  });

  it('does not act where a lease says that nobody leads', async () => {
    publish(cluster, 3);
    const old = '2020-01-02T03:04:05.000000Z';
    cluster.api.create('leases', {
      metadata: { name: 'taintmgr-controller', namespace: 'kube-system' },
      spec: { holderIdentity: 'cp-0_1', leaseDurationSeconds: 15, renewTime: old },
    });
    assert.doesNotMatch(await evictedBy(), /taintmgr-controller/);
    cluster.api.delete('leases', 'kube-system', 'taintmgr-controller');
  });

  it('is named to who would put a NoExecute taint on a node beside it', async () => {
    publish(cluster, 3);
    const drain = ['drain-by-taint', 'x=y:NoExecute', 'n1', '--force'];
    const { out, err } = await run(...drain, '--dry-run=client');
    assert.match(`${out}${err}`, /taintmgr-controller \(cp-1_7, TaintManager taintmgr\)/);
  });
});

// What is simulated of a live cluster, and by whom.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { threeZones } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';
import { startTestCluster, type TestCluster } from '../../../world/test-cluster.ts';

const { write: file } = temporaryFiles();

describe('a live cluster', () => {
  let cluster: TestCluster;
  before(async () => {
    const everything = ['nodes', 'pods'].map((resource) => {
      return { verbs: ['get', 'list'], apiGroups: [''], resources: [resource] };
    });
    cluster = await startTestCluster(threeZones, {
      reader: everything,
      blind: everything.slice(1),
    });
  });
  after(() => cluster.stop());

  it('is read and left as it is', async () => {
    const events = file('live.yaml', 'events:\n- {at: 10s, removeNode: {node: zone-a-1}}\n');
    const access = ['--kubeconfig', cluster.kubeconfig];
    const { code, out, err } = await run('simulate', ...access, '--script', events, '-o', 'json');
    assert.equal(code, 0, err);
    const { source, runs } = JSON.parse(out);
    assert.equal(source, 'the cluster');
    const removed = runs[0].nodes.find(({ name }: { name: string }) => name === 'zone-a-1');
    assert.equal(removed.states.at(-1).ready, 'Gone');
    assert.equal(cluster.api.get('nodes', '', 'zone-a-1')?.metadata.name, 'zone-a-1');
    assert.deepEqual(cluster.api.access.denials, []);
  });

  it('says where there is no node in it, and what to name instead', async (t) => {
    const empty = await startTestCluster(null);
    t.after(() => empty.stop());
    const { code, out, err } = await run('simulate', '--kubeconfig', empty.kubeconfig);
    assert.deepEqual([code, out], [1, '']);
    const want = '--context names another cluster, -f a file';
    assert.equal(err, `error: the cluster has no nodes: there is nothing to simulate; ${want}\n`);
  });

  it('is not simulated in part by somebody who may not see all of it', async () => {
    const access = ['--kubeconfig', cluster.kubeconfig, '--token', 'reader'];
    const { code, out, err } = await run('simulate', ...access);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^error: PodDisruptionBudget: poddisruptionbudgets\.policy is forbidden/m);
    assert.match(err, /--partial simulates the rest\.$/m);
    const partial = await run('simulate', ...access, '--partial', '--until', '1m');
    assert.equal(partial.code, 0, partial.err);
    assert.match(partial.out, /^PARTIAL: /);
    assert.match(partial.out, /^Note: \d+ pods of a ReplicaSet that is not simulated/m);
  });

  it('is not simulated without its nodes', async () => {
    const access = ['--kubeconfig', cluster.kubeconfig, '--token', 'blind'];
    const { code, err } = await run('simulate', ...access, '--partial');
    assert.equal(code, 1);
    assert.match(
      err,
      /^Error from server \(Forbidden\): nodes is forbidden: User "blind" cannot list/,
    );
  });
});

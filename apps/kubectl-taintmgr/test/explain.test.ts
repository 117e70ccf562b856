import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { node, pod, toleration } from '@taintmgr/sim-cluster';
import { run } from './run.ts';
import { startTestCluster, type TestCluster, versions } from './test-cluster.ts';

// `explain node` against an API server over HTTPS.

function secondsAgo(seconds: number): string {
  return `${new Date(Date.now() - seconds * 1000).toISOString().slice(0, 19)}Z`;
}

const known = `\
Name:     known
Taints:   bad=disk:NoExecute   added 42s ago

NAMESPACE   POD           DECISION   IN              BECAUSE
default     known-web     Evict      now, 42s late   no toleration for bad=disk:NoExecute
default     known-db      Evict      59m18s          tolerates bad=disk:NoExecute for 1h
default     known-going   Leaving    -               already terminating
default     known-log     Keep       -               tolerates bad=disk:NoExecute without limit

4 pods: 1 leaving, 2 to evict (next now, last in 59m18s), 1 to keep
`;

describe('explain node', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    const { api } = cluster;
    const timeAdded = secondsAgo(42);
    const added = { key: 'bad', value: 'disk', effect: 'NoExecute', timeAdded };
    api.create('nodes', node('known', { spec: { taints: [added] } }));
    api.create(
      'nodes',
      node('unknown', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }),
    );
    api.create('nodes', node('calm'));
    const on = (nodeName: string, name: string, spec: object = {}) => {
      const created = api.create('pods', pod('default', name, { spec: { nodeName, ...spec } }));
      const status = { ...created.status, startTime: secondsAgo(3600) };
      api.update('pods', { ...created, status }, 'status');
    };
    for (const name of ['known', 'unknown']) {
      on(name, `${name}-web`);
      on(name, `${name}-db`, { tolerations: [toleration('bad:NoExecute', 3600)] });
      on(name, `${name}-log`, { tolerations: [{ operator: 'Exists' }] });
    }
    on('known', 'known-going');
    api.delete('pods', 'default', 'known-going');
  });
  after(() => cluster.stop());

  const explain = (name: string) =>
    run('explain', 'node', name, '--kubeconfig', cluster.kubeconfig);

  it('says of each pod what will become of it, when and why, and changes nothing', async () => {
    const before = versions(cluster.api);
    const { code, out, err } = await explain('known');
    assert.deepEqual([code, err], [0, '']);
    // The machine may have been busy for a second or two.
    const text = out.replaceAll(/4[2-9]s/g, '42s').replaceAll(/59m1\ds/g, '59m18s');
    assert.equal(text, known);
    assert.deepEqual(versions(cluster.api), before);
  });

  it('does not pretend to know when a taint was added', async () => {
    const { code, out, err } = await explain('unknown');
    assert.equal(code, 0);
    assert.match(out, /^Taints: {3}bad:NoExecute {3}added \?$/m);
    assert.match(out, /^default {5}unknown-web {3}Evict {6}now +no toleration for bad:NoExecute$/m);
    assert.match(out, /^default {5}unknown-db {4}Evict {6}1h +tolerates /m);
    assert.match(err, /^Note: nobody wrote when bad:NoExecute was added; .*\n$/);
  });

  it('knows from the annotation when the controller saw a taint', async () => {
    const seenAt = new Date(Date.now() - 3_600_000).toISOString();
    const annotations = {
      'taintmgr.dev/taint-starts': JSON.stringify({ 'bad:NoExecute': seenAt }),
    };
    const spec = { taints: [{ key: 'bad', effect: 'NoExecute' }] };
    const one = node('seen', { spec });
    cluster.api.create('nodes', { ...one, metadata: { ...one.metadata, annotations } });
    const { code, out, err } = await explain('seen');
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^Taints: {3}bad:NoExecute {3}seen 1h(\ds)? ago$/m);
  });

  it('a node without taints and pods', async () => {
    const out = 'Name:     calm\nTaints:   no NoExecute taints\n\nNo pods on this node.\n';
    assert.deepEqual(await explain('calm'), { code: 0, out, err: '' });
  });
});

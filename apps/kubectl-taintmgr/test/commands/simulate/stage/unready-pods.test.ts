import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment, node, pdb, pod } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

const readAt = '2026-05-01T00:00:00Z';

/** Three pods of a Deployment, on node b the second; as many of them are not ready as `crashing`. */
function snapshot(crashing: number): readonly object[] {
  const web = deployment('shop', 'web', { replicas: 3 });
  const labels = { app: 'web', 'pod-template-hash': 'x' };
  const ownedBy = (kind: string, name: string, uid: string): readonly object[] => {
    return [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }];
  };
  const pods = ['a', 'b', 'a'].map((nodeName, index) => {
    const isReady = index < 3 - crashing;
    const made = pod('shop', `web-x-${index}`, { labels, spec: { nodeName } });
    const metadata = {
      ...{ uid: `p${index}`, creationTimestamp: readAt },
      ownerReferences: ownedBy('ReplicaSet', 'web-x', 'r'),
    };
    const conditions = [
      { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: readAt },
    ];
    const containerStatuses = [{ name: 'c', ready: isReady, restartCount: isReady ? 0 : 50 }];
    const status = { phase: 'Running', startTime: readAt, conditions, containerStatuses };
    return { ...made, metadata: { ...made.metadata, ...metadata }, status };
  });
  const spec = { replicas: 3, selector: { matchLabels: labels } };
  const metadata = { namespace: 'shop', name: 'web-x', uid: 'r', labels };
  return [
    node('a'),
    node('b'),
    { ...web, metadata: { ...web.metadata, uid: 'd' } },
    {
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
      metadata: { ...metadata, ownerReferences: ownedBy('Deployment', 'web', 'd') },
      spec: { ...spec, template: { metadata: { labels }, spec: web.spec.template.spec } },
    },
    pdb('shop', 'web', { minAvailable: 2 }),
    ...pods,
  ];
}

const cases = [
  [0, 'lets a pod go where all are ready', 1, false, []],
  [
    ...([1, 'refuses where one is not ready', 0, true] as const),
    ['1 pod is not ready: it stays so until it is replaced'],
  ],
  [
    ...([2, 'refuses where two are not ready', 0, true] as const),
    ['2 pods are not ready: they stay so until they are replaced'],
  ],
] as const;

describe('a budget of a snapshot', () => {
  for (const [crashing, what, evictions, isRefused, notes] of cases) {
    it(what, async () => {
      const items = snapshot(crashing);
      const source = file(
        'cluster.json',
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      );
      const event = ['--event', '{at: 1m, drain: {node: b}}'];
      const { code, out, err } = await run('simulate', '-f', source, ...event, '-o', 'json');
      assert.equal(code, 0, err);
      const found = JSON.parse(out);
      const { summary } = found.runs[0];
      // The first one says who is played.
      assert.deepEqual(found.notes.slice(1), notes);
      assert.deepEqual([summary.evictions, summary.refusals > 0], [evictions, isRefused]);
    });
  }
});

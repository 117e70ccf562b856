import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node, pod } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

const taintedAt = '2026-05-01T00:00:00Z';
/** The last time that anything speaks of: the simulation begins there. */
const readAt = '2026-05-01T00:01:40Z';

/** A pod that may stay for five minutes on a node that was tainted 100 s ago. */
function snapshot(): readonly object[] {
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: readAt }];
  const taints = [{ key: 'm', value: 'x', effect: 'NoExecute', timeAdded: taintedAt }];
  const tolerations = [
    { key: 'm', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ];
  const made = pod('shop', 'web', { spec: { nodeName: 'n1', tolerations } });
  const creationTimestamp = '2026-04-01T00:00:00Z';
  const status = { phase: 'Running', startTime: creationTimestamp, conditions };
  return [
    node('n1', { spec: { taints }, status: { conditions } }),
    node('n2'),
    { ...made, metadata: { ...made.metadata, creationTimestamp }, status },
  ];
}

/** The lease of a kube-controller-manager that leads since then. */
function managerLease(acquireTime: string): object {
  const holder = { holderIdentity: 'm', leaseDurationSeconds: 15, renewTime: acquireTime };
  return {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
    metadata: { namespace: 'kube-system', name: 'kube-controller-manager' },
    spec: { ...holder, acquireTime },
  };
}

/** When the pod is evicted: by kube-controller-manager, which acts there, and by taintmgr. */
async function evictedAt(
  items: readonly object[],
  ...args: readonly string[]
): Promise<readonly number[]> {
  const source = file('cluster.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const { code, out, err } = await run(
    'simulate',
    '-f',
    source,
    '--compare',
    ...args,
    '-o',
    'json',
  );
  assert.equal(code, 0, err);
  const { runs }: { readonly runs: readonly { readonly evictions: readonly { at: number }[] }[] } =
    JSON.parse(out);
  return runs.map(({ evictions }) => evictions[0]?.at ?? Number.NaN);
}

describe('a snapshot with a taint that is 100 s old', () => {
  it('is played with the timers that kube-controller-manager has', async () => {
    assert.deepEqual(await evictedAt(snapshot()), [200, 201]);
  });

  it('is played with timers no older than its kube-controller-manager', async () => {
    const lease = managerLease('2026-05-01T00:01:00.000000Z');
    assert.deepEqual(await evictedAt([...snapshot(), lease]), [260, 201]);
  });

  it('is played with timers that begin anew where kube-controller-manager is restarted', async () => {
    const restart = ['--event', '{at: 1m, restartController: {}, lasts: 10s}'];
    const [upstream, precise] = await evictedAt(snapshot(), ...restart);
    assert.equal(precise, 201);
    assert.ok(upstream !== undefined && upstream >= 370 && upstream < 372, `${upstream}`);
  });
});

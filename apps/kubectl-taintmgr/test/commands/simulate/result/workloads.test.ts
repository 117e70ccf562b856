import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkloadTrack } from '@taintmgr/page';
import { type KubeObject, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

/** What becomes of a workload: when it wants how many pods, and when how many serve. */
async function trackOf(
  name: string,
  source: string,
  ...args: readonly string[]
): Promise<Pick<WorkloadTrack, 'states' | 'serving'> | null> {
  const { code, out, err } = await run('simulate', '-f', source, ...args, '-o', 'json');
  assert.equal(code, 0, err);
  const { runs }: { readonly runs: readonly { readonly workloads: readonly WorkloadTrack[] }[] } =
    JSON.parse(out);
  return runs[0]?.workloads.find((one) => one.name === name) ?? null;
}

describe('how many pods a DaemonSet wants', () => {
  const topology = `
apiVersion: taintmgr.dev/v1alpha1
kind: Topology
nodes:
- {name: 'n', zone: z, count: 4}
workloads:
- {kind: DaemonSet, name: infra/agent, startTime: 2s, stopTime: 1s, tolerations: [{operator: Exists}]}
- {kind: DaemonSet, name: infra/plain, startTime: 2s, stopTime: 1s}
`;
  const twoOutages = `events:
- {at: 1m, stopKubelet: {node: n-1}, lasts: 4m}
- {at: 15m, stopKubelet: {node: n-2}, lasts: 4m}
`;
  const sameName = `events:
- {at: 1m, taint: {node: n-1, taint: 'maint=x:NoExecute'}, lasts: 3m}
- {at: 10m, removeNode: {node: n-2}}
- {at: 10m5s, addNode: {name: n-2, zone: z}}
`;
  const besideAnother = `events:
- {at: 1m, taint: {node: n-1, taint: 'kernel=old:NoSchedule'}}
- {at: 2m, stopKubelet: {node: n-2}, lasts: 4m}
- {at: 4m, untaint: {node: n-1, taint: 'kernel:NoSchedule'}}
`;
  const another = 'events:\n- {at: 1m, addNode: {name: m-1, zone: z}}\n';
  const cases = [
    ['plain', 'is as it was after each outage', twoOutages, 90, 4],
    ['plain', 'is as it was when the second machine fails', twoOutages, 930, 4],
    ['plain', 'is as it was when a taint is gone', sameName, 590, 4],
    ['agent', 'is as it was when a node is back under its name', sameName, 900, 4],
    [
      'plain',
      'is not less for a node that is down, nor for one that took no new pods',
      besideAnother,
      300,
      4,
    ],
    ['plain', 'is more where a node comes, once its pod was ready', another, 120, 5],
  ] as const;
  for (const [name, what, script, second, wanted] of cases) {
    it(`${what} (${name})`, async () => {
      const events = ['--script', file('events.yaml', script)];
      const track = await trackOf(name, file('topology.yaml', topology), ...events);
      assert.equal(track?.states.findLast(({ at }) => at <= second)?.wanted, wanted);
      assert.equal(track.serving.at(-1)?.pods, track.states.at(-1)?.wanted);
    });
  }

  it('is less by a pod that was never ready, so that nobody misses it', async () => {
    const events = ['--script', file('events.yaml', another)];
    const track = await trackOf('plain', file('topology.yaml', topology), ...events);
    const serving = (second: number) => track?.serving.findLast(({ at }) => at <= second)?.pods;
    for (const { at, wanted } of track?.states ?? []) assert.equal(serving(at), wanted, `at ${at}`);
  });
});

describe('pods that nobody recreates', () => {
  const steps = [{ apiVersion: 'x.io/v1', kind: 'Workflow', name: 'steps', uid: 'w' }];
  const ownerReferences = steps.map((owner) => ({ ...owner, controller: true }));
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2026-05-01T00:00:00Z' };

  /** A pod on the node, of nobody or of what is not simulated. */
  function onNode(
    name: string,
    phase: string,
    metadata: object,
    spec: { readonly [field: string]: string } = {},
  ): KubeObject {
    const made = pod('shop', name, { spec: { nodeName: 'n1', ...spec } });
    const conditions = phase === 'Running' ? [ready] : [];
    return {
      ...made,
      metadata: { ...made.metadata, uid: name, ...metadata },
      status: { phase, startTime: '2026-05-01T00:00:00Z', conditions },
    };
  }

  const going = { deletionTimestamp: '2026-05-01T00:00:20Z', deletionGracePeriodSeconds: 30 };
  const cases = [
    ['has succeeded', 'Succeeded', {}],
    ['has failed', 'Failed', {}],
    ['has succeeded, of an owner that is not simulated', 'Succeeded', { ownerReferences }],
    ['is ending', 'Running', going],
  ] as const;
  for (const [what, phase, metadata] of cases) {
    it(`are not down where one ${what}`, async () => {
      const items = [node('n1'), onNode('one', phase, metadata), onNode('live', 'Running', {})];
      const source = file('cluster.json', JSON.stringify({ kind: 'List', items }));
      const until = ['--until', '10m', '--fail-if', 'down(shop/*) > 0'];
      const { code, err } = await run('simulate', '-f', source, ...until);
      assert.equal(code, 0, err);
    });
  }

  it('are not down any more where one that was not ready has done its work', async () => {
    const one = onNode('one', 'Running', {});
    const unready = {
      ...one,
      spec: {
        ...{ nodeName: 'n1', restartPolicy: 'Never' },
        containers: [
          { name: 'long', image: 'one', command: ['sleep', '60'] },
          { name: 'short', image: 'one', command: ['sleep', '1'] },
        ],
      },
      status: {
        ...{ phase: 'Running', startTime: '2026-05-01T00:00:00Z' },
        conditions: [{ ...ready, status: 'False' }],
        containerStatuses: [
          { name: 'long', ready: true, restartCount: 0 },
          { name: 'short', ready: false, restartCount: 0 },
        ],
      },
    };
    const items = [node('n1'), unready, onNode('live', 'Running', {})];
    const source = file('cluster.json', JSON.stringify({ kind: 'List', items }));
    const track = await trackOf('one', source, '--until', '10m');
    assert.deepEqual(
      track?.states.map(({ wanted }) => wanted),
      [1, 0],
    );
  });

  it('are down where one is evicted', async () => {
    const items = [node('n1'), onNode('one', 'Running', {})];
    const source = file('cluster.json', JSON.stringify({ kind: 'List', items }));
    const event = ['--event', '{at: 1m, taint: {node: n1, taint: "a:NoExecute"}}'];
    const track = await trackOf('one', source, ...event);
    assert.deepEqual([track?.states.at(-1)?.wanted, track?.serving.at(-1)?.pods], [1, 0]);
  });

  it('are not wanted any more where one has done its work', async () => {
    const made = onNode('one', 'Running', {}, { restartPolicy: 'Never' });
    const containers = [{ name: 'one', image: 'one', command: ['sleep', '60'] }];
    const sleeping = { ...made, spec: { ...made.spec, containers } };
    const items = [node('n1'), sleeping, onNode('live', 'Running', {})];
    const source = file('cluster.json', JSON.stringify({ kind: 'List', items }));
    const track = await trackOf('one', source);
    assert.deepEqual([track?.states.at(-1)?.wanted, track?.serving.at(-1)?.pods], [0, 0]);
  });
});

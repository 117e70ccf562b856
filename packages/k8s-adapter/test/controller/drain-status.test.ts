// The status of NodeDrains: when it is written, and how large it gets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeDrainState } from '@taintmgr/core/drain';
import { fittedStatus, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { drainConditions, drainStatus } from '../../src/controller/drain-status.ts';

/** A drain of many nodes and pods, all of which have much to say. */
function large(nodes: number, pods: number): NodeDrainState {
  const message = 'The disruption budget says a lot. '.repeat(60);
  const blocker = { code: 'Budget', verdict: 'never', message } as const;
  return {
    ...{ phase: 'Blocked', startedAt: 0, endedAt: null, expectedEnd: null, wave: '' },
    ...{ selector: '{"matchLabels":{"pool":"blue"}}', podsGone: 3, podsLeft: pods },
    ...{ podsStaying: 0, staying: '', fallback: '', daemonSetsKeptOff: [] },
    nodes: Array.from({ length: nodes }, (_, index) => ({
      ...{ name: `node-${index}`, phase: 'Held', startedAt: 0, waitsSince: null, endedAt: null },
      ...{ podsGone: 0, podsLeft: 5, reason: 'AnotherDrain', message },
    })),
    pods: Array.from({ length: pods }, (_, index) => {
      const pod = { node: 'node-1', pod: `shop/web-${index}`, uid: `web-${index}` };
      return { ...pod, state: 'blocked', blocker, hold: '' };
    }),
    volumeWaits: [{ statefulSet: 'shop/db', since: 5000 }],
    notReplaced: [
      { workload: 'shop/ReplicaSet/web', uid: 'web-1', since: 6000, others: ['web-2'] },
    ],
    blockers: Array.from({ length: pods }, (_, index) => `pod shop/web-${index}: ${message}`),
  };
}

const nodeSelector = { matchLabels: { pool: 'blue' } };
const spec = { nodeSelector, taint: { key: 'work' } };
const head = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'NodeDrain' };
const metadata = { name: 'kernel', uid: 'u1', generation: 2 };

describe('the status of a NodeDrain', () => {
  it('quotes what others have written on one line, in which nothing steers a terminal', () => {
    const text = 'no\u001b[2J\n\u202e\u009b';
    const state = large(1, 1);
    const [node, pod] = [state.nodes[0] ?? assert.fail(), state.pods[0] ?? assert.fail()];
    const said = {
      ...{ ...state, blockers: [text] },
      nodes: [{ ...node, message: text }],
      pods: [{ ...pod, blocker: null, hold: text }],
    };
    const status = drainStatus(said);
    const quoted = 'no\\u001b[2J \\u202e\\u009b';
    assert.deepEqual(
      [status.blockers, status.nodeStates?.[0]?.message, status.pods?.[0]?.message],
      [[quoted], quoted, quoted],
    );
    assert.equal(drainConditions(said)[0]?.message, quoted);
  });

  it('says in the end why pods went by pods/eviction though requests were asked for', () => {
    const fallback = '2 pods went by pods/eviction, not by EvictionRequests: nobody has answered';
    const ended: NodeDrainState = { ...large(1, 0), phase: 'Drained', fallback };
    const of = (state: NodeDrainState): unknown =>
      drainConditions(state).map(({ status, message }) => `${status} ${message}`);
    assert.deepEqual(of(ended), [`True every node is drained; ${fallback}`]);
    const stays = { ...ended, podsStaying: 1, staying: '1 pod stays' };
    assert.deepEqual(of(stays), [`False every node is drained; 1 pod stays; ${fallback}`]);
  });

  it('says of an end within a second the second after it', () => {
    const status = drainStatus({ ...large(1, 1), expectedEnd: 1500, startedAt: 1500 });
    assert.equal(status.expectedEnd, '1970-01-01T00:00:02Z');
    assert.equal(status.startedAt, '1970-01-01T00:00:01Z');
  });

  it('has a bound, however many pods are blocked: it says how many they are', () => {
    const { value } = fittedStatus('NodeDrain', drainStatus(large(1000, 5000)));
    const status = value as ReturnType<typeof drainStatus>;
    assert.equal(status.podsLeft, 5000);
    assert.equal(status.pods?.length, 100);
    assert.equal(status.blockers?.length, 32);
    assert.equal(status.nodeStates?.length, 1000);
    const since = '1970-01-01T00:00:05Z';
    assert.deepEqual(status.volumeWaits, [{ statefulSet: 'shop/db', since }]);
    assert.deepEqual(status.notReplaced, [
      {
        workload: 'shop/ReplicaSet/web',
        uid: 'web-1',
        since: '1970-01-01T00:00:06Z',
        others: ['web-2'],
      },
    ]);
    // The API server takes 1.5 MB.
    assert.ok(JSON.stringify(status).length < 700_000);
  });

  it('lists of too many nodes those that have begun, and those that are gone last', () => {
    const state = large(1003, 0);
    const phases = ['Gone', 'Held', 'Pending', 'Draining', 'Drained', 'Failed'] as const;
    const nodes = state.nodes.map((node, index) => ({ ...node, phase: phases[index] ?? 'Held' }));
    const { nodes: count, nodeStates = [] } = drainStatus({ ...state, nodes });
    const names = nodeStates.map(({ name }) => name);
    assert.deepEqual([count, names.length], [1003, 1000]);
    const first = ['node-3', 'node-4', 'node-5', 'node-1', 'node-2', 'node-6'];
    assert.deepEqual(names.slice(0, 6), first);
    assert.ok(!names.includes('node-0'));
  });

  it('tells the next leader how far each node is, and since when it waits', () => {
    const times = { startedAt: null, waitsSince: null, endedAt: null };
    const none = { ...times, reason: '', message: '', podsLeft: 0 };
    const nodes = [
      { ...none, name: 'n1', phase: 'Drained', startedAt: 1000, endedAt: 2000, podsGone: 3 },
      { ...none, name: 'n2', phase: 'Draining', startedAt: 3000, waitsSince: 4000, podsGone: 1 },
      {
        ...none,
        ...{ reason: 'Denied', message: 'change freeze' },
        name: 'n3',
        phase: 'Failed',
        endedAt: 5000,
        podsGone: 0,
      },
    ] as const;
    const { value: status } = fittedStatus('NodeDrain', drainStatus({ ...large(0, 0), nodes }));
    const judged = readManifest({ ...head, metadata, spec, status }, 0);
    assert.ok(judged.kind === 'allowed' && judged.value.kind === 'NodeDrain');
    assert.deepEqual(
      judged.value.value.known,
      nodes.map((node) => ({ ...node })),
    );
  });

  it('lists the pods that were taken last, and the last of those that stand for others', () => {
    const taken = { workload: 'shop/ReplicaSet/web', since: 0 };
    const others = Array.from({ length: 101 }, (_, index) => `other-${index}`);
    const notReplaced = Array.from({ length: 501 }, (_, index) => {
      return { ...taken, uid: `web-${index}`, others };
    });
    const { notReplaced: listed = [] } = drainStatus({ ...large(0, 0), notReplaced });
    assert.deepEqual(
      [listed.length, listed[0]?.uid, listed.at(-1)?.uid],
      [500, 'web-1', 'web-500'],
    );
    const { others: last = [] } = listed[0] ?? {};
    assert.deepEqual([last.length, last[0]], [100, 'other-1']);
  });

  it('counts as drained no node that is gone, and says 100% when all pods are', () => {
    const [node] = large(1, 0).nodes;
    assert.ok(node);
    const nodes = (['Drained', 'Gone', 'Failed'] as const).map((phase) => ({ ...node, phase }));
    const state = { ...large(0, 0), nodes, podsGone: 999 };
    const { nodesDrained, progress } = drainStatus({ ...state, podsLeft: 1 });
    assert.deepEqual([nodesDrained, progress], [1, '99%']);
    assert.equal(drainStatus({ ...state, podsLeft: 0 }).progress, '100%');
  });

  it('has a condition Drained that is True or False: both can be waited for', () => {
    for (const [phase, status] of [
      ['Running', 'False'],
      ['Failed', 'False'],
      ['Drained', 'True'],
    ] as const) {
      const [condition, ...others] = drainConditions({ ...large(0, 0), phase });
      assert.deepEqual([condition?.type, condition?.status, others], ['Drained', status, []]);
      assert.equal(condition?.reason, phase);
    }
  });

  it('is not Drained for who waits while pods stay: it names them', () => {
    const stay = { podsStaying: 1, staying: '1 pod stays: shop/op-0 (tolerates it)' };
    const state = { ...large(0, 0), ...stay, phase: 'Drained' } as const;
    const message = 'every node is drained; 1 pod stays: shop/op-0 (tolerates it)';
    assert.deepEqual(drainConditions(state), [
      { type: 'Drained', status: 'False', reason: 'PodsStay', message },
    ]);
    assert.equal(drainStatus(state).podsStaying, 1);
  });

  it('is read as it was written', () => {
    const read = (nodes: number): readonly unknown[] => {
      const { value: status } = fittedStatus('NodeDrain', drainStatus(large(nodes, 0)));
      const judged = readManifest({ ...head, metadata, spec, status }, 0);
      assert.ok(judged.kind === 'allowed' && judged.value.kind === 'NodeDrain');
      const { observedSelector, known, knowsAll } = judged.value.value;
      return [observedSelector, known.length, knowsAll];
    };
    const selector = JSON.stringify(nodeSelector);
    assert.deepEqual(read(1000), [selector, 1000, true]);
    assert.deepEqual(read(1001), [selector, 1000, false]);
  });
});

describe('the condition Drained of a NodeDrain that goes on', () => {
  it('names what stands in its way, and the pods that stay', () => {
    const staying = '1 pod stays: shop/op-0 (tolerates m=k:NoSchedule for ever)';
    const state: NodeDrainState = { ...large(0, 0), phase: 'Running', podsStaying: 1, staying };
    assert.deepEqual(drainConditions(state), [
      {
        type: 'Drained',
        status: 'False',
        reason: 'Running',
        message: `the drain continues; ${staying}`,
      },
    ]);
  });
});

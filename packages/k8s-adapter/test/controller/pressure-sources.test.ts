import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PressureSettingsInput } from '@taintmgr/core/pressure';
import type { StatsFault } from '@taintmgr/sim-cluster';
import { gibibyte, mebibyte, PressureWorld } from '../world/pressure-world.ts';

// The node pressure agent end to end but for sockets: kubelets that tell what is used, the API over
// its wire, the reflectors, the poller, the machine and the executor.

const settings: PressureSettingsInput = {
  evictionHard: { 'memory.available': '512Mi' },
  evictionSoft: { 'memory.available': '2Gi' },
  evictionSoftGracePeriod: { 'memory.available': '90s' },
  evictionMaxPodGracePeriod: 20,
};

/** Of 16Gi: 1Gi for the node, 7Gi for pods that never go, 512Mi within what was asked for. */
function leakingWorld(options: Partial<ConstructorParameters<typeof PressureWorld>[0]> = {}) {
  const world = new PressureWorld({ pressure: { settings }, ...options });
  world.addPod('db');
  world.addPod('web', { requests: { memory: '1Gi' } });
  world.addPod('critical', { priorityClassName: 'system-cluster-critical' });
  world.addPod('static', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  world.runTo(20);
  const { stats } = world.cluster.node('n1');
  stats.usePod('shop/web', { memory: gibibyte / 2 });
  stats.usePod('shop/critical', { memory: 4 * gibibyte });
  stats.usePod('shop/static', { memory: 3 * gibibyte });
  return world;
}

function leak(world: PressureWorld, until: number, pod = 'db'): void {
  const memory = { from: gibibyte, perSecond: 64 * mebibyte, until };
  world.cluster.node('n1').stats.usePod(`shop/${pod}`, { memory });
}

describe('a memory leak', () => {
  it('crosses a soft threshold, waits its grace, and the right pod goes; condition and taint come and go', () => {
    const rule = {
      name: 'memory',
      condition: 'taintmgr.dev/MemoryPressure',
      status: 'True',
      holdsMs: 0,
      clearMs: 0,
      taint: { key: 'taintmgr.dev/memory-pressure', value: '', effect: 'NoSchedule' },
      nodes: {},
      nodesMax: null,
      dryRun: false,
    } as const;
    const world = leakingWorld({ engine: { lifecycle: { conditionRules: [rule] } } });
    leak(world, 5.8 * gibibyte);
    world.runTo(700);
    const since = world.story.findIndex((line) => line.includes('MemoryPressure=True'));
    assert.deepEqual(world.story.slice(since), [
      '100 node n1 [taintmgr.dev/MemoryPressure=True] []',
      '100 event n1 NodeHasInsufficientMemory: Node n1 status is now: NodeHasInsufficientMemory',
      '100 node n1 [taintmgr.dev/MemoryPressure=True] [taintmgr.dev/memory-pressure]',
      '190 event n1 EvictionThresholdMet: Attempting to reclaim memory',
      '190 pod db Running leaves within 20s',
      '190 pod db Failed/Evicted leaves within 20s',
      '190 event db Evicted: The node was low on resource: memory. Threshold quantity: 2Gi, available: 1825361101. Container db was using 6227702579, request is 0, has larger consumption of memory. ',
      '191 pod db Failed/Evicted leaves within 0s',
      '490 node n1 [taintmgr.dev/MemoryPressure=False] [taintmgr.dev/memory-pressure]',
      '490 event n1 NodeHasSufficientMemory: Node n1 status is now: NodeHasSufficientMemory',
      '490 node n1 [taintmgr.dev/MemoryPressure=False] []',
    ]);
    assert.deepEqual(world.pods, ['critical', 'static', 'web']);
  });

  it('sends a condition, then what a deletion under pressure takes, and nothing else', () => {
    const world = leakingWorld();
    leak(world, 5.8 * gibibyte);
    world.runTo(700);
    assert.deepEqual(world.writes, [
      'PATCH /api/v1/nodes/n1/status',
      'PATCH /api/v1/namespaces/shop/pods/db/status',
      'DELETE /api/v1/namespaces/shop/pods/db',
      'PATCH /api/v1/namespaces/shop/pods/db/status',
      'PATCH /api/v1/nodes/n1/status',
    ]);
    const bodies = world.exchanges.flatMap(({ request: { method, path, body } }) =>
      method !== 'GET' && path.includes('/pods/db') ? [JSON.parse(body ?? '{}')] : [],
    );
    const [marked, deleted, failed] = bodies;
    const [condition] = marked.status.conditions;
    const { type, status, reason } = condition;
    assert.deepEqual([type, status, reason], ['DisruptionTarget', 'True', 'TerminationByKubelet']);
    assert.equal(condition.message, failed.status.message);
    assert.equal(deleted.gracePeriodSeconds, 20);
    assert.equal(deleted.preconditions.uid, failed.metadata.uid);
    assert.notEqual(failed.metadata.resourceVersion, undefined);
    assert.deepEqual([failed.status.phase, failed.status.reason], ['Failed', 'Evicted']);
  });

  it('crosses the hard threshold before the soft one is due: the pod goes at once, within a second', () => {
    const world = leakingWorld();
    leak(world, 7.4 * gibibyte);
    world.runTo(700);
    const gone = world.story.filter((line) => line.includes('leaves within'));
    assert.equal(gone[0], '120 pod db Running leaves within 1s');
    assert.deepEqual(world.pods, ['critical', 'static', 'web']);
  });

  it('of pods that may not go alone: nobody goes, and it says why', () => {
    const world = leakingWorld();
    leak(world, 11.8 * gibibyte, 'critical');
    world.cluster.api.delete('pods', 'shop', 'web', {});
    world.cluster.api.delete('pods', 'shop', 'db', {});
    world.runTo(300);
    assert.deepEqual(world.pods, ['critical', 'static']);
    const withheld = world.notices.flatMap((notice) =>
      notice.kind === 'pressureReport' && notice.report.kind === 'withheld'
        ? notice.report.because.map(({ code }) => code)
        : [],
    );
    assert.ok(withheld.includes('NoCandidate'), `${withheld}`);
    assert.equal(world.condition('taintmgr.dev/MemoryPressure'), 'True');
  });
});

describe('one pod that goes is enough', () => {
  const evicted = (world: PressureWorld): readonly string[] =>
    world.story
      .filter((line) => / event \S+ Evicted/.test(line))
      .map((line) => line.split(':')[0] ?? '');

  for (const skewMs of [-20_000, 0, 5_000, 20_000, 50_000]) {
    it(`with the clock of its node ${skewMs / 1000} s ahead, and answers from a cache`, () => {
      const world = new PressureWorld({
        pressure: { settings: { evictionHard: { 'memory.available': '2Gi' } } },
        agent: { pollPeriodMs: 5000 },
      });
      for (const name of ['db', 'web', 'api']) world.addPod(name);
      const node = world.cluster.node('n1');
      node.setClockSkew(skewMs);
      world.runTo(20);
      for (const name of ['web', 'api'])
        node.stats.usePod(`shop/${name}`, { memory: gibibyte / 2 });
      node.stats.usePod('shop/db', { memory: 12.5 * gibibyte });
      world.runTo(200);
      assert.deepEqual(evicted(world), ['30 event db Evicted']);
    });
  }

  it('while its containers still stop, though its status says that it has failed', () => {
    const world = leakingWorld({ podStopMs: [60_000, 60_000] });
    leak(world, 5.8 * gibibyte);
    world.runTo(400);
    assert.deepEqual(evicted(world), ['190 event db Evicted']);
    assert.ok(world.story.includes('210 pod db Failed/Evicted leaves within 0s'));
  });
});

describe('summaries that cannot be believed', () => {
  const faults: readonly (readonly [name: string, fault: StatsFault, doubt: string])[] = [
    ['are errors', 'error', 'ReadFailed'],
    ['never come', 'unreachable', 'ReadFailed'],
    ['end in the middle', 'truncated', 'ReadFailed'],
    ['have nothing in them', 'empty', 'SignalMissing'],
    ['lack what counts', 'partial', 'SignalMissing'],
    ['are those of long ago', 'stale', 'SignalStale'],
    ['cannot be', 'nonsense', 'SignalNonsense'],
    [
      'are of another node',
      ({ node, pods }) => ({ pods, node: { ...node, nodeName: 'n2' } }),
      'ReadFailed',
    ],
  ];
  for (const [name, fault, doubt] of faults) {
    it(`${name}: no eviction, and the reason is told; once they are good again, the pod goes`, () => {
      const world = leakingWorld();
      leak(world, 7.4 * gibibyte);
      world.runTo(110);
      world.cluster.node('n1').setStatsFault(fault);
      world.runTo(600);
      assert.ok(world.pods.includes('db'), `${world.story.join('\n')}`);
      assert.ok(world.doubts.includes(doubt), `${world.doubts}`);
      world.cluster.node('n1').setStatsFault(null);
      world.runTo(660);
      assert.deepEqual(world.pods, ['critical', 'static', 'web']);
      assert.deepEqual(world.doubts, []);
    });
  }
});

describe('the agent', () => {
  it('evicts by the Eviction API where told so, and a budget holds the pod', () => {
    const world = leakingWorld({ agent: { removal: 'evict' } });
    world.cluster.api.create('poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace: 'shop', name: 'db' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'db' } } },
    });
    leak(world, 7.4 * gibibyte);
    world.runTo(200);
    assert.ok(world.pods.includes('db'));
    const retries = world.notices.flatMap((notice) =>
      notice.kind === 'evictionFinished' ? [notice.outcome.kind] : [],
    );
    assert.equal(retries[0], 'blocked');
    assert.deepEqual(
      new Set(world.pods),
      new Set(['critical', 'db', 'static']),
      'the next one went',
    );
  });

  it('stands by without leadership, and takes over what another replica wrote', () => {
    const world = leakingWorld();
    world.feed({ kind: 'event', event: { kind: 'leadership', held: false } });
    leak(world, 7.4 * gibibyte);
    world.runTo(200);
    assert.deepEqual(world.writes, []);
    world.feed({ kind: 'event', event: { kind: 'leadership', held: true } });
    world.runTo(215);
    assert.ok(!world.pods.includes('db'));
    assert.equal(world.condition('taintmgr.dev/MemoryPressure'), 'True');
  });

  it('after a restart it takes its condition back, which a kubelet left alone', () => {
    const world = leakingWorld();
    leak(world, 7.4 * gibibyte);
    world.runTo(200);
    world.restart();
    world.runTo(490);
    assert.equal(world.condition('taintmgr.dev/MemoryPressure'), 'True');
    world.runTo(510);
    assert.equal(world.condition('taintmgr.dev/MemoryPressure'), 'False');
  });

  it('finishes what it began when it is stopped, and then is closed', () => {
    const world = leakingWorld();
    leak(world, 7.4 * gibibyte);
    world.runTo(119);
    world.cluster.api.faults.add({ fault: { kind: 'delay', ms: 3000 }, verbs: ['delete'] });
    world.runTo(122);
    world.feed({ kind: 'stop' });
    assert.ok(!world.loop.closed);
    world.runTo(140);
    assert.ok(world.loop.closed);
    assert.ok(world.story.some((line) => line.endsWith('pod db Failed/Evicted leaves within 1s')));
  });
});

describe('the pools of a cluster', () => {
  it('have thresholds of their own, and nodes without any are not asked', () => {
    const nodes = ['small', 'large', 'none'].map((size) => ({ name: size, labels: { size } }));
    const pool = (name: string, threshold: string) => ({
      name,
      selector: { matchLabels: { size: name } },
      settings: { evictionHard: { 'memory.available': threshold } },
    });
    const world = new PressureWorld({
      nodes,
      pressure: { settings: null, pools: [pool('small', '512Mi'), pool('large', '4Gi')] },
      agent: { watches: ({ labels }) => labels.size !== 'none' },
    });
    for (const { name } of nodes) world.addPod(`on-${name}`, {}, name);
    world.runTo(20);
    for (const { name } of nodes) {
      const memory = 13 * gibibyte;
      world.cluster.node(name).stats.usePod(`shop/on-${name}`, { memory });
    }
    world.runTo(120);
    assert.deepEqual(world.pods, ['on-none', 'on-small']);
    const asked = world.exchanges.filter(({ request }) => request.path.endsWith('/stats/summary'));
    assert.ok(asked.every(({ request }) => !request.path.includes('/none/')));
  });
});

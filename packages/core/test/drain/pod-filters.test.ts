// A NodeDrain and EvictionPauses: what they hold is named, and leaves its place to others.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  confirmEviction,
  describeReason,
  type Event,
  makeNode,
  makePod,
  type NodeInput,
  type Owner,
  type Pod,
  type PodInput,
  parseTaint,
  type Taint,
  type Toleration,
} from '@taintmgr/core';
import { planDrain } from '@taintmgr/core/drain';
import { type DrainFilterResult, filterPod } from '../../src/drain/pod-filters.ts';
import { pauseOf, policyOf } from '../policy/objects.ts';
import { drainOf } from './drain-of.ts';
import { drainConfig, StandaloneDrain } from './standalone-drain.ts';
import { World } from './world.ts';

const refused = { kind: 'blocked', message: 'needs 1 healthy pod', retryAfter: null } as const;

const night = pauseOf('night', { since: 0, scope: { namespaces: ['shop'] } });
const words = 'deadlines are paused by night';

function worldOf(names: readonly string[]): World {
  const world = new World(drainOf({ nodes: names }), names);
  world.tell({ kind: 'pauseUpsert', pause: night });
  return world;
}

describe('a NodeDrain whose pods a pause holds', () => {
  it('says so, foretells no end, and goes on when the pause is gone', () => {
    const world = worldOf(['n1']);
    world.pass(10_000);
    const { phase, blockers, expectedEnd, pods } = world.state();
    assert.deepEqual(
      [phase, blockers, expectedEnd],
      ['Blocked', [`pod shop/on-n1: ${words}`], null],
    );
    assert.equal(pods[0]?.hold, words);
    world.tell({ kind: 'pauseDelete', name: 'night' });
    world.pass(10_000);
    assert.deepEqual([world.state().phase, world.state().blockers], ['Drained', []]);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'evict on-n1', 'end n1']);
  });

  it('counts them itself: the pause has those that NoExecute taints would evict', () => {
    const world = worldOf(['n1']);
    const bad = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: 0 } as const;
    world.showNode(makeNode({ name: 'n3', taints: [bad] }));
    world.show({ name: 'on-n3', nodeName: 'n3' });
    world.pass(10_000);
    const { pauses } = world.engine.policyCounts(world.now);
    assert.equal(pauses?.get('night')?.pods, 1);
    assert.equal(world.state().pods.length, 1);
  });

  it('says until when', () => {
    const world = worldOf(['n1']);
    world.tell({ kind: 'pauseUpsert', pause: { ...night, until: 30_000 } });
    world.pass(10_000);
    assert.match(world.state().blockers.join(), /paused by night until 1970-01-01T00:00:30Z$/);
    world.pass(30_000);
    assert.equal(world.state().phase, 'Drained');
  });

  it('names no pause any more where the pod then has time of its own', () => {
    const tolerations = [{ key: 'work', operator: 'Exists', tolerationSeconds: 600 }];
    const pod = { name: 'web', nodeName: 'n1', tolerations };
    const world = new World(drainOf({ nodes: ['n1'] }), [{ name: 'n1' }], [pod]);
    world.tell({ kind: 'pauseUpsert', pause: night });
    world.pass(10_000);
    assert.deepEqual(world.state().blockers, [`pod shop/web: ${words}`]);
    world.tell({ kind: 'pauseDelete', name: 'night' });
    world.pass(1_000);
    assert.deepEqual([world.state().phase, world.state().blockers], ['Running', []]);
  });

  it('is named where a budget has refused the pod before', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    world.refuses.add('on-n1');
    world.pass(3_000);
    assert.deepEqual(world.state().blockers, ['pod shop/on-n1: needs 1 healthy pod']);
    world.tell({ kind: 'pauseUpsert', pause: night });
    world.pass(3_000);
    assert.deepEqual(world.state().blockers, [`pod shop/on-n1: ${words}`]);
  });

  it('is named at once where the node had the taint before', () => {
    const taint = { key: 'work', value: '', effect: 'NoSchedule', timeAdded: null };
    const node = { name: 'n1', taints: [taint] };
    const pods = [{ name: 'on-n1', nodeName: 'n1' }];
    const world = new World(drainOf({ nodes: ['n1'] }), [node], pods);
    world.tell({ kind: 'pauseUpsert', pause: night });
    world.pass(1_000);
    assert.deepEqual(world.state().blockers, [`pod shop/on-n1: ${words}`]);
  });

  it('begins the next node after a minute', () => {
    const world = worldOf(['n1', 'n2']);
    world.pass(59_000);
    assert.deepEqual(world.log, ['guard', 'taint n1']);
    world.pass(3_000);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'taint n2']);
  });
});

describe('a pod whose eviction is refused after something came that holds it', () => {
  const keep = policyOf('keep', { action: 'Keep' });
  const forever = [{ key: 'work', operator: 'Exists' }];
  const comes: Record<string, (world: World, uid: string) => void> = {
    'an EvictionPause': (world) => world.tell({ kind: 'pauseUpsert', pause: night }),
    'a policy that keeps pods': (world) => world.tell({ kind: 'policyUpsert', policy: keep }),
    'a toleration': (world, uid) => {
      const pod = world.pods.get(uid) ?? assert.fail();
      const tolerates = makePod({ ...pod, tolerations: forever });
      world.pods.set(uid, tolerates);
      world.tell({ kind: 'podUpsert', pod: tolerates });
    },
  };
  for (const [name, come] of Object.entries(comes)) {
    for (const outcome of [refused, { kind: 'done' } as const]) {
      it(`is not asked for again: ${name}, first answer ${outcome.kind}`, () => {
        const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
        const asked: string[] = [];
        world.mishap = ({ uid, name: pod }) => {
          asked.push(pod);
          if (asked.length > 1) return null;
          if (outcome.kind === 'blocked') come(world, uid);
          else world.after(5_000, () => come(world, uid));
          return { outcome, after: 50 };
        };
        world.pass(3_600_000);
        assert.deepEqual([asked, world.log.includes('evict on-n1')], [['on-n1'], false]);
      });
    }
  }
});

// A NodeDrain beside the node lifecycle, whose zone holds stop deadlines: all machines in one engine.
/** Two zones; none of the kubelets of `silent` is ready. */
class Zones extends World {
  silent: string | null = 'z1';

  constructor(drains: ConstructorParameters<typeof World>[0]) {
    const nodes = ['n1', 'n2', 'm1', 'm2'].map((name): NodeInput => {
      const zone = name.startsWith('n') ? 'z1' : 'z2';
      const labels = {
        'topology.kubernetes.io/region': 'r',
        'topology.kubernetes.io/zone': zone,
      };
      return { name, labels, zone: `r/${zone}`, conditions: [ready(zone !== 'z1', 0)] };
    });
    const lifecycle = { fullDisruption: 'hold', massUnreachable: null } as const;
    super(drains, nodes, [{ name: 'web', nodeName: 'n1' }], { lifecycle });
  }

  /** Lets time pass in which each kubelet says how it is. */
  live(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.pass(10_000)) {
      for (const node of [...this.nodes.values()]) {
        const isReady = !node.zone?.endsWith(this.silent ?? 'none');
        this.showNode({ ...node, conditions: [ready(isReady, this.now)] });
      }
    }
  }
}

function ready(isReady: boolean, at: number) {
  const status = isReady ? 'True' : 'False';
  return { type: 'Ready', status, reason: '', message: '', heartbeatAt: at, transitionAt: at };
}

describe('a NodeDrain in a zone whose deadlines stand still', () => {
  const drain = drainOf({ nodes: ['n1'] });
  const words = 'deadlines are paused by the hold of zone r/z1 until one of its nodes is ready';

  it('begins with no pod, and goes on when the zone is back', () => {
    const world = new Zones([]);
    world.pass(1_000);
    world.declare(drain);
    world.live(60_000);
    assert.deepEqual(world.state().blockers, [`pod shop/web: ${words}`]);
    assert.ok(!world.log.includes('evict web'), world.log.join());
    world.silent = null;
    world.live(120_000);
    assert.deepEqual([world.state().phase, world.state().blockers], ['Drained', []]);
  });

  for (const when of ['declared before', 'edited during']) {
    it(`${when} that, waits too`, () => {
      const world = new Zones(drain);
      world.silent = null;
      world.refuses.add('web');
      world.live(30_000);
      world.silent = 'z1';
      world.live(60_000);
      if (when === 'edited during') world.declare({ ...drain, generation: 2, isGuarded: true });
      world.refuses.clear();
      world.live(60_000);
      assert.ok(!world.log.includes('evict web'), world.log.join());
      world.silent = null;
      world.live(120_000);
      assert.deepEqual([world.state().phase, world.state().blockers], ['Drained', []]);
    });
  }
});

// A NodeDrain heeds from its first instant policies and pauses that came before it began.
const hour = 3_600_000;
const ofTeam = { names: [], selector: { matchLabels: { team: 'db' }, matchExpressions: [] } };

/** A drain of n1 that begins when all of this is known. */
function begunAfter(events: readonly Event[], spec: object = {}, pods?: readonly PodInput[]) {
  const drain = drainOf({ nodes: ['n1'], ...spec });
  const world = new World(drain, pods ? [{ name: 'n1' }] : ['n1'], pods);
  for (const event of events) world.tell(event);
  world.tell({ kind: 'synced' });
  return world;
}

describe('a NodeDrain that begins', () => {
  const keep = policyOf('keep', { action: 'Keep' });
  const holds: readonly (readonly [what: string, events: readonly Event[]])[] = [
    ['a policy', [{ kind: 'policyUpsert', policy: keep }]],
    ['a pause', [{ kind: 'pauseUpsert', pause: pauseOf('night') }]],
  ];
  for (const [what, events] of holds) {
    it(`keeps the pods that ${what} has kept before`, () => {
      const world = begunAfter(events);
      world.pass(60_000);
      assert.ok(world.log.includes('taint n1'));
      assert.ok(!world.log.includes('evict on-n1'));
    });
  }

  it('knows the labels of namespaces: what is for others keeps nothing', () => {
    const policy = { ...keep, match: { ...keep.match, namespaces: ofTeam } };
    const world = begunAfter([
      { kind: 'namespaceUpsert', namespace: { name: 'shop', labels: { team: 'web' } } },
      { kind: 'policyUpsert', policy },
    ]);
    world.pass(60_000);
    assert.ok(world.log.includes('evict on-n1'));
  });

  it('counts a taint of others from when the API server had it written, by a clock that had stood still', () => {
    const tolerations = ['work', 'bad'].map((key) => {
      return { key, operator: 'Exists', tolerationSeconds: key === 'bad' ? 30 : 600 };
    });
    const pods = [{ name: 'web', nodeName: 'n1', tolerations }];
    const world = new World(drainOf({ nodes: ['n1'] }), [{ name: 'n1' }], pods);
    world.pass(1_000);
    const node = world.nodes.get('n1') ?? assert.fail();
    const taints = [...node.taints, parseTaint('bad:NoExecute')];
    world.showNode({ ...node, taints, taintsWrittenAt: 20_000 });
    world.pass(9_000);
    world.tell({ kind: 'clock', ahead: 20_000 });
    world.pass(20_999);
    assert.deepEqual(world.log, ['guard', 'taint n1']);
    world.pass(1);
    assert.ok(world.log.includes('evict web'), 'at 51 s by the clock of the cluster');
  });

  for (const ahead of [0, hour, -hour]) {
    const clock: Event = { kind: 'clock', ahead };

    it(`says by the clock of the cluster when it began: ${ahead / hour} h ahead`, () => {
      const world = begunAfter([clock]);
      world.pass(1_000);
      assert.equal(world.state().startedAt, ahead);
    });

    it(`ends when that clock says so, to the millisecond: ${ahead / hour} h ahead`, () => {
      const until = new Date(ahead + 33_333).toISOString();
      const world = begunAfter([clock], { until });
      world.refuses.add('on-n1');
      world.pass(33_332);
      assert.equal(world.state().phase, 'Blocked');
      world.pass(1);
      assert.equal(world.state().phase, 'TimedOut');
    });

    it(`begins when its window opens by that clock: ${ahead / hour} h ahead`, () => {
      const windows = [{ schedule: '0 2 * * *', duration: '1h' }];
      const world = begunAfter([clock], { windows });
      const until = ahead + 33_333;
      world.answers = () =>
        world.now < 33_333 ? { kind: 'changed', message: 'closed', until } : { kind: 'done' };
      world.pass(33_332);
      assert.deepEqual(world.log, ['guard']);
      world.pass(1);
      assert.ok(world.log.includes('taint n1'));
    });

    it(`waits by that clock for pods that terminate: ${ahead / hour} h ahead`, () => {
      const deletionTimestamp = ahead - 10_000;
      const pods = [{ name: 'old', nodeName: 'n1', deletionTimestamp }];
      const world = begunAfter([clock], { timeouts: { terminatingPods: '60s' } }, pods);
      world.pass(50_999);
      assert.notEqual(world.state().phase, 'Drained');
      world.pass(1);
      assert.equal(world.state().phase, 'Drained');
    });
  }
});

// Tolerations with Lt and Gt: drains go by them where the engine does.
function pod(name: string, operator: string, value: string, tolerationSeconds: number | null) {
  const one: Toleration = { key: 'level', operator, value, effect: 'NoExecute', tolerationSeconds };
  return { name, nodeName: 'n1', tolerations: [one] };
}

const pods = [
  pod('above-5', 'Gt', '5', null),
  pod('above-10', 'Gt', '10', null),
  pod('below-50', 'Lt', '50', 60),
];
const all = ['above-5', 'above-10', 'below-50'];

const filters = { force: true, ignoreDaemonSets: false, deleteEmptyDirData: false };

const cases = [
  { comparisonOperators: true, stays: ['above-5'], atOnce: ['above-10'] },
  { comparisonOperators: false, stays: [], atOnce: all },
];

for (const { comparisonOperators, stays, atOnce } of cases) {
  describe(`a drain with comparisonOperators ${comparisonOperators}`, () => {
    for (const effect of ['NoExecute', 'NoSchedule']) {
      it(`plans by them, ${effect}`, () => {
        const taint = parseTaint(`level=10:${effect}`);
        const plan = planDrain(0, {
          config: drainConfig(taint, { filters, comparisonOperators }),
          nodes: [makeNode({ name: 'n1' })],
          pods: pods.map((one) => ({ pod: makePod(one), finalizers: [] })),
          budgets: [],
          nodeAnswers: () => true,
        });
        const fates = new Map(plan.pods.map((one) => [one.pod.name, one.fate]));
        const now = all.filter((name) => {
          const fate = fates.get(name);
          return fate?.kind === 'evict' && fate.at <= 1000;
        });
        assert.deepEqual(now, atOnce);
        assert.deepEqual(
          all.filter((name) => fates.get(name)?.kind === 'keep'),
          stays,
        );
      });
    }

    it('and a NodeDrain acts by them', () => {
      const taint = { key: 'level', value: '10', effect: 'NoExecute' };
      const drain = drainOf({ nodes: ['n1'], taint });
      const world = new World(drain, [{ name: 'n1' }], pods, { comparisonOperators });
      world.pass(30_000);
      const evicted = (): readonly string[] =>
        all.filter((name) => world.log.includes(`evict ${name}`));
      assert.deepEqual(evicted(), atOnce);
      world.pass(60_000);
      assert.deepEqual(
        all.filter((name) => !evicted().includes(name)),
        stays,
      );
      assert.equal(world.state().phase, 'Drained');
    });
  });
}

// Where the view is old, pod and node are read again before a pod goes: what decided has to hold there.

const tolerations = [
  { key: 'm', operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds: 30 },
];

describe('what decided about a pod of a drain', () => {
  const early = { ...parseTaint('m=x:NoExecute'), timeAdded: -5000 };
  const cases: readonly (readonly [string, readonly string[], Pod['tolerations'], ...Taint[]])[] = [
    ['m=x:NoExecute', ['tolerates m=x:NoExecute for 30s'], tolerations],
    ['m=x:NoSchedule', ['tolerates m=x for 30s'], tolerations],
    ['m=x:NoSchedule', ['no toleration for m=x'], []],
    ['m=x:NoSchedule', ['no toleration for m=x', 'no toleration for m=x'], [], early],
  ];
  for (const [text, words, tolerated, ...others] of cases) {
    it(`holds on the node as it is: ${text}, ${words.join()}`, () => {
      const taint = { ...parseTaint(text), timeAdded: -1000 };
      const node = { name: 'n1', uid: 'n1', taints: [...others, taint] };
      const pod: Pod = {
        namespace: 'shop',
        name: 'web',
        uid: 'web',
        nodeName: 'n1',
        tolerations: tolerated,
        boundAt: null,
        deletionTimestamp: null,
        phase: 'Running',
        generation: 1,
        mirror: false,
        owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' },
        hasEmptyDir: false,
      };
      const drain = new StandaloneDrain(drainConfig(taint), ['n1']);
      drain.handle(0, { kind: 'nodeUpsert', node });
      drain.handle(0, { kind: 'podUpsert', pod });
      drain.handle(0, { kind: 'synced' });
      drain.handle(0, { kind: 'tick' });
      drain.handle(30_000, { kind: 'tick' });
      const [drained] = drain.machine.pods();
      assert.equal(drained?.tries, 1);
      const { because } = drained;
      assert.deepEqual(because.map(describeReason), words);
      const options = { comparisonOperators: false };
      assert.equal(confirmEviction(because, pod, node, options), null);
      const bare = { ...node, taints: [] };
      assert.match(confirmEviction(because, pod, bare, options) ?? '', /has no taint m=x:No/);
    });
  }
});

const kept: Pod = {
  namespace: 'shop',
  name: 'web-0',
  uid: 'u',
  nodeName: 'n1',
  tolerations: [],
  boundAt: null,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 1,
  mirror: false,
  owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' },
  hasEmptyDir: false,
};
const daemonSet: Owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' };
const nothing = {
  leavesDaemonSets: false,
  spec: { pods: { withoutController: false, withEmptyDir: false } },
};
const everything = {
  leavesDaemonSets: true,
  spec: { pods: { withoutController: true, withEmptyDir: true } },
};

const filterCases: readonly [string, Partial<Pod>, typeof nothing, DrainFilterResult][] = [
  ['a managed pod', {}, nothing, { kind: 'take' }],
  ['a bare pod', { owner: null }, nothing, { kind: 'refuse', faults: ['Unmanaged'] }],
  ['a bare pod, forced', { owner: null }, everything, { kind: 'take' }],
  ['an emptyDir', { hasEmptyDir: true }, nothing, { kind: 'refuse', faults: ['EmptyDir'] }],
  [
    'both at once',
    { owner: null, hasEmptyDir: true },
    nothing,
    { kind: 'refuse', faults: ['EmptyDir', 'Unmanaged'] },
  ],
  ['a daemon', { owner: daemonSet }, nothing, { kind: 'refuse', faults: ['DaemonSet'] }],
  ['a daemon, ignored', { owner: daemonSet }, everything, { kind: 'leave', fault: 'DaemonSet' }],
  [
    'a daemon of an old API group is an ordinary pod',
    { owner: { ...daemonSet, apiVersion: 'extensions/v1beta1' } },
    nothing,
    { kind: 'take' },
  ],
  ['a finished bare pod', { owner: null, phase: 'Succeeded' }, nothing, { kind: 'take' }],
];

describe('filterPod', () => {
  for (const [name, pod, options, verdict] of filterCases) {
    it(name, () => assert.deepEqual(filterPod({ ...kept, ...pod }, options), verdict));
  }
});

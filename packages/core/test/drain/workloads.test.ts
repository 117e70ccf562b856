// NodeDrains give pods time to finish, leave workloads so many available pods, and give up on pods made anew.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeInput, PodInput } from '@taintmgr/core';
import { fc } from '../fast-check.ts';
import { drainOf } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';
import { World } from './world.ts';

const web = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const db = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'report' };
const nodes: readonly NodeInput[] = ['n1', 'n2', 'n3', 'spare'].map((name) => ({ name }));

function pods(owner: typeof web, count: number, other: Partial<PodInput> = {}): PodInput[] {
  return Array.from({ length: count }, (_, at) => {
    return { name: `${owner.name}-${at}`, nodeName: `n${(at % 3) + 1}`, owner, ...other };
  });
}

function evictedIn(world: World): readonly string[] {
  return world.log.flatMap((line) => (line.startsWith('evict') ? line.slice(6) : []));
}

const all = { nodes: ['n1', 'n2', 'n3'] };

describe('limits.maxUnavailable', () => {
  const limits = { nodesAtOnce: 0, maxUnavailable: 1 };

  it('takes the next pod of a workload when another is ready in the place of the last', () => {
    const world = new World(drainOf({ ...all, limits }), nodes, pods(web, 3));
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0']);
    const message =
      'shop/ReplicaSet/web has 1 unavailable, and may have at most 1 of 3 (limits.maxUnavailable)';
    assert.deepEqual(
      world.state().pods.map(({ pod, hold }) => [pod, hold]),
      [
        ['shop/web-1', message],
        ['shop/web-2', message],
      ],
    );
    const fresh = { name: 'web-new', nodeName: 'spare', owner: web };
    world.show({ ...fresh, ready: 'False' });
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0']);
    world.show({ ...fresh, ready: 'True' });
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0', 'web-1']);
  });

  it('counts what is not ready for other reasons, but not the pod that is to go', () => {
    const [first, ...others] = pods(web, 3);
    const broken = [...others, { ...first, name: 'web-0', ready: 'False' }];
    const world = new World(drainOf({ ...all, limits }), nodes, broken);
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0']);
  });

  it('takes a part of the pods, and at least one', () => {
    for (const [part, count, taken] of [
      ['50%', 6, 3],
      ['10%', 6, 1],
    ] as const) {
      const limits = { nodesAtOnce: 0, maxUnavailable: part };
      const world = new World(drainOf({ ...all, limits }), nodes, pods(web, count));
      world.pass(60_000);
      assert.equal(evictedIn(world).length, taken);
    }
  });

  describe('counts half of four pods as two', () => {
    const done = pods(web, 4, { nodeName: 'spare' }).map((pod) => ({
      ...pod,
      uid: `${pod.name}-x`,
    }));
    const four = pods(web, 4);
    const cases: readonly (readonly [what: string, given: readonly PodInput[]])[] = [
      ['beside others that failed', [...four, ...done.map((pod) => ({ ...pod, phase: 'Failed' }))]],
      [
        'beside others that end: a ReplicaSet has started others for them',
        [...four, ...done.map((pod) => ({ ...pod, deletionTimestamp: 60_000 }))],
      ],
      ['that run, and nobody says whether they are ready', pods(web, 4, { ready: null })],
    ];
    for (const [what, given] of cases) {
      it(what, () => {
        const half = { nodesAtOnce: 0, maxUnavailable: '50%' };
        const world = new World(drainOf({ ...all, limits: half }), nodes, given);
        world.pass(30_000);
        assert.deepEqual(evictedIn(world), ['web-0', 'web-1']);
      });
    }
  });

  it('counts a pod of which nobody knows whether it goes', () => {
    for (const [status, taken] of [
      [null, false],
      [403, true],
    ] as const) {
      const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'], limits })], ['n1', 'n2']);
      cluster.addPod('web-0', 'n1', { owner: web });
      cluster.addPod('web-1', 'n2', { owner: web });
      const outcome = { kind: 'failed', status, message: 'no', retryAfter: null } as const;
      cluster.answers.set('evict web-0', outcome);
      cluster.pass(20_000);
      assert.equal(cluster.done().includes('evict web-1'), taken, `${status}`);
    }
  });

  it('counts over all drains', () => {
    const drains = ['n1', 'n2'].map((name) =>
      drainOf({ nodes: [name], limits, taint: { key: name } }, { name, uid: name }),
    );
    const world = new World(drains, nodes, pods(web, 3));
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0']);
    world.show({ name: 'web-new', nodeName: 'spare', owner: web });
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0', 'web-1']);
  });

  it('gives a place back when the eviction was refused, and when nothing came for long', () => {
    const world = new World(drainOf({ ...all, limits }), nodes, pods(web, 2));
    world.refuses.add('web-0');
    world.pass(20_000);
    assert.deepEqual(evictedIn(world), ['web-1']);
    world.refuses.clear();
    world.pass(500_000);
    assert.deepEqual(evictedIn(world), ['web-1']);
    world.pass(120_000);
    assert.deepEqual(evictedIn(world), ['web-1', 'web-0']);
  });

  describe('counts after a change of leader', () => {
    const fresh = { name: 'web-new', nodeName: 'spare', owner: web };
    const cases: readonly (readonly [what: string, came: PodInput | null, taken: string[]])[] = [
      ['a pod that nobody has replaced', null, []],
      ['one in whose place another has come', { ...fresh, boundAt: 60_000 }, ['web-1']],
      ['one beside others that were there before', { ...fresh, boundAt: -1000 }, []],
    ];
    for (const [what, came, taken] of cases) {
      it(what, () => {
        const world = new World(drainOf({ ...all, limits }), nodes, pods(web, 3));
        world.pass(60_000);
        if (came) world.add(came);
        world.failOver();
        world.pass(530_000);
        assert.deepEqual(evictedIn(world), ['web-0', ...taken]);
        world.pass(20_000);
        assert.deepEqual(evictedIn(world).slice(0, 2), ['web-0', 'web-1'], 'for ten minutes');
      });
    }
  });

  it('counts after a change of leader by whole seconds: one that came in the same is for it', () => {
    const world = new World(drainOf({ ...all, limits }), nodes, pods(web, 3));
    world.now = 500;
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0']);
    world.add({ name: 'web-new', nodeName: 'spare', owner: web, boundAt: 0 });
    world.failOver();
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0', 'web-1']);
  });

  it('counts after a change of leader one that came for another only there', () => {
    const two = { nodesAtOnce: 0, maxUnavailable: 2 };
    const world = new World(drainOf({ ...all, limits: two }), nodes, pods(db, 4));
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['db-0', 'db-1']);
    world.show({
      name: 'db-0',
      uid: 'again',
      nodeName: 'spare',
      owner: db,
      ready: 'False',
      boundAt: 60_000,
    });
    world.failOver();
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['db-0', 'db-1']);
  });

  it('knows what stood for another, however often the leader changes', () => {
    const world = new World(drainOf({ ...all, limits }), nodes, pods(web, 3));
    world.pass(60_000);
    world.add({ name: 'web-new', nodeName: 'spare', owner: web, boundAt: 60_000 });
    world.failOver();
    for (const held of [false, true]) world.tell({ kind: 'leadership', held });
    world.pass(60_000);
    assert.deepEqual(evictedIn(world), ['web-0', 'web-1']);
  });

  describe('of what was taken before a change of leader', () => {
    const took = (workload: string, ...since: readonly number[]) => ({
      isGuarded: true,
      notReplaced: since.map((at, n) => ({
        ...{ workload, uid: `${workload}-${n}` },
        ...{ since: at, others: [] },
      })),
    });
    const old = { boundAt: -1_000_000 };

    it('ends by its age, whichever drain took it', () => {
      const drains = ['n1', 'n2'].map((name) =>
        drainOf({ nodes: [name], limits, taint: { key: name } }, { name, uid: name }),
      );
      const taken = [took('shop/ReplicaSet/other', 0), took('shop/ReplicaSet/web', -300_000)];
      const said = drains.map((drain, at) => ({ ...drain, ...taken[at] }));
      const world = new World(said, nodes, pods(web, 2, old));
      let ticks = 0;
      for (let wake = world.engine.nextWake(); wake !== null && wake < 310_000; ) {
        ticks += 1;
        assert.ok(ticks < 1_000, `it does not rest at ${wake}`);
        world.now = Math.max(world.now, wake);
        world.tell({ kind: 'tick' });
        if (world.now < 300_000) assert.deepEqual(evictedIn(world), []);
        wake = world.engine.nextWake();
      }
      assert.deepEqual(evictedIn(world), ['web-0']);
    });

    it('ends with a pod that is on no node yet, each for one', () => {
      for (const [since, taken] of [
        [[0], ['web-1']],
        [[0, 0], []],
      ] as const) {
        const drain = { ...drainOf({ ...all, limits }), ...took('shop/ReplicaSet/web', ...since) };
        const fresh = { name: 'web-new', owner: web };
        const [, ...left] = pods(web, 3, old);
        const world = new World(drain, nodes, [
          ...left,
          { ...fresh, nodeName: '', ready: 'False' },
        ]);
        world.pass(5_000);
        assert.deepEqual(evictedIn(world), []);
        world.show({ ...fresh, nodeName: 'spare', boundAt: 5_000, ready: 'True' });
        world.pass(60_000);
        assert.deepEqual(evictedIn(world), taken);
      }
    });
  });

  it('counts for a later drain what came while none waited', () => {
    const half = { nodesAtOnce: 0, maxUnavailable: '50%' };
    const drain = (name: string, of: string[]): ReturnType<typeof drainOf> =>
      drainOf({ nodes: of, limits: half, taint: { key: name } }, { name, uid: name });
    const world = new World(drain('one', ['n1']), nodes, pods(web, 3));
    world.pass(10_000);
    assert.deepEqual(evictedIn(world), ['web-0']);
    for (const name of ['web-new', 'web-more']) {
      world.show({ name, nodeName: 'spare', owner: web, boundAt: 20_000 });
      world.pass(10_000);
    }
    world.declare(drain('two', ['n2', 'n3']));
    world.pass(10_000);
    assert.deepEqual(evictedIn(world), ['web-0', 'web-1', 'web-2'], 'two of four');
  });

  it('of drains without it: what they took is said to be missing until another has come', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), nodes, pods(web, 2));
    world.pass(10_000);
    const missing = (): readonly string[] => world.state().notReplaced.map(({ uid }) => uid);
    assert.deepEqual([evictedIn(world), missing()], [['web-0'], ['shop/web-0']]);
    world.show({ name: 'web-new', nodeName: 'spare', owner: web, boundAt: 20_000 });
    assert.deepEqual(missing(), []);
  });

  it('lets pods go that nobody owns, or a Job', () => {
    const loose = pods(web, 3).map(({ owner: _, ...pod }) => pod);
    const world = new World(drainOf({ ...all, limits }), nodes, [...loose, ...pods(job, 3)]);
    world.pass(60_000);
    assert.equal(evictedIn(world).length, 6);
  });

  it('holds whatever comes and goes, and whenever', () => {
    const draws = fc.record({
      most: fc.integer({ min: 1, max: 3 }),
      count: fc.integer({ min: 1, max: 9 }),
      startsAnew: fc.boolean(),
      delays: fc.array(fc.nat(90), { minLength: 1, maxLength: 12 }),
      failOvers: fc.uniqueArray(fc.nat(900), { maxLength: 8 }),
    });
    fc.assert(
      fc.property(draws, ({ most, count, startsAnew, delays, failOvers }) => {
        const owner = startsAnew ? db : web;
        const drains = ['n1', 'n2', 'n3'].map((name) =>
          drainOf(
            { nodes: [name], limits: { maxUnavailable: most }, taint: { key: name } },
            { name, uid: name },
          ),
        );
        const world = new World(drains, nodes, pods(owner, count));
        let asked = 0;
        const next = (): number => (delays[asked++ % delays.length] ?? 0) * 1000;
        let later: { readonly at: number; readonly pod: PodInput }[] = [];
        const check = (): void => {
          const ready = [...world.pods.values()].filter((pod) => pod.ready === 'True').length;
          assert.ok(
            ready >= count - most,
            `${ready} of ${count} are ready, ${most} may be missing`,
          );
        };
        world.onEvicted = ({ name }) => {
          check();
          const pod = { name, uid: `${name}/${asked}`, nodeName: 'spare', owner };
          const comes = world.now + next();
          const bound = { ...pod, boundAt: comes };
          later.push({ at: comes, pod: { ...bound, ready: 'False' } });
          later.push({ at: comes + next(), pod: { ...bound, ready: 'True' } });
        };
        for (let second = 0; second < 3000; second++) {
          const due = later.filter(({ at }) => at <= world.now);
          later = later.filter(({ at }) => at > world.now);
          for (const { pod } of due) world.show(pod);
          if (failOvers.includes(second)) world.failOver();
          world.pass(1000);
        }
        assert.equal(evictedIn(world).length, count);
      }),
      { numRuns: 60 },
    );
  });
});

describe('pods.waitCompleted', () => {
  const spec = {
    nodes: ['n1'],
    pods: { withoutController: true, waitCompleted: { timeout: '1h' } },
  };

  it('gives the pods of Jobs time, and leaves those that are done', () => {
    const world = new World(drainOf(spec), nodes, [
      { name: 'report', nodeName: 'n1', owner: job },
      { name: 'old', nodeName: 'n1', owner: job, phase: 'Succeeded' },
      { name: 'web', nodeName: 'n1', owner: web },
    ]);
    world.pass(600_000);
    assert.deepEqual(evictedIn(world), ['web']);
    assert.deepEqual(
      world.state().pods.map(({ pod, state, hold }) => [pod, state, hold]),
      [['shop/report', 'waiting', 'it may finish by 1970-01-01T01:00:00Z']],
    );
    world.show({ name: 'report', nodeName: 'n1', owner: job, phase: 'Succeeded' });
    world.pass(1_000);
    assert.equal(world.state().phase, 'Drained');
    assert.deepEqual(evictedIn(world), ['web']);
  });

  it('evicts what takes longer', () => {
    const world = new World(drainOf(spec), nodes, [{ name: 'report', nodeName: 'n1', owner: job }]);
    world.pass(3_599_000);
    assert.deepEqual(evictedIn(world), []);
    world.pass(2_000);
    assert.deepEqual(evictedIn(world), ['report']);
  });

  it('goes by labels where they are given', () => {
    const waitCompleted = { timeout: '1h', podSelector: { matchLabels: { ci: 'runner' } } };
    const pods = { withoutController: true, waitCompleted };
    const world = new World(drainOf({ nodes: ['n1'], pods }), nodes, [
      { name: 'report', nodeName: 'n1', owner: job },
      { name: 'build', nodeName: 'n1', labels: { ci: 'runner' } },
    ]);
    world.pass(600_000);
    assert.deepEqual(evictedIn(world), ['report']);
  });
});

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'op' };
const tolerations = [{ key: '', operator: 'Exists' }];
const pinned: PodInput = { name: 'op-0', nodeName: 'n1', owner };

/** A node with such pods, each made anew on the node as soon as it goes. */
function worldOf(pods: readonly PodInput[], spec: object = {}, waits = 0): World {
  const world = new World(drainOf({ nodes: ['n1'], ...spec }), [{ name: 'n1' }], pods);
  let made = pods.length;
  world.onEvicted = ({ namespace, nodeName }) => {
    const pod = { ...pods[0], namespace, nodeName, name: `op-${made}`, uid: `again-${made}` };
    made += 1;
    if (waits === 0) world.show(pod);
    else world.after(waits, () => world.show(pod));
  };
  return world;
}

describe('a pod that comes back to the node', () => {
  it('is evicted again after 5, 10 and 20 s, then stays and is named', () => {
    const world = worldOf([pinned]);
    const evicted: number[] = [];
    const again = world.onEvicted;
    world.onEvicted = (pod) => {
      evicted.push(world.now);
      again(pod);
    };
    world.pass(7_000);
    assert.match(
      world.state().pods[0]?.hold ?? '',
      /^came back 2 times: ReplicaSet op starts it again on the node/,
    );
    world.pass(3_600_000);
    assert.deepEqual(evicted, [0, 5_000, 15_000, 35_000]);
    const { phase, podsGone, podsLeft, blockers } = world.state();
    assert.deepEqual([phase, podsGone, podsLeft], ['Failed', 4, 1]);
    assert.deepEqual(blockers, [
      'node n1: pod shop/op-4: came back 4 times: ReplicaSet op starts it again on the node ' +
        '(it names the node, or the node takes new pods), and it stays',
    ]);
  });

  it('is said to tolerate the taint where it does', () => {
    const world = worldOf([{ ...pinned, tolerations }], {
      tolerations: 'Ignore',
    });
    world.pass(3_600_000);
    assert.match(world.state().blockers.join(), /\(it tolerates the taint\), and it stays$/);
  });

  it('is counted for each owner, and lets other pods of the node go', () => {
    const other = { ...pinned, name: 'web-0', owner: { ...owner, name: 'web' } };
    const world = worldOf([pinned]);
    world.pass(6_000);
    world.show(other);
    world.pass(10);
    assert.ok(world.log.includes('evict web-0'));
  });

  for (const [whose, made] of [
    ['that nobody owns', () => ({ name: 'op-0' })],
    ['that nobody owns, of a new name', (at: number) => ({ name: `op-${at}` })],
    [
      'whose owner is new as well',
      (at: number) => ({ name: `op-${at}`, owner: { ...owner, name: `op-xkcd${at + 4}` } }),
    ],
  ] as const) {
    it(`is evicted no more often ${whose}, while another pod holds the node up`, () => {
      const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
      world.refuses.add('on-n1');
      let at = 0;
      const make = (): void => world.show({ nodeName: 'n1', uid: `op-${at}`, ...made(at) });
      make();
      world.onEvicted = () => {
        at += 1;
        world.after(200, make);
      };
      world.pass(60_000);
      assert.equal(at, 4);
      world.refuses.clear();
      world.pass(120_000);
      assert.match(world.state().blockers.join(), /came back 4 times: .*, and it stays/);
    });
  }

  const workflow = { ...owner, apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow' };
  const uuid = (at: number): string => `3f0c9d2e-1a2b-4c3d-8e4f-0000000${1000 + at}a`;
  for (const [what, made] of [
    ['a UUID', (at: number) => ({ name: `runner-${uuid(at)}` })],
    ['hexadecimal digits', (at: number) => ({ name: `task-${(0xa0e1_3000 + at).toString(16)}` })],
    ['a number and a suffix', (at: number) => ({ name: `cron-${29_123_456 + at}-xkcd${2 + at}` })],
    [
      'words',
      (at: number) => ({ name: ['otter', 'eel', 'emu', 'bee', 'ape'].at(at % 5) + 'a'.repeat(at) }),
    ],
    [
      'an owner with a UUID',
      (at: number) => ({ name: `w-${at}`, owner: { ...workflow, name: uuid(at) } }),
    ],
    ['a namespace of its own', (at: number) => ({ name: 'w', namespace: uuid(at) })],
  ] as const) {
    it(`stays after seven evictions where each has ${what}`, () => {
      const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
      world.refuses.add('on-n1');
      const evicted: number[] = [];
      const make = (): void => {
        world.show({ nodeName: 'n1', uid: `op-${evicted.length}`, ...made(evicted.length) });
      };
      make();
      world.onEvicted = () => {
        evicted.push(world.now);
        world.after(200, make);
      };
      world.pass(3_600_000);
      assert.deepEqual(evicted, [0, 200, 400, 600, 5_800, 16_000, 36_200]);
      world.refuses.clear();
      world.pass(120_000);
      assert.match(
        world.state().blockers.join(),
        /new pods came to the node 7 times during its drain: .+ starts this one \(.+\), and it stays/,
      );
    });
  }

  it('is moved no more often by whoever answers the EvictionRequests of the drain', () => {
    const pods = { withoutController: true, evictBy: 'EvictionRequest' };
    const world = new World(drainOf({ nodes: ['n1'], pods }), ['n1'], [pinned]);
    let moved = 0;
    for (let seconds = 0; seconds < 300; seconds += 1) {
      world.pass(1_000);
      const responder = { name: 'mover', heartbeatAt: world.now, expectedAt: null, message: '' };
      world.requests = (world.requests ?? []).map((one) => ({ ...one, responder }));
      const pod = [...world.pods.values()].find(({ uid, name }) => {
        return name === 'op-0' && world.requests?.some(({ podUid }) => podUid === uid);
      });
      if (!pod) continue;
      moved += 1;
      world.remove(pod.uid);
      world.show({ ...pinned, uid: `again-${moved}` });
    }
    assert.equal(moved, 4);
    world.remove('shop/on-n1');
    world.pass(10_000);
    assert.match(world.state().blockers.join(), /op-0: came back 4 times: .*, and it stays/);
  });

  it('is asked for a bounded number of times, however late or lost answers are', () => {
    const answers = fc.array(
      fc.record({
        after: fc.constantFrom(0, 50, 40_000),
        outcome: fc.constantFrom('done', 'blocked', 'failed'),
        goes: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(0, 500),
        answers,
        (size, waits, moods) => {
          const pods = Array.from({ length: size }, (_, at) => ({ ...pinned, name: `op-${at}` }));
          const world = worldOf(pods, {}, waits);
          const left = [...moods];
          world.mishap = () => {
            const mood = left.shift();
            if (!mood) return null;
            const { after, outcome: kind, goes } = mood;
            if (kind === 'done') return { after, outcome: { kind }, goes: true };
            const said = { message: 'no', retryAfter: null };
            if (kind === 'blocked') return { after, outcome: { kind, ...said } };
            return { after, outcome: { kind: 'failed', status: null, ...said }, goes };
          };
          world.pass(24 * 3_600_000);
          const evictions = world.log.filter((one) => one.startsWith('evict')).length;
          assert.ok(evictions <= 4 * size, `${evictions} evictions of ${size} pods`);
          assert.ok(['Failed', 'Drained'].includes(world.state().phase), world.state().phase);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a pod that stays where a drain has ended', () => {
  it('is counted and named, unless a DaemonSet would start it again there', () => {
    const daemon = {
      ...pinned,
      name: 'agent',
      owner: { ...owner, kind: 'DaemonSet' },
      tolerations,
    };
    const op = { ...pinned, tolerations };
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1'], [op, daemon]);
    world.pass(10_000);
    const { phase, podsStaying, staying } = world.state();
    assert.deepEqual([phase, podsStaying], ['Drained', 1]);
    assert.match(staying, /^1 pod stays: shop\/op-0 \(.+\)$/);
    world.remove('shop/op-0');
    assert.equal(world.state().podsStaying, 0);
  });
});

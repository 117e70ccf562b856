import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isActive, isReady } from '../src/controllers/pods.ts';
import { VirtualClock } from '../src/kernel/clock.ts';
import { threeZones, topologyNodes } from '../src/topology.ts';
import { fc } from './world/fast-check.ts';
import {
  evict,
  podsOf,
  setTaints,
  stored,
  type VirtualCluster,
  virtualCluster,
} from './world/virtual-cluster.ts';

const machines = topologyNodes(threeZones);
/** What the demo topology asks for, by app. */
const wanted = { web: 6, api: 4, db: 3, metrics: 2, 'node-agent': 9 };

/** One thing that happens to the cluster; numbers choose among what is there. */
type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'evict'; readonly pod: number }
  | { readonly kind: 'delete'; readonly pod: number; readonly grace: number | null }
  | { readonly kind: 'stop' | 'resume' | 'remove' | 'add' | 'untaint'; readonly node: number }
  | { readonly kind: 'taint'; readonly node: number; readonly effect: string };

/** Steps at a node or pod that is not there change nothing. */
function apply(running: VirtualCluster, step: Step): void {
  const { api, cluster, pass } = running;
  if (step.kind === 'pass') {
    pass(step.ms);
  } else if (step.kind === 'delete' || step.kind === 'evict') {
    const pods = api.list('pods');
    const pod = pods[step.pod % pods.length];
    if (!pod) return;
    const { namespace = '', name } = pod.metadata;
    if (step.kind === 'evict') {
      evict(api, namespace, name);
      return;
    }
    const grace = step.grace === null ? {} : { gracePeriodSeconds: step.grace };
    api.delete('pods', namespace, name, grace);
  } else {
    const machine = machines[step.node] ?? assert.fail('no such machine');
    if (step.kind === 'add') cluster.addNode(machine);
    if (!api.get('nodes', '', machine.name)) return;
    if (step.kind === 'stop') cluster.node(machine.name).stop();
    if (step.kind === 'resume') cluster.node(machine.name).resume();
    if (step.kind === 'remove') cluster.removeNode(machine.name);
    if (step.kind === 'untaint') setTaints(api, machine.name);
    if (step.kind === 'taint') setTaints(api, machine.name, `k:${step.effect}`);
  }
}

const nodeNumber = fc.nat(machines.length - 1);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(60_000) }),
  fc.record({ kind: fc.constant('evict' as const), pod: fc.nat() }),
  fc.record({
    kind: fc.constant('delete' as const),
    pod: fc.nat(),
    grace: fc.constantFrom(null, 0, 5),
  }),
  fc.record({
    kind: fc.constantFrom('stop', 'resume', 'remove', 'add', 'untaint'),
    node: nodeNumber,
  }),
  fc.record({
    kind: fc.constant('taint' as const),
    node: nodeNumber,
    effect: fc.constantFrom('NoSchedule', 'NoExecute'),
  }),
);

/** Every write of a run: when, what, and what was stored. */
function history(seed: number, steps: readonly Step[]): readonly string[] {
  const lines: string[] = [];
  const running = virtualCluster({ seed, topology: threeZones, timing: { startupMs: [1, 900] } });
  running.api.subscribe(({ type, object }) => {
    lines.push(`${running.clock.now()} ${type} ${JSON.stringify(object)}`);
  });
  running.untilIdle();
  for (const step of steps) apply(running, step);
  return lines;
}

describe('the demo cluster', () => {
  it('comes up with everything its topology asks for', () => {
    const { api, untilIdle } = virtualCluster({ topology: threeZones });
    untilIdle();
    for (const [app, count] of Object.entries(wanted)) {
      assert.equal(podsOf(api, app).filter(isReady).length, count, app);
    }
    assert.equal(stored(api, 'poddisruptionbudgets', 'shop', 'web').status.disruptionsAllowed, 1);
    assert.equal(stored(api, 'poddisruptionbudgets', 'shop', 'db').status.disruptionsAllowed, 1);
    const zones = new Set(podsOf(api, 'db').map(({ spec }) => spec.nodeName.slice(0, 6)));
    assert.deepEqual([...zones].sort(), threeZones.zones);
  });

  it('writes nothing but heartbeats when nothing happens', () => {
    const { api, untilIdle, pass } = virtualCluster({ topology: threeZones });
    untilIdle();
    pass(120_000);
    const written = new Set<string>();
    api.subscribe(({ resource }) => void written.add(resource));
    pass(3_600_000);
    assert.deepEqual([...written].sort(), ['leases', 'nodes']);
  });

  it('can be stopped and started again', () => {
    const { api, cluster, pass, untilIdle } = virtualCluster({ topology: threeZones });
    untilIdle();
    cluster.stop();
    const { resourceVersion } = stored(api, 'nodes', '', 'zone-a-1').metadata;
    api.delete('pods', 'shop', 'db-0');
    pass(3_600_000);
    assert.equal(stored(api, 'nodes', '', 'zone-a-1').metadata.resourceVersion, resourceVersion);
    cluster.start();
    untilIdle();
    assert.equal(podsOf(api, 'db').filter(isReady).length, 3);
  });

  it('goes on where the API accepts writes when it refuses others', () => {
    const { api, pass, untilIdle, until } = virtualCluster({
      topology: threeZones,
      without: ['namespaces'],
    });
    untilIdle();
    const isWhole = (app: keyof typeof wanted) => () =>
      podsOf(api, app).filter((pod) => isActive(pod) && isReady(pod)).length === wanted[app];
    api.delete('namespaces', '', 'shop');
    for (const app of ['web', 'metrics']) {
      const { namespace = '', name } = podsOf(api, app)[0]?.metadata ?? assert.fail(app);
      api.delete('pods', namespace, name);
    }
    until(isWhole('metrics'), 'metrics is whole again');
    pass(3_600_000);
    assert.equal(podsOf(api, 'web').length, 5);
    const shop = stored(api, 'namespaces', '', 'shop');
    assert.equal(shop.status.phase, 'Terminating');
  });
});

describe('a seed', () => {
  it('decides the history of a run, whatever happens in it', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 15 }), fc.integer(), (steps, seed) => {
        assert.deepEqual(history(seed, steps), history(seed, steps));
      }),
      { numRuns: 10 },
    );
  });

  it('makes histories differ', () => {
    assert.notDeepEqual(history(1, []), history(2, []));
  });
});

describe('replicas', () => {
  it('are all there again after deletions, evictions, stopped kubelets, unreachable nodes and taints', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 5, maxLength: 40 }), (steps) => {
        const running = virtualCluster({ topology: threeZones });
        running.untilIdle();
        for (const step of steps) apply(running, step);
        for (const machine of machines) {
          running.cluster.addNode(machine).resume();
          running.pass(0);
          setTaints(running.api, machine.name);
        }
        running.untilIdle();
        for (const [app, count] of Object.entries(wanted)) {
          const pods = podsOf(running.api, app).filter(isActive);
          assert.equal(pods.length, count, app);
          assert.ok(pods.every(isReady), app);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('the virtual clock', () => {
  it('runs callbacks by instant, then in the order in which they were set', () => {
    const delays = fc.array(fc.record({ delay: fc.nat(20), cancel: fc.boolean() }));
    fc.assert(
      fc.property(delays, (timers) => {
        const clock = new VirtualClock(0);
        const ran: number[] = [];
        const set = timers.map(({ delay }, index) => clock.after(delay, () => ran.push(index)));
        for (const [index, { cancel }] of timers.entries()) if (cancel) set[index]?.cancel();
        const expected = timers
          .map(({ delay, cancel }, index) => ({ delay, cancel, index }))
          .filter(({ cancel }) => !cancel)
          .sort((a, b) => a.delay - b.delay || a.index - b.index);
        assert.equal(clock.nextWake(), expected[0]?.delay ?? null);
        clock.advanceTo(20);
        assert.deepEqual(
          ran,
          expected.map(({ index }) => index),
        );
        assert.equal(clock.nextWake(), null);
      }),
    );
  });

  it('stops at the instant at which a condition holds', () => {
    const clock = new VirtualClock(0);
    let count = 0;
    const tick = (): void => {
      count++;
      clock.after(10, tick);
    };
    tick();
    assert.ok(clock.advanceUntil(() => count === 4, 100));
    assert.equal(clock.now(), 30);
    assert.ok(!clock.advanceUntil(() => count === 99, 100));
  });
});

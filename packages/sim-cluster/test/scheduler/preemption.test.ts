import assert from 'node:assert/strict';
import { it } from 'node:test';
import { node, pod } from '../../src/builders.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import type { Place } from '../../src/scheduler/place.ts';
import type { Placement } from '../../src/scheduler/placement.ts';
import { type Preemption, preempt } from '../../src/scheduler/preemption.ts';
import { type SchedulingPod, schedulingPod } from '../../src/scheduler/scheduling-pod.ts';
import { fc } from '../world/fast-check.ts';
import { placementOf } from '../world/placements.ts';

const nodeNames = ['n-1', 'n-2', 'n-3'] as const;
const allocatable = { cpu: '4', memory: '8Gi', pods: '8' };

const podDrawn = fc.record({
  nodeName: fc.constantFrom(...nodeNames),
  cpu: fc.integer({ min: 1, max: 4 }),
  priority: fc.integer({ min: -1, max: 3 }),
  minute: fc.integer({ min: 10, max: 59 }),
  app: fc.constantFrom('web', 'db'),
  isEnding: fc.boolean(),
});

const budget: KubeObject = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { matchLabels: { app: 'web' } } },
  status: { disruptionsAllowed: 1 },
};

/** With anti-affinity to the pods of an app on the same node. */
function asking(cpu: number, priority: number, app: string | null): SchedulingPod {
  const term = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: { app } },
  };
  const affinity = {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
  };
  const resources = { requests: { cpu: `${cpu}` } };
  const containers = [{ name: 'c', image: 'i', resources }];
  const spec = { containers, priority, ...(app === null ? {} : { affinity }) };
  return schedulingPod('default/new', { ...pod('default', 'new'), spec });
}

/** All that is counted of the nodes. */
function counted(placement: Placement): readonly unknown[] {
  placement.pool.places();
  return nodeNames.map((name) => {
    const { cpu, memory, scoredCpu, pods, others, index } =
      placement.pool.place(name) ?? assert.fail();
    const room = placement.pool.rooms.leastAllocated(index, { cpu: 0, memory: 0 });
    return [cpu, memory, scoredCpu, [...pods.keys()], [...others], room];
  });
}

function tried(placement: Placement, wanted: SchedulingPod): Preemption | null {
  const { failure } = placement.search(wanted);
  return failure ? preempt(placement, wanted, failure, { budgets: [budget], begin: 0 }) : null;
}

it('a pod fits without its victims, of whom none is too many, and the search leaves no trace', () => {
  const wantedDrawn = fc.record({
    cpu: fc.integer({ min: 1, max: 5 }),
    priority: fc.integer({ min: 0, max: 4 }),
    app: fc.constantFrom(null, 'web', 'db'),
  });
  fc.assert(
    fc.property(fc.array(podDrawn, { maxLength: 16 }), wantedDrawn, (drawn, wanted) => {
      const labels = (name: string) => ({ 'kubernetes.io/hostname': name });
      const nodes = nodeNames.map((name) =>
        node(name, { labels: labels(name), status: { allocatable } }),
      );
      const placement = placementOf(...nodes);
      for (const [number, one] of drawn.entries()) {
        placement.setPod(`default/p-${number}`, boundPod(`p-${number}`, one));
      }
      const before = counted(placement);
      const incoming = asking(wanted.cpu, wanted.priority, wanted.app);
      const found = tried(placement, incoming);
      assert.deepEqual(counted(placement), before);
      if (found?.text !== null) return;
      const { place, victims } = found;
      assert.ok(victims.length > 0);
      assert.ok(victims.every(({ priority }) => priority < wanted.priority));
      checkVictims(placement, incoming, place, victims);
    }),
  );
});

/** On their node the pod fits when they are gone, and does not while one of them is there. */
function checkVictims(
  placement: Placement,
  wanted: SchedulingPod,
  place: Place,
  victims: readonly SchedulingPod[],
): void {
  for (const { key } of victims) placement.deletePod(key);
  const { failure } = placement.search(wanted);
  assert.equal(failure?.rejections.has(place) ?? false, false);
  for (const victim of victims) {
    placement.setPod(victim.key, victim.pod);
    const again = placement.search(wanted);
    assert.ok(again.failure?.rejections.has(place) ?? again.place !== place);
    placement.deletePod(victim.key);
  }
}

type Drawn = typeof podDrawn extends fc.Arbitrary<infer One> ? One : never;

function boundPod(name: string, { nodeName, cpu, priority, minute, app, isEnding }: Drawn) {
  const made = pod('default', name, { labels: { app } });
  const resources = { requests: { cpu: `${cpu * 500}m` } };
  const containers = [{ name: 'c', image: 'i', resources }];
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  return {
    ...made,
    metadata: { ...made.metadata, ...(isEnding ? { deletionTimestamp } : {}) },
    spec: { containers, priority, nodeName },
    status: { phase: 'Running', startTime: `2026-01-01T00:${minute}:00Z` },
  };
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionTrack, PodTrack, Recording, UnplacedTrack } from '@taintmgr/page';
import fc from 'fast-check';
import { summarize } from '../../../../src/commands/simulate/result/summary.ts';
import { sumsOf } from '../../../../src/commands/simulate/result/sums.ts';

const empty: Recording = {
  ...{ zones: [], nodes: [], workloads: [], budgets: [], jobs: [], pods: [], deadlines: [] },
  ...{ evictions: [], holds: [], refusals: [], failures: [], unplaced: [] },
};
const end = 120;
const ofWeb = { namespace: 'shop', workload: 'Deployment shop/web' };

/** A pod that serves in these spans on `ZONE-1`; null: to the end. */
function pod(name: string, zone: string, ...spans: (readonly [number, number | null])[]): PodTrack {
  const states = spans.flatMap(([from, until]) => [
    { at: from, state: 'serving' } as const,
    ...(until === null ? [] : [{ at: until, state: 'down' } as const]),
  ]);
  return { ...ofWeb, pod: name, node: `${zone}-1`, from: spans[0]?.[0] ?? 0, until: null, states };
}

/** A workload that wants so many of these pods, and has as many as serve. */
function recording(wanted: number, pods: readonly PodTrack[], said: Partial<Recording> = {}) {
  const instants = [...new Set([0, ...pods.flatMap(({ states }) => states.map(({ at }) => at))])];
  const servesAt = ({ states }: PodTrack, at: number): boolean =>
    states.findLast((one) => one.at <= at)?.state === 'serving';
  const serving = instants
    .sort((one, other) => one - other)
    .map((at) => ({ at, pods: pods.filter((one) => servesAt(one, at)).length }));
  return {
    ...empty,
    nodes: ['a', 'b', 'c'].map((zone) => ({
      ...{ name: `${zone}-1`, zone, states: [], pods: [] },
    })),
    workloads: [
      {
        ...{ kind: 'Deployment', namespace: 'shop', name: 'web' },
        ...{ states: [{ at: 0, wanted, ready: wanted }], serving },
      },
    ],
    pods,
    ...said,
  };
}

function minutesByZone(of: Recording): Readonly<Record<string, number>> {
  const { zones } = sumsOf(of, end);
  return Object.fromEntries(
    zones.flatMap(({ name, podMinutesLost }) => {
      return podMinutesLost > 0 ? [[name, podMinutesLost] as const] : [];
    }),
  );
}

function eviction(node: string, at: number): EvictionTrack {
  const rest = { because: [], reasons: [], how: 'delete', arrivedAt: 0 } as const;
  return { ...ofWeb, ...rest, pod: `on-${node}`, node, at };
}

function unplaced(from: number): UnplacedTrack {
  return { ...ofWeb, pod: `from-${from}`, from, until: null, message: 'no room' };
}

describe('the pod-minutes of a zone', () => {
  const cases: readonly [string, Recording, Readonly<Record<string, number>>][] = [
    ['are of pods that were lost there', recording(2, [pod('1', 'a', [0, 60])]), { a: 1, '': 2 }],
    [
      'end when another pod comes, wherever that is',
      recording(1, [pod('1', 'a', [0, 30]), pod('2', 'b', [60, null])]),
      { a: 0.5 },
    ],
    [
      'are of the pods lost last where one has come: it takes the place of the first',
      recording(2, [pod('1', 'a', [0, 30]), pod('2', 'b', [0, 60]), pod('3', 'c', [90, null])]),
      { a: 1, b: 1 },
    ],
    [
      'are of the others where a pod comes back itself',
      recording(2, [pod('1', 'a', [0, 30]), pod('2', 'b', [0, 60], [90, null])]),
      { a: 1.5, b: 0.5 },
    ],
    [
      'are of none where one serves before the other goes',
      recording(1, [pod('1', 'a', [0, 60]), pod('2', 'b', [30, null])]),
      {},
    ],
    ['are of no zone where a pod never was', recording(1, []), { '': 2 }],
  ];
  for (const [what, of, wanted] of cases) {
    it(what, () => assert.deepEqual(minutesByZone(of), wanted));
  }
});

it('evictions and pods without room are of the zone that the pod was in', () => {
  const evictions = [eviction('a-1', 10), eviction('b-1', 20), eviction('gone', 30)];
  const of = recording(0, [], { evictions, unplaced: [unplaced(20), unplaced(21), unplaced(5)] });
  const { totals, namespaces, zones } = sumsOf(of, end);
  const figures = zones.map((one) => [one.name, one.evictions, one.unplaced]);
  assert.deepEqual(figures, [
    ['', 1, 1],
    ['a', 1, 1],
    ['b', 1, 1],
    ['c', 0, 0],
  ]);
  assert.deepEqual([totals.evictions, totals.unplaced, totals.workloads], [3, 3, 1]);
  assert.deepEqual(namespaces, [{ name: 'shop', ...totals }]);
});

/** Some pods of a workload, each with spans of whole seconds. */
const somePods = fc.array(
  fc
    .record({
      zone: fc.constantFrom('a', 'b', 'c'),
      instants: fc.uniqueArray(fc.integer({ min: 0, max: end - 1 }), { maxLength: 6 }),
    })
    .map(({ zone, instants }) => {
      const sorted = instants.sort((one, other) => one - other);
      const spans = sorted.flatMap((from, index) => {
        return index % 2 === 0 ? [[from, sorted[index + 1] ?? null] as const] : [];
      });
      return { zone, spans };
    }),
  { maxLength: 6 },
);

it('all sums agree with each other, and with a count of each second', () => {
  fc.assert(
    fc.property(
      fc.array(somePods, { maxLength: 4 }),
      fc.integer({ min: 0, max: 8 }),
      (all, wanted) => {
        const parts = all.map((pods, index) => {
          const own = {
            namespace: `n${index % 2}`,
            workload: `Deployment n${index % 2}/w${index}`,
          };
          const tracks = pods.map(({ zone, spans }, at) => pod(`${at}`, zone, ...spans));
          const { nodes, workloads } = recording(wanted, tracks);
          const named = workloads.map((one) => ({ ...one, ...own, name: `w${index}` }));
          return { nodes, workloads: named, pods: tracks.map((one) => ({ ...one, ...own })) };
        });
        const of: Recording = {
          ...empty,
          nodes: parts[0]?.nodes ?? [],
          workloads: parts.flatMap(({ workloads }) => workloads),
          pods: parts.flatMap(({ pods }) => pods),
        };
        const { totals, namespaces, zones, workloads } = summarize(of, end);
        const downAt = Array.from({ length: end }, (_, second) => {
          const missing = of.workloads.map(({ serving }) => {
            return Math.max(0, wanted - (serving.findLast(({ at }) => at <= second)?.pods ?? 0));
          });
          return missing.reduce((sum, one) => sum + one, 0);
        });
        assert.equal(totals.downMax, Math.max(0, ...downAt));
        const minutes = downAt.reduce((sum, one) => sum + one, 0) / 60;
        for (const list of [[totals], namespaces, zones, workloads]) {
          const sum = list.reduce((rest, { podMinutesLost }) => rest + podMinutesLost, 0);
          assert.ok(Math.abs(sum - minutes) < 0.01, `${sum} of ${minutes}`);
        }
      },
    ),
  );
});

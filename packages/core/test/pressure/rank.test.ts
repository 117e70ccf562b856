import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FilesystemLayout, PodUsage, PressurePod, Signal } from '@taintmgr/core/pressure';
import { pressureBehaviours } from '../../src/pressure/behaviours.ts';
import { demandOf } from '../../src/pressure/pods/demand.ts';
import {
  type ActivePod,
  candidatesFor,
  type PressureSemantics,
  rank,
} from '../../src/pressure/rank.ts';
import { signals } from '../../src/pressure/signals.ts';
import { itIsAsRecorded } from '../conformance/recorded.ts';
import { fc } from '../fast-check.ts';
import { pressurePod, usageOf } from './objects.ts';

const Mi = 2 ** 20;

type Row = readonly [
  name: string,
  priority: number,
  /** Null: not seen. */
  usage: Partial<PodUsage> | null,
  requests?: Readonly<Record<string, string>>,
  more?: Partial<PressurePod>,
];

function active(rows: readonly Row[]): readonly ActivePod[] {
  return rows.map(([name, priority, usage, requests = {}, more = {}]) => {
    const containers = [{ name: 'main', requests }];
    const pod = pressurePod(name, { priority, containers, ...more });
    return { pod, demand: demandOf(pod), usage: usage && usageOf(name, usage) };
  });
}

function orderOf(
  rows: readonly Row[],
  signal: Signal,
  semantics: PressureSemantics,
  layout: FilesystemLayout = 'single',
): string {
  const behaviour = pressureBehaviours[semantics];
  const candidates = candidatesFor(active(rows), signal, layout, behaviour);
  const ranked = rank(candidates, behaviour.order[signals[signal].resource]);
  return ranked.map(({ pod, decidedBy }) => `${pod.name}:${decidedBy ?? '-'}`).join(' ');
}

const memory = (mebibytes: number) => ({ workingSetBytes: mebibytes * Mi });
const logs = (usedBytes: number | null, inodesUsed: number | null) => ({
  containers: [
    {
      name: 'main',
      workingSetBytes: null,
      rootfs: { usedBytes: null, inodesUsed: null },
      logs: { usedBytes, inodesUsed },
    },
  ],
});

const memoryRows: readonly Row[] = [
  ['A', -1, memory(900), { memory: '1Gi' }],
  ['B', 0, memory(50), { memory: '100Mi' }],
  ['C', 0, memory(400), { memory: '100Mi' }],
  ['D', 1, memory(400)],
  ['E', -1, memory(100)],
  ['F', 5, null],
  ['G', 0, memory(350)],
  ['H', 0, memory(50), { memory: '50Mi' }],
];

const cases: readonly [
  name: string,
  rows: readonly Row[],
  signal: Signal,
  semantics: PressureSemantics,
  expected: string,
  layout?: FilesystemLayout,
][] = [
  [
    'memory: not seen first, over its request, priority, how far over',
    memoryRows,
    'memory.available',
    'kubelet-1.36',
    'F:unmeasuredFirst E:priority G:usageOverRequest C:priority D:exceedsRequest A:priority H:usageOverRequest B:-',
  ],
  [
    'memory, precise: the same, and not seen last',
    memoryRows,
    'memory.available',
    'precise',
    'E:priority G:usageOverRequest C:priority D:exceedsRequest A:priority H:usageOverRequest B:measuredFirst F:-',
  ],
  [
    'pids: priority, then how many',
    [
      ['p', -1, { processes: 5 }],
      ['q', 0, { processes: 500 }],
      ['r', 0, { processes: 10 }],
      ['s', 1, { processes: 9999 }],
      ['t', -1, { processes: 50 }],
    ],
    'pid.available',
    'kubelet-1.36',
    't:usage p:priority q:usage r:priority s:-',
  ],
  [
    'inodes: the kubelet subtracts bytes from inodes',
    [
      ['X', 0, logs(0, 1_000_000), { 'ephemeral-storage': '1Gi' }],
      ['Y', 0, logs(0, 10)],
    ],
    'nodefs.inodesFree',
    'kubelet-1.36',
    'Y:usageOverRequest X:-',
  ],
  [
    'inodes, precise: inodes are inodes',
    [
      ['X', 0, logs(0, 1_000_000), { 'ephemeral-storage': '1Gi' }],
      ['Y', 0, logs(0, 10)],
    ],
    'nodefs.inodesFree',
    'precise',
    'X:usage Y:-',
  ],
  [
    'split images: nobody uses any of their disk, so small requests go first',
    [
      ['big', 0, logs(5, 5), { 'ephemeral-storage': '2Gi' }],
      ['small', 0, logs(9, 9), { 'ephemeral-storage': '1Gi' }],
      ['low', -1, logs(1, 1), { 'ephemeral-storage': '9Gi' }],
    ],
    'imagefs.available',
    'kubelet-1.36',
    'low:priority small:usageOverRequest big:-',
    'splitImages',
  ],
  [
    'resources of the pod hide what containers ask of the disk',
    [
      [
        'whole',
        0,
        logs(2 ** 30, 1),
        { 'ephemeral-storage': '5Gi' },
        { resources: { requests: { cpu: '1' } } },
      ],
      ['plain', 0, logs(5 * 2 ** 30 + 1, 1), { 'ephemeral-storage': '5Gi' }],
    ],
    'nodefs.available',
    'kubelet-1.36',
    'whole:usageOverRequest plain:-',
  ],
  [
    'precise: they do not',
    [
      [
        'whole',
        0,
        logs(2 ** 30, 1),
        { 'ephemeral-storage': '5Gi' },
        { resources: { requests: { cpu: '1' } } },
      ],
      ['plain', 0, logs(5 * 2 ** 30 + 1, 1), { 'ephemeral-storage': '5Gi' }],
    ],
    'nodefs.available',
    'precise',
    'plain:exceedsRequest whole:-',
  ],
  [
    'the kubelet of 2017: QoS before all else',
    [
      ['guaranteed', 0, memory(1000), { memory: '1Mi' }, { qosClass: 'Guaranteed' }],
      ['burstable', 0, memory(200), { memory: '1Mi' }, { qosClass: 'Burstable' }],
      ['best', 9, memory(10), {}, { qosClass: 'BestEffort' }],
      ['best-too', 0, memory(20), {}, { qosClass: 'BestEffort' }],
    ],
    'memory.available',
    'kubelet-1.6',
    'best-too:usageOverRequest best:qosClass burstable:qosClass guaranteed:-',
  ],
  [
    'precise: equals go by name',
    [
      ['b', 0, memory(10)],
      ['a', 0, memory(10)],
    ],
    'memory.available',
    'precise',
    'a:name b:-',
  ],
  [
    'kubelet: equals stay as they came',
    [
      ['b', 0, memory(10)],
      ['a', 0, memory(10)],
    ],
    'memory.available',
    'kubelet-1.36',
    'b:- a:-',
  ],
];

describe('the order of evictions', () => {
  for (const [name, rows, signal, semantics, expected, layout] of cases) {
    it(name, () => assert.equal(orderOf(rows, signal, semantics, layout), expected));
  }
});

// The rules of the documentation, said again as plainly as one can: who goes before whom.

interface Plain {
  readonly name: string;
  readonly priority: number;
  readonly used: number | null;
  readonly requested: number;
}

function goesBefore(a: Plain, b: Plain): boolean {
  if (a.used === null || b.used === null) {
    if (a.used !== null || b.used !== null) return a.used !== null;
    // Nothing is known of either; what they asked for tells nothing.
    if (a.priority !== b.priority) return a.priority < b.priority;
    return a.name < b.name;
  }
  const [overA, overB] = [a.used > a.requested, b.used > b.requested];
  if (overA !== overB) return overA;
  if (a.priority !== b.priority) return a.priority < b.priority;
  const [restA, restB] = [a.used - a.requested, b.used - b.requested];
  if (restA !== restB) return restA > restB;
  return a.name < b.name;
}

function twinOrder(pods: readonly Plain[]): readonly string[] {
  const left = [...pods];
  const order: string[] = [];
  while (left.length > 0) {
    const index = left.findIndex((one) => left.every((o) => o === one || goesBefore(one, o)));
    assert.ok(index >= 0, 'somebody always goes first');
    order.push(...left.splice(index, 1).map(({ name }) => name));
  }
  return order;
}

describe('the order against its twin', () => {
  it('is the same for any pods', () => {
    const plain = fc.record({
      priority: fc.integer({ min: -2, max: 2 }),
      used: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 4 })),
      requested: fc.integer({ min: 0, max: 4 }),
    });
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 40 }), (rows) => {
        const pods = rows.map((row, index) => ({
          ...row,
          name: `p${String(index).padStart(2, '0')}`,
        }));
        const ranked = orderOf(
          pods.map(({ name, priority, used, requested }): Row => {
            const usage = used === null ? null : { workingSetBytes: used };
            return [name, priority, usage, { memory: String(requested) }];
          }),
          'memory.available',
          'precise',
        );
        const names = ranked === '' ? [] : ranked.split(' ').map((word) => word.split(':')[0]);
        assert.deepEqual(names, twinOrder(pods));
      }),
      { numRuns: 200 },
    );
  });
});

itIsAsRecorded('kubelet-ranking', 180);

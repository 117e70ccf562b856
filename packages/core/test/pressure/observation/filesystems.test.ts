import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createPressureMachine,
  type NodeObservation,
  type PressureSemantics,
} from '@taintmgr/core/pressure';
import { Gi, Mi, machineWith, observationOf, pressurePod, see } from '../objects.ts';
import { itAnswersPressure } from '../script.ts';

describe('how file systems lie', () => {
  const disks = (nodefs: number, imagefs: number, containerfs?: number): NodeObservation =>
    observationOf({
      'nodefs.available': [nodefs, 100 * Gi, 1000],
      'imagefs.available': [imagefs, 100 * Gi, 1000],
      ...(containerfs !== undefined && {
        'containerfs.available': [containerfs, 100 * Gi, 1000] as const,
      }),
    });
  const cases: readonly [NodeObservation, string | null][] = [
    [disks(50 * Gi, 50 * Gi + Mi), 'single'],
    [disks(50 * Gi, 20 * Gi), 'dedicatedImages'],
    [disks(50 * Gi, 20 * Gi, 20 * Gi), 'dedicatedImages'],
    [disks(50 * Gi, 20 * Gi, 50 * Gi), 'splitImages'],
    [observationOf({ 'nodefs.available': [1, 2, 3] }), null],
  ];
  for (const [observation, layout] of cases) {
    it(`${layout}`, () => {
      const machine = machineWith([], {});
      see(machine, 1000, observation);
      assert.equal(machine.explain(1000, 'n1')?.layout, layout);
    });
  }

  it('unknown, disks evict nobody', () => {
    const machine = machineWith([pressurePod('web')], {
      evictionHard: { 'nodefs.available': '10%' },
    });
    const seen = observationOf({ 'nodefs.available': [Gi, 100 * Gi, 1000] });
    const reports = see(machine, 1000, seen).flatMap((command) =>
      command.kind === 'pressureReport' && command.report.kind === 'withheld'
        ? command.report.because.map(({ code }) => code)
        : [],
    );
    assert.deepEqual(reports, ['LayoutUnknown', 'ThresholdMet']);
  });
});

const million = 1_000_000;

/** What is free of one file system, in GiB of 100 and in millions of inodes of 6. */
interface Disk {
  readonly gi: number;
  readonly inodes?: number;
  /** Of its inodes, in millions. */
  readonly inodesMax?: number;
  /** Its size in GiB. */
  readonly size?: number;
  /** How many seconds ago it was measured. */
  readonly age?: number;
}

/** One look at the file systems of a node: of the kubelet, of images, of writable layers. */
type Look = readonly [nodefs: Disk, imagefs: Disk, containerfs?: Disk];

function samplesOf(now: number, [nodefs, imagefs, containerfs]: Look) {
  const named = { nodefs, imagefs, ...(containerfs && { containerfs }) };
  const samples = Object.entries(named).flatMap(
    ([name, { gi, inodes, inodesMax = 6, size = 100, age = 0 }]) => {
      const time = now - age * 1000;
      const bytes = [`${name}.available`, [gi * Gi, size * Gi, time]] as const;
      if (inodes === undefined) return [bytes];
      const counted = [inodes * million, inodesMax * million, time] as const;
      return [bytes, [`${name}.inodesFree`, counted] as const];
    },
  );
  return observationOf(Object.fromEntries(samples));
}

/** The layout after each look, which come every 10 s. */
function layouts(
  looks: readonly Look[],
  semantics: PressureSemantics = 'precise',
): readonly (string | null | undefined)[] {
  const machine = createPressureMachine({ semantics, settings: {} });
  const node = { name: 'n1', uid: 'n1', labels: {}, conditions: [] };
  machine.handle(0, { kind: 'pressureNode', node });
  return looks.map((look, index) => {
    const now = (index + 1) * 10_000;
    machine.handle(now, { kind: 'observed', nodeName: 'n1', observation: samplesOf(now, look) });
    return machine.explain(now, 'n1')?.layout;
  });
}

const equal: Look = [{ gi: 50 }, { gi: 50 }];

const close: Look = [{ gi: 50 }, { gi: 49.9 }];

const apart: Look = [{ gi: 50 }, { gi: 20 }];

const [one, two] = ['single', 'dedicatedImages'];

describe('how file systems lie, look after look', () => {
  const cases: readonly [
    name: string,
    looks: readonly Look[],
    expected: readonly (string | null)[],
  ][] = [
    ['alike is taken for one, until they differ', [close, apart, close], [one, two, two]],
    ['different is taken for two, until they are equal', [apart, close, equal], [two, two, one]],
    ['equal, they have to differ twice', [equal, apart, apart], [one, one, two]],
    [
      'to differ twice is forgotten once they are equal',
      [equal, apart, equal, apart],
      [one, one, one, one],
    ],
    [
      'to differ is forgotten once they are close again',
      [equal, apart, close, apart],
      [one, one, one, one],
    ],
    [
      'the same samples once more are not another look',
      [
        equal,
        apart,
        [
          { gi: 50, age: 10 },
          { gi: 20, age: 10 },
        ],
      ],
      [one, one, one],
    ],
    [
      'used alike, with other inodes',
      [
        [
          { gi: 50, inodes: 5 },
          { gi: 50, inodes: 3 },
        ],
      ],
      [two],
    ],
    [
      'bytes alone that are equal prove nothing where inodes are not quite',
      [
        [
          { gi: 50, inodes: 5 },
          { gi: 50, inodes: 4.99 },
        ],
        [
          { gi: 50, inodes: 5 },
          { gi: 50, inodes: 3 },
        ],
      ],
      [one, two],
    ],
    [
      'inodes whose number depends on what is free',
      [
        [
          { gi: 50, inodes: 5 },
          { gi: 50, inodes: 5.001, inodesMax: 6.001 },
        ],
      ],
      [one],
    ],
    [
      'inodes that are not counted',
      [
        [
          { gi: 50, inodes: 0, inodesMax: 0 },
          { gi: 50, inodes: 3 },
        ],
      ],
      [one],
    ],
    ['of other sizes', [[{ gi: 50 }, { gi: 50, size: 100.5 }]], [two]],
    ['nothing that can be, at first', [[{ gi: 50 }, { gi: 0, size: 0 }], equal], [null, one]],
    ['measured long ago', [[{ gi: 50 }, { gi: 20, age: 61 }], equal], [null, one]],
    [
      'layers on the disk of the kubelet, also while nothing is said of them',
      [[{ gi: 50 }, { gi: 20 }, { gi: 50 }], apart],
      ['splitImages', 'splitImages'],
    ],
  ];
  for (const [name, looks, expected] of cases) {
    it(name, () => {
      assert.deepEqual(layouts(looks), expected);
    });
  }

  it('is settled by the first look for a kubelet', () => {
    assert.deepEqual(layouts([close, apart, apart], 'kubelet-1.36'), [one, one, one]);
    assert.deepEqual(layouts([apart, equal], 'kubelet-1.6'), [two, two]);
  });
});

itAnswersPressure('disks');

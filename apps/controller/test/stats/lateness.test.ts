import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Notice } from '@taintmgr/k8s-adapter';
import { Lateness } from '../../src/stats/lateness.ts';
import { because, due, finished, pod, reported, sent } from '../metrics/measured.ts';

const scheduled = reported({
  kind: 'deadline',
  pod,
  from: null,
  to: due,
  cause: 'NodeChanged',
  because,
});
const calledOff = reported({
  kind: 'deadline',
  pod,
  from: due,
  to: null,
  cause: 'NodeChanged',
  because,
});
const setback = { kind: 'failed', status: 500, message: 'no', retryAfter: null } as const;
const blocker = { code: 'ServerError', verdict: 'resolves', message: 'no' } as const;
const hit = { per: 'zone', name: 'a', limit: 'percent', tripped: false } as const;
const blocked = reported({ kind: 'retry', pod, attempt: 1, at: due, setback, blocker });
const queued = reported({ kind: 'queued', pod, hit, until: null });
const second = 1000;

type Step = readonly [after: number, what: Notice | 'acts' | 'stands by'];

/** Plays the steps, in milliseconds after the pod is due; how many are late, and how many lost at last. */
function play(...steps: readonly Step[]): { readonly late: number; readonly lost: number } {
  let [now, acts, late] = [due - 60 * second, true, 0];
  const lateness = new Lateness(
    () => acts,
    () => now,
  );
  const other: Notice = { kind: 'synced' };
  lateness.observe(other, now);
  for (const [after, what] of steps) {
    now = due + after;
    if (typeof what === 'string') acts = what === 'acts';
    if (lateness.observe(typeof what === 'string' ? other : what, now)) late += 1;
  }
  return { late, lost: lateness.lost() };
}

describe('lateness', () => {
  const cases: readonly (readonly [
    name: string,
    steps: readonly Step[],
    late: number,
    lost: number,
  ])[] = [
    [
      'in time',
      [
        [-second, scheduled],
        [0, sent],
        [40, finished({ kind: 'done' })],
      ],
      0,
      0,
    ],
    [
      'just in time',
      [
        [-second, scheduled],
        [30 * second, sent],
      ],
      0,
      0,
    ],
    [
      'late',
      [
        [-second, scheduled],
        [30 * second + 1, sent],
      ],
      1,
      0,
    ],
    [
      'not due yet',
      [
        [-50 * second, scheduled],
        [-second, { kind: 'synced' }],
      ],
      0,
      0,
    ],
    [
      'not lost yet',
      [
        [-second, scheduled],
        [60 * second, { kind: 'synced' }],
      ],
      0,
      0,
    ],
    [
      'lost',
      [
        [-second, scheduled],
        [61 * second, { kind: 'synced' }],
      ],
      0,
      1,
    ],
    [
      'called off',
      [
        [-second, scheduled],
        [0, calledOff],
        [90 * second, { kind: 'synced' }],
      ],
      0,
      0,
    ],
    [
      'held by a limit',
      [
        [-second, scheduled],
        [0, queued],
        [90 * second, sent],
      ],
      0,
      0,
    ],
    [
      'refused by a budget for long',
      [
        [-second, scheduled],
        [0, sent],
        [1, blocked],
        [600 * second, sent],
      ],
      0,
      0,
    ],
    [
      'late the second time it is due',
      [
        [-second, scheduled],
        [0, sent],
        [1, blocked],
        [2, calledOff],
        [3, scheduled],
        [40 * second, sent],
      ],
      1,
      0,
    ],
    [
      'while nobody acted',
      [
        [-second, 'stands by'],
        [-500, scheduled],
        [300 * second, 'acts'],
        [310 * second, sent],
      ],
      0,
      0,
    ],
    [
      'on a replica that stands by',
      [
        [-second, 'stands by'],
        [-500, scheduled],
        [300 * second, { kind: 'synced' }],
      ],
      0,
      0,
    ],
    [
      'long after it began to act',
      [
        [-second, 'stands by'],
        [-500, scheduled],
        [300 * second, 'acts'],
        [331 * second, sent],
      ],
      1,
      0,
    ],
  ];
  for (const [name, steps, late, lost] of cases) {
    it(name, () => assert.deepEqual(play(...steps), { late, lost }));
  }
});

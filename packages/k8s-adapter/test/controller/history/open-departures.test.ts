import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OpenDepartures } from '../../../src/controller/history/open-departures.ts';
import type { Departure, Refusal } from '../../../src/history/departure.ts';

const words = 'The disruption budget web needs 1 healthy pods and has 1 currently';
const refused = (count: number, firstAt: number, lastAt: number): Refusal => {
  return { code: 'Budget', words, count, firstAt, lastAt };
};
const pod: Departure = {
  ...{ namespace: 'shop', pod: 'web-1', uid: '1', seenAt: 1_000 },
  by: { kind: 'taintmgr', source: 'ownAct' },
};

describe('refusals over a failover', () => {
  const cases: readonly [what: string, written: Refusal, own: Refusal, all: Refusal][] = [
    [
      'of two leaders, one after the other',
      refused(2, 1_000, 6_000),
      refused(1, 24_000, 24_000),
      refused(3, 1_000, 24_000),
    ],
    [
      'of one leader, who led before and reads what it wrote',
      refused(2, 1_000, 6_000),
      refused(3, 1_000, 11_000),
      refused(3, 1_000, 11_000),
    ],
    [
      'of one leader, who has nothing to add',
      refused(2, 1_000, 6_000),
      refused(2, 1_000, 6_000),
      refused(2, 1_000, 6_000),
    ],
  ];
  for (const [what, written, own, all] of cases) {
    it(what, () => {
      const open = new OpenDepartures();
      open.put(own.lastAt, { ...pod, refusals: [own] });
      open.adopt(own.lastAt, { ...pod, refusals: [written] });
      assert.deepEqual(open.get('1')?.refusals, [all]);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setBack, untried } from '../../src/attempt/attempt.ts';
import type { Setback } from '../../src/attempt/outcome.ts';
import { budget, changed, config, crash, denied, lost, moved, twoBudgets } from './setbacks.ts';

describe('a request that met a setback', () => {
  type Row = readonly [
    name: string,
    setback: Setback,
    escalateAt: number | null,
    kind: 'blocked' | 'failed',
    budgetsAsked: boolean,
    /** After 1 s at the earliest and at the latest. */
    wait: readonly [number, number],
  ];
  const rows: readonly Row[] = [
    ['a budget', budget, null, 'blocked', true, [5000, 5000]],
    [
      'a budget that names a time',
      { ...budget, retryAfter: 9000 },
      null,
      'blocked',
      true,
      [9000, 9000],
    ],
    ['two budgets', twoBudgets, null, 'blocked', true, [5000, 5000]],
    ['a budget, escalated before', budget, 4000, 'blocked', true, [3000, 3000]],
    ['a budget, escalated already', budget, 1000, 'blocked', true, [0, 0]],
    ['two budgets, escalated already', twoBudgets, 500, 'blocked', true, [0, 0]],
    ['a webhook', moved, null, 'blocked', true, [15_000, 15_000]],
    [
      'a webhook that names a time',
      { ...moved, retryAfter: 2000 },
      null,
      'blocked',
      true,
      [2000, 2000],
    ],
    ['a webhook, escalated before', moved, 4000, 'blocked', true, [3000, 3000]],
    [
      'a webhook, escalated already: it may refuse that too',
      moved,
      500,
      'blocked',
      true,
      [15_000, 15_000],
    ],
    ['a server error', crash, null, 'failed', true, [100, 200]],
    ['a server error, escalated before', crash, 1050, 'failed', true, [50, 50]],
    ['a server error, escalated already', crash, 500, 'failed', true, [100, 200]],
    ['a refusal', denied, null, 'failed', true, [100, 200]],
    ['no answer', lost, null, 'failed', false, [100, 200]],
    ['what was decided does not hold', changed, null, 'failed', false, [100, 200]],
  ];
  for (const [name, setback, escalateAt, kind, budgetsAsked, [from, to]] of rows) {
    it(`${name}: ${kind}, again after ${from} to ${to} ms`, () => {
      const next = setBack(1000, 'web', { ...untried, tries: 1 }, setback, escalateAt, config);
      assert.deepEqual(
        [next.state.kind, next.state.setback, next.budgetsAsked],
        [kind, setback, budgetsAsked],
      );
      const wait = next.state.until - 1000;
      assert.ok(wait >= from && wait <= to, `${wait}`);
    });
  }
});

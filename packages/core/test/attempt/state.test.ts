import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import { type Attempt, accepted, setBack, untried } from '../../src/attempt/attempt.ts';
import { escalationOf, methodFor, type Terms } from '../../src/attempt/delete-or-evict.ts';
import { isSetback, type Setback } from '../../src/attempt/outcome.ts';
import type { Pod } from '../../src/model/pod.ts';
import { fc } from '../fast-check.ts';

const config = {
  retryWaitMsMin: 200,
  retryWaitMsMax: 10_000,
  blockedRetryWaitMs: 5_000,
  interceptedRetryWaitMs: 15_000,
  confirmationWaitMs: 30_000,
};

const pod: Pod = {
  namespace: 'shop',
  name: 'web',
  uid: 'web',
  nodeName: 'n1',
  tolerations: [],
  boundAt: null,
  deletionTimestamp: null,
  phase: 'Running',
  generation: 1,
  mirror: false,
  owner: null,
  hasEmptyDir: false,
  gracePeriodSeconds: 20,
};

const message = 'This pod has more than one PodDisruptionBudget, which is not supported.';
const budget: Setback = { kind: 'blocked', message: 'needs 2', retryAfter: null };
const twoBudgets: Setback = { kind: 'failed', status: 500, message, retryAfter: null };
const crash: Setback = { kind: 'failed', status: 500, message: 'boom', retryAfter: null };
const denied: Setback = { kind: 'failed', status: 403, message: 'no', retryAfter: null };
const denial = 'admission webhook "e.kubevirt.io" denied the request: it is being moved';
const moved: Setback = { kind: 'failed', status: 429, message: denial, retryAfter: null };
const lost: Setback = { kind: 'failed', status: null, message: 'reset', retryAfter: null };
const changed: Setback = { kind: 'changed', message: 'another node' };

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

const busy: Outcome = { kind: 'failed', status: 429, message: 'busy', retryAfter: 3000 };

const outcomes: readonly Outcome[] = [
  { kind: 'done' },
  { kind: 'gone' },
  budget,
  { ...budget, retryAfter: 700 },
  twoBudgets,
  crash,
  denied,
  moved,
  lost,
  busy,
  changed,
];

const policies = fc.oneof(
  fc.constant<Terms['budgets']>({ kind: 'respect' }),
  fc.constant<Terms['budgets']>({ kind: 'ignore' }),
  fc
    .constantFrom(0, 3000, 60_000, Number.POSITIVE_INFINITY)
    .map((afterMs): Terms['budgets'] => ({ kind: 'deleteAfter', afterMs })),
);

const terms: fc.Arbitrary<Terms> = fc.record({
  deadline: fc.nat(5000),
  budgets: policies,
  gracePeriodSeconds: fc.option(fc.constantFrom(1, 10, 60)),
  nodeEnd: fc.option(fc.integer({ min: 0, max: 90_000 })),
});

/** The rules once more, as plainly as they can be said. */
function dumbMethod(
  now: number,
  asked: boolean,
  { budgets, deadline, gracePeriodSeconds, nodeEnd }: Terms,
): 'delete' | 'evict' {
  if (budgets.kind === 'ignore') return 'delete';
  if (budgets.kind === 'respect' || !asked) return 'evict';
  if (now >= deadline + budgets.afterMs) return 'delete';
  const grace = (gracePeriodSeconds ?? 20) * 1000;
  return nodeEnd !== null && now + grace >= nodeEnd ? 'delete' : 'evict';
}

describe("one pod's way out against its twin", () => {
  it('whatever the API server answers: budgets are asked first, and overridden in time', () => {
    fc.assert(
      fc.property(
        terms,
        fc.array(fc.constantFrom(...outcomes), { maxLength: 12 }),
        (how, answers) => {
          let now = how.deadline;
          let attempt: Attempt = { ...untried, state: { kind: 'waiting', since: 0, until: now } };
          let asked = false;
          for (const outcome of answers) {
            const method = methodFor(now, attempt.budgetsAsked, pod, how);
            assert.equal(method.kind, dumbMethod(now, asked, how));
            const tries = attempt.tries + 1;
            const sent = now;
            now += 30;
            if (!isSetback(outcome)) {
              const { until } = accepted(now, config);
              assert.equal(until, now + 30_000);
              return;
            }
            const escalateAt = escalationOf(pod, how);
            const next = setBack(now, pod.uid, { ...attempt, tries }, outcome, escalateAt, config);
            asked ||= outcome !== changed && outcome !== lost && outcome !== busy;
            const { until, kind } = next.state;
            const isBudget: boolean = outcome.kind === 'blocked' || outcome === twoBudgets;
            assert.equal(kind, isBudget || outcome === moved ? 'blocked' : 'failed');
            assert.ok(
              until >= now && until <= now + (outcome === moved ? 15_000 : 10_000),
              `${sent} to ${until}`,
            );
            if (isBudget && how.budgets.kind === 'deleteAfter') {
              const due = how.deadline + how.budgets.afterMs;
              assert.ok(until <= Math.max(now, due), 'what a budget refuses is overridden in time');
            }
            if (outcome.kind === 'failed' && outcome.retryAfter !== null) {
              const isCut = escalateAt !== null && until === Math.max(now, escalateAt);
              assert.ok(
                isCut || until >= now + outcome.retryAfter,
                'the API server is left in peace',
              );
            }
            attempt = { tries, ...next };
            now = until;
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});

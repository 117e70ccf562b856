import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import { type Attempt, accepted, setBack, untried } from '../../src/attempt/attempt.ts';
import { escalationOf, methodFor, type Terms } from '../../src/attempt/delete-or-evict.ts';
import { isSetback } from '../../src/attempt/outcome.ts';
import { fc } from '../fast-check.ts';
import {
  budget,
  changed,
  config,
  crash,
  denied,
  lost,
  moved,
  pod,
  twoBudgets,
} from './setbacks.ts';

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

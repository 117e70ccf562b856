import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blockerOf, isUncertain } from '../../src/attempt/blocker.ts';
import type { Setback } from '../../src/attempt/outcome.ts';

const base = { kind: 'failed', message: 'm', retryAfter: null } as const;
const twoBudgets = 'This pod has more than one PodDisruptionBudget, which is not supported.';

const webhook = 'admission webhook "w.example.com" denied the request';
const denial = `${webhook}: The pod will be rolled`;

const cases: readonly [string, Setback, string, string][] = [
  ['no answer', { ...base, status: null }, 'Unreachable', 'resolves'],
  ['an overloaded server', { ...base, status: 429 }, 'Overloaded', 'resolves'],
  ['a server error', { ...base, status: 500 }, 'ServerError', 'resolves'],
  ['two budgets', { ...base, status: 500, message: twoBudgets }, 'TwoBudgets', 'never'],
  [
    'a webhook that says 400',
    { ...base, status: 400, message: denial },
    'Intercepted',
    'othersAct',
  ],
  [
    'a webhook that says 403',
    { ...base, status: 403, message: denial },
    'Intercepted',
    'othersAct',
  ],
  [
    'a webhook that says 429',
    { ...base, status: 429, message: denial },
    'Intercepted',
    'othersAct',
  ],
  [
    'a webhook that says 500',
    { ...base, status: 500, message: denial },
    'Intercepted',
    'othersAct',
  ],
  [
    'a webhook that gives no reason',
    { ...base, status: 400, message: `${webhook} without explanation` },
    'Intercepted',
    'othersAct',
  ],
  [
    'a webhook that cannot be reached',
    { ...base, status: 500, message: 'failed calling webhook "w.example.com": timeout' },
    'ServerError',
    'resolves',
  ],
  [
    'words that only sound like it',
    { ...base, status: 403, message: `it says: ${webhook}: no` },
    'Denied',
    'never',
  ],
  ['no right', { ...base, status: 403 }, 'Denied', 'never'],
  ['admission', { ...base, status: 422 }, 'Denied', 'never'],
  [
    'a namespace that is going',
    { ...base, status: 403, cause: 'NamespaceTerminating' },
    'ServerError',
    'resolves',
  ],
  ['a budget', { kind: 'blocked', message: 'm', retryAfter: null }, 'Budget', 'needsTime'],
  ['an old view', { kind: 'changed', message: 'm' }, 'ViewChanged', 'resolves'],
];

describe('what holds an eviction back', () => {
  for (const [name, setback, code, verdict] of cases) {
    it(`${name}: ${code}, ${verdict}`, () => {
      assert.deepEqual(blockerOf(setback), { code, verdict, message: setback.message });
    });
  }
});

describe('what may have been done all the same', () => {
  const uncertain = ['no answer', 'a server error', 'a webhook that cannot be reached'];
  for (const [name, setback] of cases) {
    it(`${name}: ${uncertain.includes(name)}`, () => {
      assert.equal(isUncertain(setback), uncertain.includes(name));
    });
  }
});

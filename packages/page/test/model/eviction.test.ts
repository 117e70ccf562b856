import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aboutEviction } from '../../src/model/eviction.ts';
import { nothing, type PodHistory } from '../../src/model/pod-history.ts';
import { clock } from '../../src/model/words.ts';
import { reason } from '../world/simulation.ts';

const pod = { namespace: 'shop', pod: 'db-0', node: 'a-1', workload: 'StatefulSet shop/db' };
const because = ['tolerates kernel=old:NoExecute for 5m, by policy kernel'];
const reasons = [
  reason({
    taint: 'kernel=old:NoExecute',
    toleration: 'kernel',
    tolerationSeconds: 300,
    policy: 'kernel',
  }),
];
const evicted = { ...pod, at: 412, how: 'evict', because, reasons } as const;

/** All that there is of the pod, and of others that have nothing to do with it. */
const history: PodHistory = {
  evictions: [{ ...evicted, at: 100 }, evicted],
  deadlines: [
    { ...pod, setAt: 40, dueAt: 100, endedAt: 100, end: 'evicted', because },
    { ...pod, setAt: 110, dueAt: 410, endedAt: 410, end: 'evicted', because },
    { ...pod, pod: 'db-1', setAt: 200, dueAt: 500, endedAt: 500, end: 'evicted', because },
  ],
  holds: [{ ...pod, kind: 'limit', name: 'total', from: 400, until: 402, text: 'used up' }],
  refusals: [
    { ...pod, budget: 'shop/old', firstAt: 90, lastAt: 95, count: 9, message: 'before' },
    { ...pod, budget: 'shop/db', firstAt: 402, lastAt: 407, count: 2, message: 'needs 3' },
  ],
  failures: [{ ...pod, at: 411, message: 'timeout' }],
};

describe('why a pod was evicted', () => {
  it('is told with taint, toleration, policy, deadline, attempts, budget and outcome, of this time', () => {
    const { at, title, facts } = aboutEviction(evicted, history, clock);
    assert.deepEqual([at, title], [412, 'shop/db-0 evicted']);
    assert.deepEqual(facts, [
      ['why', because[0]],
      ['taint', 'kernel=old:NoExecute'],
      ['toleration', 'kernel for 5m'],
      ['policy', 'kernel'],
      ['deadline', '0:06:50, set at 0:01:50: 5m later'],
      ['held', 'by limit total, 0:06:40 – 0:06:42'],
      ['attempts', '4'],
      ['budget', 'shop/db refused 2, 0:06:42 – 0:06:47: needs 3'],
      ['failed', '0:06:51: timeout'],
      ['outcome', 'evicted, by the eviction API, which asks budgets'],
      ['node', 'a-1'],
      ['of', 'StatefulSet shop/db'],
    ]);
  });

  it('is told without what is not known', () => {
    const none = reason({ taint: 'x:NoExecute' });
    const one = { ...evicted, how: 'delete', reasons: [none], workload: null } as const;
    assert.deepEqual(aboutEviction(one, nothing, clock).facts, [
      ['why', because[0]],
      ...[['taint', 'x:NoExecute'] as const, ['toleration', 'none'] as const],
      ...[['policy', 'none'] as const, ['attempts', '1'] as const],
      ...[
        ['outcome', 'deleted'] as const,
        ['node', 'a-1'] as const,
        ['of', 'no workload'] as const,
      ],
    ]);
    const { reasons: _, ...rest } = evicted;
    const seen = aboutEviction({ ...rest, how: 'seen' }, nothing, clock);
    assert.deepEqual(
      seen.facts.map(([term]) => term),
      ['why', 'outcome', 'node', 'of'],
    );
  });
});

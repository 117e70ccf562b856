import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Recording } from '@taintmgr/page';
import {
  type Judged,
  parseFailIf,
  readingsText,
} from '../../../../src/commands/simulate/result/fail-if.ts';
import { summarize } from '../../../../src/commands/simulate/result/summary.ts';

// Conditions of --fail-if on runs whose numbers are put together by hand.

const nothing: Recording = {
  ...{ zones: [], nodes: [], workloads: [], budgets: [], jobs: [], pods: [], deadlines: [] },
  ...{ evictions: [], holds: [], refusals: [], failures: [], unplaced: [] },
};

/** `shop/web` wants 10 pods, of which `down` do not serve from 10 s to `until`; `shop/db` is well. */
function judged(name: string, down: number, until: number): Judged {
  const recording: Recording = {
    ...nothing,
    workloads: [
      {
        ...{ kind: 'Deployment', namespace: 'shop', name: 'web' },
        states: [{ at: 0, wanted: 10, ready: 10 }],
        serving: [
          { at: 0, pods: 10 },
          { at: 10, pods: 10 - down },
          { at: until, pods: 10 },
        ],
      },
      {
        ...{ kind: 'StatefulSet', namespace: 'shop', name: 'db' },
        states: [{ at: 0, wanted: 3, ready: 3 }],
        serving: [{ at: 0, pods: 3 }],
      },
    ],
    budgets: [
      {
        ...{ namespace: 'shop', name: 'web', workloads: ['Deployment shop/web'] },
        states: [
          { at: 0, healthy: 10, desired: 9 },
          { at: 20, healthy: 7, desired: 9 },
          { at: 50, healthy: 10, desired: 9 },
        ],
      },
    ],
  };
  return { name, recording, summary: summarize(recording, 100) };
}

const runs = [judged('A', 3, 40), judged('B', 4, 70)];
const names = { names: ['A', 'B'], mustName: true };

describe('a condition of --fail-if', () => {
  const cases: readonly (readonly [text: string, exceeded: boolean, readings: string])[] = [
    ['downtime(shop/web, A) > 29s', true, 'shop/web had 30s'],
    ['downtime(shop/web, A) > 30s', false, 'shop/web had 30s'],
    ['downtime(shop/web, A) >= 30s', true, 'shop/web had 30s'],
    ['downtime(shop/web, A) < 31s', true, 'shop/web had 30s'],
    [
      'downtime(shop/web, B) > downtime(shop/web, A)',
      true,
      'shop/web had 1m in B, shop/web had 30s in A',
    ],
    [
      'downtime(shop/web,B) > downtime(shop/web,A) + 30s',
      false,
      'shop/web had 1m in B, shop/web had 30s in A',
    ],
    [
      'gap(shop/web, B) > gap(shop/web, A) * 1.5',
      true,
      'shop/web had 1m in B, shop/web had 30s in A',
    ],
    ['down(*/*, A) > 29%', true, 'shop/web had 30%'],
    ['down(*, A) > 29%', true, 'shop/web had 30%'],
    ['down(*/*, A) > 3', false, 'shop/web had 3'],
    [
      'down(shop/web, B) - down(shop/web, A) >= 1',
      true,
      'shop/web had 4 in B, shop/web had 3 in A',
    ],
    // Numbers of pods beside each other, not shares; budgets by how long they were below.
    ['down(shop/web, B) > down(shop/web, A)', true, 'shop/web had 4 in B, shop/web had 3 in A'],
    [
      'below(shop/web, B) > below(shop/web, A)',
      false,
      'shop/web had 30s in B, shop/web had 30s in A',
    ],
    ['unavailable(shop/web, B) > 0', false, 'shop/web had 0'],
    // 4 pods for 60 s beside 3 for 30 s.
    ['lost(shop/web, B) > 3.9', true, 'shop/web had 4'],
    ['lost(shop/web, A) > 1.5', false, 'shop/web had 1.5'],
    ['outage(shop/*, B) > 0s', false, 'shop/web had 0s'],
    [
      'below(shop/web, A) > 29s && below(shop/web, A) > 1',
      true,
      'shop/web had 30s, shop/web had 2',
    ],
    [
      '!(down(shop/db, A) > 0) && downtime(shop/web, A) > 1h',
      false,
      'shop/db had 0, shop/web had 30s',
    ],
    ['down(\'shop/web\', "B") >= 40%', true, 'shop/web had 40%'],
  ];
  for (const [text, exceeded, readings] of cases) {
    it(text, () => {
      const outcome = parseFailIf(text, names).judge([runs]);
      assert.equal(outcome.limit, text);
      assert.equal(outcome.exceeded, exceeded);
      assert.equal(readingsText(outcome.readings), readings);
    });
  }

  it('is of the first run where there are no variants', () => {
    const [reading] = parseFailIf('down(shop/web) > 0', rules).judge([both]).readings;
    assert.deepEqual([reading?.variant, reading?.value], ['taintmgr', 1]);
    assert.throws(() => parseFailIf('down(shop/web, other) > 0', rules), /there are taintmgr/);
  });

  const drawn = (crossed: number, of: number, text: string) => {
    const draws = Array.from({ length: of }, (_, at) => [
      judged('A', 1, 20),
      judged('B', at < crossed ? 2 : 1, 20),
    ]);
    return parseFailIf(text, { names: ['A', 'B'], mustName: true }).judge(draws);
  };
  const ofDraws: readonly (readonly [string, number, number, boolean])[] = [
    ['down(shop/web, B) > 1', 11, 20, true],
    ['down(shop/web, B) > 1', 9, 20, false],
    ['down(shop/web, B) > down(shop/web, A)', 19, 20, true],
    ['down(shop/web, B) > down(shop/web, A)', 18, 20, false],
    ['down(shop/web, B) > down(shop/web, A)', 4, 5, false],
  ];
  for (const [text, crossed, of, exceeded] of ofDraws) {
    it(`with ${crossed} of ${of} seeds: ${text}`, () => {
      const outcome = drawn(crossed, of, text);
      assert.deepEqual([outcome.exceeded, outcome.exceededIn], [exceeded, crossed]);
    });
  }

  const rules = { names: ['taintmgr', 'kube-controller-manager'], mustName: false };
  const both = [judged('taintmgr', 1, 20), judged('kube-controller-manager', 2, 20)];
  for (const [theirs, ours, hints] of [
    ['kube-controller-manager', 'taintmgr', []],
    [
      'upstream-1.36',
      'precise',
      [
        'write kube-controller-manager instead of upstream-1.36',
        'write taintmgr instead of precise',
      ],
    ],
  ] as const) {
    it(`names runs by their rules: ${theirs}, ${ours}`, () => {
      const text = `down(shop/web, ${theirs}) > down(shop/web, ${ours})`;
      const condition = parseFailIf(text, rules);
      assert.deepEqual(
        condition.hints,
        hints.map((hint) => `--fail-if "${text}": ${hint}`),
      );
      const { readings } = condition.judge([both]);
      assert.equal(
        readingsText(readings),
        'shop/web had 2 in kube-controller-manager, shop/web had 1 in taintmgr',
      );
    });
  }
});

describe('a condition that cannot be read', () => {
  const all =
    'down, downtime, gap, outage, lost, unavailable, evictions, unplaced, refusals, below';
  const cases: readonly (readonly [text: string, column: number, what: string])[] = [
    ['', 1, 'Unexpected token: it ends here'],
    ['downtime(shop/web, A) >', 24, 'Unexpected token: it ends here'],
    ['downtime(shop/web, A', 21, 'Expected ")", got its end'],
    ['downtime(shop/web, A) > 30', 25, 'want a time such as 90s to compare with'],
    ['down(shop/web, A) > 30s', 21, 'want a number or a share such as 30% to compare with'],
    ['evictions(shop/web, A) > 3%', 26, 'want a number to compare with'],
    ['downtime(shop/web, A) > 30x', 27, 'Unexpected character'],
    ['downtime(shop/web, A) + 1 > 30s', 25, 'want a time such as 90s here'],
    ['downtime(shop/web, A) > 2s * 3s', 30, 'want a number to multiply by'],
    ['downtime(shop/web, A)', 1, "want a comparison such as 'downtime(shop/web) > 30s'"],
    ['1 > 2', 1, `want one of ${all} in it`],
    ['down(shop/web, A) > 1 && sorrow(shop/web) > 3', 26, `no metric sorrow; want ${all}`],
    ['downtim(shop/web, A) > 3s', 1, `no metric downtim, did you mean downtime? want ${all}`],
    ['downtime > 3s', 1, 'want downtime(NAMESPACE/NAME) or downtime(NAMESPACE/NAME, VARIANT)'],
    ['downtime(web, A) > 3s', 10, 'want downtime(NAMESPACE/NAME), * for any name, got "web"'],
    ['downtime(shop/web) > 3s', 10, 'want a variant after the name, one of A, B'],
    ['downtime(shop/web, C) > 3s', 20, 'no variant C; there are A, B'],
    ['downtime(shop/web, A, B) > 3s', 1, 'want downtime(NAMESPACE/NAME) or'],
  ];
  for (const [text, column, what] of cases) {
    it(text || 'nothing', () => {
      assert.throws(
        () => parseFailIf(text, names),
        ({ name, message }: Error) => {
          assert.equal(name, 'UsageError');
          const start = `--fail-if ${JSON.stringify(text)}: column ${column}: ${what}`;
          assert.equal(message.slice(0, start.length), start, message);
          return true;
        },
      );
    });
  }

  it('is about what is not there', () => {
    const condition = parseFailIf('down(shop/web, A) > 9 || down(shop/wbe, B) > 1', names);
    const [a = assert.fail(), b = assert.fail()] = runs;
    condition.check(a);
    assert.throws(() => condition.check(b), {
      name: 'UsageError',
      message:
        '--fail-if "down(shop/web, A) > 9 || down(shop/wbe, B) > 1": column 31: ' +
        'no workload shop/wbe, did you mean shop/web? there are shop/web, shop/db',
    });
    assert.throws(() => parseFailIf('below(shop/db, A) > 1', names).check(a), {
      message: /column 7: no budget shop\/db, did you mean shop\/web\? there are shop\/web$/,
    });
  });
});

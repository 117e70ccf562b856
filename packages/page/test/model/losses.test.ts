import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EachDocument } from '../../src/each.ts';
import {
  aloneCommand,
  besidesLosses,
  budgetFacts,
  type Fact,
  limitFacts,
  lossesInWords,
  lossFacts,
  lossHeadline,
  lossSentence,
  minutesText,
  workloadFacts,
  worstFirst,
} from '../../src/model/losses.ts';
import { downFor, harmed, losses, lossOf } from '../world/losses.ts';

const web = downFor('web', 10, { downMax: 3, podMinutesLost: 27.4 });
const worst = lossOf('a-1', { workloads: [web] });
const calm = lossOf('b-1', { workloads: [harmed('web', { evictions: 1 })] });

const batch = {
  ...{ namespace: 'shop', name: 'batch', evictions: 1, newPods: 1, failures: 1 },
  ...{ end: null, endedAt: null },
};

const sentences: readonly (readonly [name: string, input: EachDocument, expected: string])[] = [
  ['nothing was played', losses([lossOf('a', { failed: 'why' })]), 'No loss was played.'],
  ['no pod is ever down', losses([calm]), '1 loss played: none takes a pod of any workload down.'],
  [
    'only Jobs are affected',
    losses([lossOf('b-1', { jobs: [batch] }), lossOf('b-2', { jobs: [batch] })]),
    '2 losses played: none takes a pod of any workload down; pods of 1 Job are lost.',
  ],
  [
    'nodes die',
    losses([worst, calm]),
    'The loss of node a-1 hurts most: pods of shop/web are down for 10m, at most 3 of 4 at once.',
  ],
  [
    'all of a workload is down in a zone that is cut off, and others are affected',
    losses(
      [
        lossOf('eu/a', {
          workloads: [
            downFor('agent', 9, { kind: 'DaemonSet' }),
            downFor('db', 5, { kind: 'StatefulSet', downMax: 4 }),
            downFor('api', 1),
          ],
        }),
      ],
      { each: 'zone', by: 'cut-off' },
    ),
    'The isolation of zone eu/a hurts most: pods of shop/db (StatefulSet) are down for 5m, at most 4 of 4 at once. ' +
      '2 more workloads are affected.',
  ],
  [
    'racks are drained, and the first could not be played',
    losses([lossOf('r0', { failed: 'why' }), lossOf('r7', { workloads: [web] })], {
      ...{ each: 'rack', by: 'drain' },
    }),
    'The drain of rack=r7 hurts most: pods of shop/web are down for 10m, at most 3 of 4 at once.',
  ],
  [
    'nodes get a taint',
    losses([lossOf('a-1', { taint: 'x=y:NoExecute', workloads: [web, downFor('api', 1)] })], {
      by: 'taint',
    }),
    'The taint x=y:NoExecute on node a-1 hurts most: pods of shop/web are down for 10m, at most 3 of 4 at once. ' +
      '1 more workload is affected.',
  ],
];

describe('the sentence of losses', () => {
  for (const [name, input, expected] of sentences) {
    it(`says it where ${name}`, () => assert.equal(lossSentence(input), expected));
  }

  it('stands beside the figures of the worst', () => {
    const { caption, figures } = lossHeadline(losses([worst, calm]));
    assert.equal(caption, 'The worst of 2 losses: the loss of node a-1');
    assert.deepEqual(figures, [
      {
        ...{ variant: null, time: '10m', difference: '' },
        details: [
          ['3 of 4', 'pods of shop/web down at once'],
          ['27', 'pod-minutes lost in all'],
          ['1', 'eviction'],
        ],
      },
    ]);
    assert.deepEqual(lossHeadline(losses([calm])).figures, []);
  });

  it('is followed by how many do what', () => {
    const budget = { namespace: 'shop', name: 'web', refusals: 2, belowSeconds: 0, belowMax: 0 };
    const input = losses([
      lossOf('a', {
        budgets: [{ ...budget, belowMax: 1 }],
        workloads: [web],
        limits: [{ limit: 'lost > 1', exceeded: true, readings: [] }],
      }),
      lossOf('b', { budgets: [budget], unplaced: { pods: 3, atOnceMax: 2, atEnd: 1 }, blocked: 2 }),
      lossOf('c', { unplaced: { pods: 3, atOnceMax: 2, atEnd: 0 } }),
      lossOf('d', { failed: 'why' }),
      lossOf('e'),
    ]);
    assert.equal(
      besidesLosses(input),
      'Of 5 losses 1 crosses a limit, 1 breaks a budget, 1 leaves pods without room to the end, ' +
        '1 leaves pods that budgets block, 1 affects nothing, 1 could not be played.',
    );
    assert.equal(besidesLosses(losses([worst])), '');
  });
});

describe('pod-minutes', () => {
  for (const [minutes, text] of [
    [0, '0'],
    [0.01, '<0.1'],
    [0.05, '0.1'],
    [9.94, '9.9'],
    [9.96, '10'],
    [999.4, '999'],
    [999.6, '1.0k'],
    [9940, '9.9k'],
    [9960, '10k'],
    [123_456, '123k'],
  ] as const) {
    it(`${minutes} are written ${text}`, () => assert.equal(minutesText(minutes), text));
  }
});

it('workloads of a loss are the worst first, DaemonSets last', () => {
  const daemons = downFor('agent', 9, { kind: 'DaemonSet' });
  const all = [daemons, downFor('a', 1), downFor('b', 2)];
  assert.deepEqual(
    worstFirst(all).map(({ name }) => name),
    ['b', 'a', 'agent'],
  );
});

const facts: readonly (readonly [name: string, facts: readonly Fact[], expected: object])[] = [
  [
    'a workload that only moved',
    workloadFacts(harmed('web', { evictions: 2 })),
    { down: 'never', evictions: '2' },
  ],
  [
    'a workload of which all was down, and some stays so',
    workloadFacts(
      downFor('web', 10, {
        ...{ downMax: 4, outageSeconds: 60, downAtEnd: 2, unplacedAtEnd: 1 },
        unknown: ['Foo scales it'],
      }),
    ),
    {
      ...{
        down: 'at most 4 of 4 pods',
        for: '10m',
        'all down': 'for 1m',
        lost: '10.0 pod-minutes',
      },
      ...{ 'at the end': '2 down', 'no room': '1 pod at the end', evictions: '1' },
      'not known': 'Foo scales it, which is not simulated',
    },
  ],
  ['a node to whose pods nothing happens', lossFacts(losses([]), lossOf('a')), { pods: '5 on it' }],
  [
    'a zone of many nodes',
    lossFacts(
      losses([], { each: 'zone' }),
      lossOf('eu/a', {
        nodes: Array.from({ length: 14 }, (_, index) => `n${index}`),
        ...{ podMinutesLost: 3, evictions: 4, refusals: 1, blocked: 2 },
        unplaced: { pods: 3, atOnceMax: 2, atEnd: 1 },
      }),
    ),
    {
      nodes: '14: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11 and 2 more',
      ...{ pods: '5 on them', lost: '3.0 pod-minutes', evictions: '4' },
      refused: '1 eviction, by budgets',
      'no room': '3 pods: 2 at once, 1 at the end',
      blocked: '2 pods at the end, blocked by budgets',
    },
  ],
  [
    'a loss that could not be played',
    lossFacts(losses([]), lossOf('a', { failed: 'it broke' })),
    { failed: 'it broke', pods: '5 on it' },
  ],
  [
    'budgets',
    budgetFacts(
      lossOf('a', {
        budgets: [
          { namespace: 'shop', name: 'web', refusals: 0, belowSeconds: 90, belowMax: 2 },
          { namespace: 'shop', name: 'db', refusals: 1, belowSeconds: 0, belowMax: 0 },
          { namespace: 'pay', name: 'api', refusals: 7, belowSeconds: 5, belowMax: 1 },
        ],
      }),
    ),
    {
      'shop/web': 'at most 2 too few, for 1m30s',
      'shop/db': 'refuses 1 eviction',
      'pay/api': 'at most 1 too few, for 5s; refuses 7 evictions',
    },
  ],
  [
    'limits',
    limitFacts(
      lossOf('a', {
        limits: [
          { limit: 'lost > 1', exceeded: true, readings: [] },
          { limit: 'lost > 9', exceeded: false, readings: [] },
          { limit: 'evictions > 9', exceeded: false, unknown: 'why', readings: [] },
        ],
      }),
    ),
    { 'lost > 1': '✕ crossed', 'lost > 9': '✓ kept', 'evictions > 9': '? not known' },
  ],
];

describe('the panel of a loss', () => {
  for (const [name, said, expected] of facts) {
    it(`says of ${name} what there is to say`, () => {
      assert.deepEqual(Object.fromEntries(said), expected);
    });
  }

  it('has the command that plays it alone, as a shell takes it', () => {
    const loss = lossOf('a', { event: "{at: 1m, stopKubelet: {node: 'a'}}" });
    assert.equal(
      aloneCommand(losses([loss]), loss),
      `kubectl taintmgr simulate -f a.json --until 30m --event '{at: 1m, stopKubelet: {node: '\\''a'\\''}}'`,
    );
  });
});

const lines: readonly (readonly [name: string, EachDocument['losses'][number], string])[] = [
  [
    'one workload',
    lossOf('a', { workloads: [downFor('web', 10.2)] }),
    'shop/web 1 of 4 down for 10m',
  ],
  [
    'pods that never come back',
    lossOf('a', { workloads: [downFor('web', 10, { downMax: 3, downAtEnd: 3 })] }),
    'shop/web 3 of 4 down, not back after 29m',
  ],
  [
    'some that never come back, and many workloads',
    lossOf('a', {
      workloads: [
        downFor('web', 10, { downMax: 3, downAtEnd: 1 }),
        downFor('api', 0.2),
        downFor('db', 0.1),
      ],
    }),
    'shop/web 3 of 4 down, 1 not back after 29m; shop/api 1 of 4 down for 12s; 1 workload more',
  ],
  [
    'agents of the node alone',
    lossOf('a', { workloads: [downFor('agent', 9, { kind: 'DaemonSet' })] }),
    'no workload goes down',
  ],
  ['no play', lossOf('a', { failed: 'why' }), 'could not be played: why'],
];

describe('a loss in one line', () => {
  for (const [name, loss, expected] of lines) {
    it(`tells of ${name}`, () => {
      const { losses: said } = lossesInWords(losses([loss]), 0);
      assert.deepEqual(
        said.map(({ part, text }) => [part, text]),
        [['node a', expected]],
      );
      assert.equal(said[0]?.isHarmful, expected !== 'no workload goes down');
    });
  }

  it('counts those that were not played', () => {
    assert.equal(lossesInWords(losses([worst], { unplayed: ['x', 'y'] }), 0).leftOut, 2);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Config, PodInput } from '@taintmgr/core';
import type { ShadowCounts } from '@taintmgr/core/shadow';
import { pauseOf, policyOf } from '../policy/objects.ts';
import { checkSums, place, Stage, setTaints, spot, stageOf, tolerating, zero } from './stage.ts';

// Times are in milliseconds since the beginning. kube-controller-manager is whoever deletes pods.

const minute = 60_000;
interface Story {
  readonly name: string;
  readonly pod?: Partial<PodInput>;
  readonly config?: Partial<Config>;
  readonly play: (stage: Stage) => void;
  readonly counts: Partial<ShadowCounts>;
  /** Of the only verdict: how much later, why, and the policy. */
  readonly says?: readonly [byMs: number | null, reason: string | null, policy: string];
}

const stories: readonly Story[] = [
  {
    name: 'both at once',
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(300);
      stage.deletedByManager('web');
    },
    counts: { same: 1 },
    says: [-300, null, ''],
  },
  {
    name: 'kube-controller-manager 4 s after we would have evicted it: 4 s earlier',
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(4_000);
      stage.deletedByManager('web');
    },
    counts: { earlier: 1 },
    says: [-4_000, null, ''],
  },
  {
    name: 'budgets are asked where the policy evicts',
    config: { mode: 'evict' },
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(10);
      stage.deletedByManager('web');
    },
    counts: { same: 1, budgetsAsked: 1 },
  },
  {
    name: 'the deletion is heard of before the taint',
    play: (stage) => {
      stage.deletedByManager('web');
      stage.until(900);
      setTaints(stage, [spot]);
      stage.until(910);
    },
    counts: { same: 1 },
    says: [900, null, ''],
  },
  {
    name: 'a pod that tolerates the taint for 5 minutes, and is deleted after one',
    pod: tolerating(300),
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(minute);
      stage.deletedByManager('web');
      stage.until(2 * minute);
      stage.gone('web');
      stage.until(5 * minute);
    },
    counts: { later: 1 },
    says: [4 * minute, 'TolerationExpires', ''],
  },
  {
    name: 'mark and deletion are seen as one change',
    pod: tolerating(60),
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.deletedAtOnce('web');
      stage.until(2 * minute);
    },
    counts: { later: 1 },
    says: [minute, 'TolerationExpires', ''],
  },
  {
    name: 'a time that is too far away to be waited for is foretold',
    pod: tolerating(3_600),
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.deletedByManager('web');
      stage.until(6_000);
    },
    counts: { later: 1 },
    says: [60 * minute, 'TolerationExpires', ''],
  },
  {
    name: 'a taint that lasts 10 s, and a policy that waits for 30 s',
    play: (stage) => {
      const policy = policyOf('patient', { minTaintAgeMs: 30_000, action: 'Evict' });
      stage.hear({ kind: 'policyUpsert', policy });
      setTaints(stage, [spot]);
      stage.deletedByManager('web');
      stage.until(10_000);
      setTaints(stage, []);
      stage.until(minute);
    },
    counts: { kept: 1 },
    says: [null, 'NoTaint', 'patient'],
  },
  {
    name: 'a policy that keeps the pod',
    play: (stage) => {
      stage.hear({ kind: 'policyUpsert', policy: policyOf('databases', { action: 'Keep' }) });
      setTaints(stage, [spot]);
      stage.deletedByManager('web');
      stage.until(6_000);
    },
    counts: { kept: 1 },
    says: [null, 'KeptByPolicy', 'databases'],
  },
  {
    name: 'a pause that outlasts the time for which the pod is followed',
    play: (stage) => {
      stage.hear({ kind: 'pauseUpsert', pause: pauseOf('night') });
      setTaints(stage, [spot]);
      stage.deletedByManager('web');
      stage.until(15 * minute);
    },
    counts: { later: 1 },
    says: [null, 'Paused', ''],
  },
  {
    name: 'a pause that ends in time',
    play: (stage) => {
      stage.hear({ kind: 'pauseUpsert', pause: pauseOf('night') });
      setTaints(stage, [spot]);
      stage.deletedByManager('web');
      stage.until(2 * minute);
      stage.hear({ kind: 'pauseDelete', name: 'night' });
      stage.until(3 * minute);
    },
    counts: { later: 1 },
    says: [2 * minute, 'NoToleration', ''],
  },
  {
    name: 'a budget that refuses, where the API server is asked',
    config: { mode: 'evict' },
    play: (stage) => {
      stage.outcome = { kind: 'blocked', message: 'needs 1 and has 1', retryAfter: null };
      setTaints(stage, [spot]);
      stage.until(100);
      stage.deletedByManager('web');
      stage.until(16 * minute);
    },
    counts: { later: 1, budgetsAsked: 1 },
    says: [null, 'BudgetRefused', ''],
  },
  {
    name: 'a budget that refuses until the pod is gone by the other hand',
    config: { mode: 'evict' },
    play: (stage) => {
      stage.outcome = { kind: 'blocked', message: 'needs 1 and has 1', retryAfter: null };
      setTaints(stage, [spot]);
      stage.until(100);
      stage.deletedByManager('web');
      stage.gone('web');
      stage.outcome = { kind: 'gone' };
      stage.until(minute);
    },
    counts: { later: 1, budgetsAsked: 1 },
    says: [null, 'BudgetRefused', ''],
  },
  {
    name: 'a live read finds the pod gone before its deletion is heard of',
    play: (stage) => {
      stage.outcome = { kind: 'gone' };
      setTaints(stage, [spot]);
      stage.until(30_000);
      stage.deletedByManager('web');
    },
    counts: { later: 1 },
    says: [null, 'NoToleration', ''],
  },
  {
    name: 'a live read finds the pod gone, and nothing is heard of a taint manager',
    play: (stage) => {
      stage.outcome = { kind: 'gone' };
      setTaints(stage, [spot]);
      stage.until(16 * minute);
      assert.equal(stage.score.report().leftOtherwise, 1);
    },
    counts: {},
  },
  {
    name: 'a budget that lets go in time',
    config: { mode: 'evict' },
    play: (stage) => {
      stage.outcome = { kind: 'blocked', message: 'needs 1 and has 1', retryAfter: null };
      setTaints(stage, [spot]);
      stage.until(3_000);
      stage.outcome = { kind: 'done' };
      stage.until(15_000);
      stage.deletedByManager('web');
    },
    counts: { earlier: 1, budgetsAsked: 1 },
    says: [-10_000, null, ''],
  },
  {
    name: 'a budget that refuses until the pod terminates by the other hand',
    config: { mode: 'evict' },
    play: (stage) => {
      stage.outcome = { kind: 'blocked', message: 'needs 1 and has 1', retryAfter: null };
      setTaints(stage, [spot]);
      stage.until(100);
      stage.deletedByManager('web');
      stage.outcome = { kind: 'done' };
      stage.until(minute);
    },
    counts: { later: 1, budgetsAsked: 1 },
    says: [null, 'BudgetRefused', ''],
  },
  {
    name: 'a pod that stays where we would have evicted it',
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(15 * minute - 1);
      assert.deepEqual([stage.score.report().following, stage.score.report().counts], [1, zero]);
      stage.until(15 * minute);
    },
    counts: { onlyTaintmgr: 1 },
    says: [null, null, ''],
  },
  {
    name: 'it is judged once, however long it stays',
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(20 * minute);
      stage.deletedByManager('web');
      stage.gone('web');
      stage.until(60 * minute);
    },
    counts: { onlyTaintmgr: 1 },
  },
  {
    name: 'it is judged anew when its taint has gone and come back',
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(16 * minute);
      setTaints(stage, []);
      stage.until(40 * minute);
      setTaints(stage, [spot]);
      stage.until(40 * minute + 10);
      stage.deletedByManager('web');
    },
    counts: { onlyTaintmgr: 1, same: 1 },
  },
  {
    name: 'somebody else deletes what we would have evicted',
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(10);
      stage.deletedByUser('web');
      stage.gone('web');
      stage.until(20 * minute);
      assert.equal(stage.score.report().leftOtherwise, 1);
    },
    counts: {},
  },
  {
    name: 'a mark that is not followed by a deletion',
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.mark('web');
      stage.until(20 * minute);
      assert.equal(stage.score.report().notDeleted, 1);
    },
    counts: {},
  },
  {
    name: 'a pod that is gone before its end is seen',
    play: (stage) => {
      setTaints(stage, [spot]);
      stage.until(10);
      stage.mark('web');
      stage.gone('web');
    },
    counts: { same: 1 },
  },
];

describe('the score of the shadow', () => {
  for (const { name, pod = {}, config = {}, play, counts, says } of stories) {
    it(name, () => {
      const stage = stageOf({ web: pod }, config);
      play(stage);
      const report = stage.score.report();
      assert.deepEqual(report.counts, { ...zero, ...counts });
      checkSums(report);
      const [latest] = report.recent;
      if (says) assert.deepEqual([latest?.byMs, latest?.reason, latest?.policy], says);
      if (latest) assert.equal(latest.taint, 'spot');
    });
  }

  it('lets limits hold as they would: those who wait for room are not deleted for the engine', () => {
    const limits = [{ per: 'total', pods: 1, windowMs: 10 * minute, onLimit: 'queue' }] as const;
    const stage = stageOf({ a: {}, b: {}, c: {} }, { limits });
    setTaints(stage, [spot]);
    for (const uid of ['a', 'b', 'c']) stage.deletedByManager(uid);
    for (const uid of ['a', 'b', 'c']) stage.gone(uid);
    stage.until(20 * minute);
    const { counts, reasons } = stage.score.report();
    // a goes at once, b when the window is over, c is still held when nobody waits any longer.
    assert.deepEqual(counts, { ...zero, same: 1, later: 2 });
    assert.deepEqual(
      reasons.map(({ verdict, reason, pods }) => [verdict, reason, pods]),
      [
        ['later', 'LimitReached', 1],
        ['later', 'NoToleration', 1],
      ],
    );
  });

  it('does not hold against anybody what was marked before it looked', () => {
    const stage = new Stage();
    setTaints(stage, [spot]);
    place(stage, 'web');
    stage.deletedByManager('web');
    stage.hear({ kind: 'synced' });
    stage.until(1);
    stage.deletedByManager('web');
    stage.until(30 * minute);
    assert.deepEqual(stage.score.report().counts, zero);
    assert.equal(stage.score.report().following, 0);
  });

  it('counts by the clock of the cluster, and goes by its own', () => {
    const stage = new Stage();
    stage.hear({ kind: 'clock', ahead: 1_000_000 });
    setTaints(stage, []);
    place(stage, 'web', tolerating(60));
    stage.hear({ kind: 'synced' });
    setTaints(stage, [spot]);
    stage.until(30_000);
    stage.deletedByManager('web');
    stage.until(2 * minute);
    const { since, laterBy, recent } = stage.score.report();
    assert.equal(since, 1_000_000);
    assert.deepEqual(laterBy, { meanMs: 30_000, maxMs: 30_000 });
    assert.equal(recent[0]?.at, 1_060_000);
  });
});

// Pods that are gone without a mark that was seen, as after a watch broke: Events tell whose they were.

interface Doubting {
  readonly stage: Stage;
  readonly asked: readonly string[];
}

function doubting(fields: Partial<PodInput> = {}): Doubting {
  const asked: string[] = [];
  const doubt = ({ namespace, name }: { namespace: string; name: string }): void => {
    asked.push(`${namespace}/${name}`);
  };
  return { stage: stageOf({ web: fields }, {}, { doubt }), asked };
}

describe('a pod that is gone without a mark', () => {
  it('was deleted by kube-controller-manager, as its Event says, and at that time', () => {
    const { stage, asked } = doubting(tolerating(10));
    setTaints(stage, [spot]);
    stage.until(30_000);
    stage.gone('web');
    assert.deepEqual(asked, ['shop/web']);
    stage.score.said('web', 14_000);
    stage.until(40_000);
    const { counts, recent } = stage.score.report();
    assert.deepEqual(counts, { ...zero, earlier: 1 });
    assert.equal(recent[0]?.byMs, -4_000);
    checkSums(stage.score.report());
  });

  it('that would have been kept is judged too', () => {
    const { stage, asked } = doubting(tolerating(600));
    setTaints(stage, [spot]);
    stage.until(1_000);
    stage.gone('web');
    stage.score.said('web', 500);
    setTaints(stage, []);
    stage.until(1_200_000);
    assert.deepEqual(asked, ['shop/web']);
    assert.deepEqual(stage.score.report().counts, { ...zero, kept: 1 });
    assert.equal(stage.explained('web'), null);
  });

  const others: readonly [string, (stage: Stage) => void][] = [
    ['was not, where Events say nothing of it', (stage) => stage.score.said('web', null)],
    ['was not, where nobody answers', () => {}],
  ];
  for (const [name, answer] of others) {
    it(name, () => {
      const { stage } = doubting(tolerating(600));
      setTaints(stage, [spot]);
      stage.until(1_000);
      stage.gone('web');
      assert.equal(stage.score.report().following, 1);
      answer(stage);
      stage.until(7_000);
      const { counts, following, leftOtherwise } = stage.score.report();
      assert.deepEqual([counts, following, leftOtherwise], [zero, 0, 0]);
      assert.equal(stage.explained('web'), null);
      assert.equal(stage.score.size, 0);
      // An answer that comes late changes nothing.
      stage.score.said('web', 1_000);
      stage.until(20_000);
      assert.deepEqual(stage.score.report().counts, zero);
    });
  }

  it('was left otherwise, where we would have evicted it and Events say nothing', () => {
    const { stage } = doubting();
    setTaints(stage, [spot]);
    stage.until(1_000);
    stage.gone('web');
    stage.score.said('web', null);
    stage.until(7_000);
    const { counts, leftOtherwise } = stage.score.report();
    assert.deepEqual([counts, leftOtherwise], [zero, 1]);
  });

  it('is asked about by nobody where no taint drives it out, or it was seen to terminate', () => {
    const { stage, asked } = doubting();
    stage.until(1_000);
    stage.gone('web');
    assert.deepEqual(asked, []);
    const second = doubting(tolerating(600));
    setTaints(second.stage, [spot]);
    second.stage.until(1_000);
    second.stage.deletedByUser('web');
    second.stage.gone('web');
    assert.deepEqual(second.asked, []);
  });
});

// What the shadow keeps is bounded, however much it sees.

describe('the memory of the shadow', () => {
  it('follows no more pods than it is told to', () => {
    const stage = stageOf({}, {}, { podsMax: 10 });
    setTaints(stage, [spot]);
    for (let index = 0; index < 50; index++) {
      place(stage, `p${index}`, { namespace: `ns${index % 7}` });
      stage.until(stage.now + 10);
    }
    const { following, givenUp } = stage.score.report();
    assert.deepEqual([stage.sizeMax, following, givenUp], [10, 10, 40]);
    // What was given up is not taken up again; to remember that takes the place of one more.
    stage.deletedByManager('p0');
    stage.until(60 * minute);
    const after = stage.score.report();
    assert.deepEqual([after.counts, after.givenUp], [{ ...zero, onlyTaintmgr: 9 }, 41]);
  });

  it('keeps no more names and verdicts than it is told to', () => {
    const stage = stageOf({}, {}, { namesMax: 3, recentMax: 4 });
    for (let index = 0; index < 50; index++) {
      place(stage, `p${index}`, { namespace: `ns${index % 7}` });
      stage.deletedByManager(`p${index}`);
      stage.gone(`p${index}`);
      stage.until(stage.now + 10_000);
    }
    const report = stage.score.report();
    assert.equal(report.recent.length, 4);
    assert.deepEqual(report.namespaces.map(({ name }) => name).toSorted(), [
      '(others)',
      'ns0',
      'ns1',
      'ns2',
    ]);
    checkSums(report);
  });

  for (const [field, value] of [
    ['podsMax', 0],
    ['settleMs', 0],
    ['followMs', 1],
    ['namesMax', 0.5],
    ['recentMax', -1],
    ['sameMsMax', Number.NaN],
  ] as const) {
    it(`refuses ${field} ${value}`, () => {
      assert.throws(() => new Stage({}, { [field]: value }), {
        name: 'RangeError',
        message: new RegExp(field),
      });
    });
  }
});

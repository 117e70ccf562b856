import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkSums, place, Stage, setTaints, spot, stageOf, zero } from './stage.ts';

// What the shadow keeps is bounded, however much it sees.

const minute = 60_000;

describe('the shadow', () => {
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

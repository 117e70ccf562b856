import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodInput } from '@taintmgr/core';
import { checkSums, type Stage, setTaints, spot, stageOf, tolerating, zero } from './stage.ts';

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

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Beside } from './beside.ts';
import { us } from './veto-world.ts';

// Seeds of takeover: restarts, kills, broken lines, policies and heartbeats that are deleted.

const seeds = 10;

describe('a controller with takeover beside a kube-controller-manager', () => {
  for (let seed = 1; seed <= seeds; seed++) {
    it(`seed ${seed}`, () => {
      const story = new Beside(seed);
      for (let done = 0; done < 25; done++) story.act();
      story.calm();
      const told = story.said.join('\n');
      assert.deepEqual(story.faults, [], told);
      // Whoever has to go is gone, by the hand of one or the other.
      assert.deepEqual(story.left('in'), [], told);
      assert.deepEqual(story.left('out'), [], told);
      // A minute after we are gone nothing is spared.
      story.killOurs();
      story.pass(65_000);
      for (let more = 0; more < 4; more++) story.addPods();
      for (const isOn of [false, true]) {
        for (const name of ['n1', 'n2']) story.taint(isOn, name);
      }
      story.pass(35_000);
      assert.deepEqual(story.left('in'), [], told);
    });
  }

  it('is judged: one that the policies exempt is found', () => {
    const story = new Beside(1, us);
    story.hold();
    story.addPods();
    for (const name of ['n1', 'n2']) story.taint(true, name);
    story.pass(30_000);
    assert.match(story.faults[0] ?? '', /^in\/p1 was deleted with a heartbeat \d+ ms old$/);
  });
});

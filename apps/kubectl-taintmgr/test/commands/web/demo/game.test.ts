import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DemoState } from '@taintmgr/page';
import { demoGame } from '../../../../src/commands/web/demo/game.ts';

// Each act of the demo shows what its button says; the seed is fixed, and no time passes but what a test says.

type Game = ReturnType<typeof demoGame>;

function press(game: Game, query: string): boolean {
  return game.press(new URLSearchParams(query));
}

/** What both sides are after an act and so many seconds: kube-controller-manager's, then ours. */
function after(game: Game, seconds: number, act?: string): DemoState['sides'] {
  if (act) assert.ok(press(game, `act=${act}`));
  game.advance(seconds * 1000);
  return game.state().sides;
}

function figures({ down, evictions, next }: DemoState['sides'][number]): readonly unknown[] {
  return [down, evictions, next?.pods ?? 0];
}

describe('an act of the demo', () => {
  it('is a wrong taint: every pod goes there, and a few here until it is removed', () => {
    const game = demoGame();
    assert.deepEqual(after(game, 30).map(figures), [
      [0, 0, 0],
      [0, 0, 0],
    ]);
    const [theirs = assert.fail(), ours = assert.fail()] = after(game, 60, 'taint');
    assert.deepEqual(figures(theirs), [45, 45, 0]);
    assert.ok(ours.down <= 7 && ours.evictions <= 7, `${figures(ours)}`);
    assert.ok(ours.workloads.every(({ serving, needed }) => serving >= needed));
    assert.ok(ours.held > 0 && ours.refused > 0);
    assert.ok(ours.zones.every(({ nodes }) => nodes.every(({ mark }) => mark === 'tainted')));
    const again = after(game, 300, 'taint');
    assert.deepEqual(
      again.map(({ down, held }) => [down, held]),
      [
        [0, 0],
        [0, 0],
      ],
    );
    assert.deepEqual(
      again.map(({ evictions }) => evictions),
      [45, ours.evictions],
    );
    assert.equal(again[0]?.downMax, 45);
    assert.ok((again[0]?.podMinutesLost ?? 0) > 45);
  });

  it('is a drain: all at once there, within the budgets here', () => {
    const game = demoGame();
    after(game, 30);
    press(game, 'act=drain');
    const worst = [0, 0];
    let broken = 0;
    for (let second = 0; second < 420; second += 5) {
      const sides = after(game, 5);
      for (const [index, { down }] of sides.entries()) {
        worst[index] = Math.max(worst[index] ?? 0, down);
      }
      const [, ours] = sides;
      broken += ours?.workloads.filter(({ serving, needed }) => serving < needed).length ?? 0;
    }
    const [theirs = 0, ours = 0] = worst;
    assert.ok(theirs >= 15 && ours <= 7, `${worst}`);
    assert.equal(broken, 0, 'no budget is broken');
    const onDrained = game.state().sides.map(({ zones }) => {
      return zones[0]?.nodes.reduce((sum, { pods }) => sum + pods, 0);
    });
    assert.deepEqual(onDrained, [0, 0]);
  });

  it('is the death of a zone, and a restart that forgets countdowns there and none here', () => {
    const game = demoGame();
    after(game, 30);
    const [theirs, ours] = after(game, 240, 'zone');
    assert.deepEqual([theirs?.down, ours?.down], [15, 15]);
    assert.equal(theirs?.zones[1]?.nodes.filter(({ mark }) => mark === 'down').length, 6);
    const left = (sides: DemoState['sides']): readonly number[] =>
      sides.map(({ next }) => (next?.dueAt ?? 0) - game.state().now);
    assert.deepEqual(left(game.state().sides).map(Math.round), [105, 105]);
    assert.match(game.state().look, /shop\/db stays one pod short until its node is back/);
    const [longer = 0, same = 0] = left(after(game, 30, 'restart'));
    assert.ok(longer > 250, `${longer}`);
    assert.equal(Math.round(same), 75);
    const end = after(game, 600, 'zone');
    assert.deepEqual(
      end.map(({ down }) => down),
      [0, 0],
    );
    assert.equal(game.state().look, 'The zone is back. Try another button.');
  });

  it('counts among the most pods down at once those that are down in this instant', () => {
    const sides = after(demoGame(), 0, 'zone');
    assert.deepEqual(
      sides.map(({ down, downMax }) => [down, downMax]),
      [
        [15, 15],
        [15, 15],
      ],
    );
  });
});

describe('the time of the demo', () => {
  it('stands still in a pause, and begins again', () => {
    const game = demoGame();
    after(game, 60, 'taint');
    assert.ok(press(game, 'pause=on'));
    game.advance(60_000);
    assert.equal(game.state().now, 60);
    assert.ok(press(game, 'speed=300'));
    const { isPaused, speed, look, acts } = game.state();
    assert.deepEqual([isPaused, speed], [false, 300]);
    assert.match(look, /^kube-controller-manager deletes every pod at once/);
    assert.equal(acts.find(({ name }) => name === 'taint')?.isOn, true);
    assert.ok(press(game, 'begin=again'));
    const state = game.state();
    assert.deepEqual([state.now, state.round, state.pressed], [0, 2, []]);
    assert.deepEqual(
      state.sides.map(({ downMax }) => downMax),
      [0, 0],
    );
    assert.equal(
      state.acts.some(({ isOn }) => isOn),
      false,
    );
  });

  it('is over after a day', () => {
    const game = demoGame();
    game.advance(25 * 3_600_000);
    assert.deepEqual([game.state().now, game.state().isOver], [86_400, true]);
  });

  for (const query of [
    '',
    'act=none',
    'speed=7',
    'speed=',
    'pause=',
    'begin=',
    'toString=1',
    'x=1',
  ]) {
    it(`knows no button ${JSON.stringify(query)}`, () =>
      assert.equal(press(demoGame(), query), false));
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '@taintmgr/core';
import { itIsAsRecorded } from '../conformance/recorded.ts';
import { fc } from '../fast-check.ts';
import { LifecycleWorld, type Mishap } from './lifecycle-world.ts';
import { itAnswersNodes } from './script.ts';

// Whatever is answered to the writes, the nodes that really get their taint NoExecute get it at the rate of
// their zone.

const perSecond = 0.1;
/** How much nearer to each other two taints may be carried out than they were allowed. */
const slackMs = 100;

interface Play {
  /** What comes of the first so many taints NoExecute; then they succeed. */
  readonly mishaps: readonly Mishap[];
  /** Whether nodes of zone a whose taint is under way move to zone b meanwhile. */
  readonly moves: boolean;
}

/** When the nodes that each zone paid for were tainted, with 6 of 30 nodes of each dead. */
function play({ mishaps, moves }: Play): ReadonlyMap<string, readonly number[]> {
  const left = [...mishaps];
  const paidBy = new Map<string, string>();
  const world = new LifecycleWorld({
    engine: { taintEviction: false, lifecycle: { massUnreachable: null } },
    mishap: (command) => {
      if (!isNoExecute(command)) return null;
      const { name } = command.node;
      const zone = world.nodes.get(name)?.labels?.[zoneLabel] ?? '';
      paidBy.set(name, zone);
      if (moves && zone === 'a') world.changeNode(name, { labels: { [zoneLabel]: 'b' } });
      return left.shift() ?? null;
    },
  });
  for (const zone of ['a', 'b']) {
    for (let n = 1; n <= 30; n++) world.addNode(`${zone}-${n}`, zone);
  }
  world.sync();
  world.runUntil(100_000);
  for (const zone of ['a', 'b']) {
    for (let n = 1; n <= 6; n++) world.setKubelet(`${zone}-${n}`, 'stopped');
  }
  world.runUntil(500_000);
  const taintedAt = new Map<string, number[]>();
  const tainted = new Set<string>();
  for (const { at, command, outcome } of world.deeds) {
    const isTaint = isNoExecute(command) && outcome === 'done';
    if (!isTaint || tainted.has(command.node.name)) continue;
    tainted.add(command.node.name);
    const zone = paidBy.get(command.node.name) ?? '';
    taintedAt.set(zone, [...(taintedAt.get(zone) ?? []), at]);
  }
  assert.equal(tainted.size, 12, 'all of them are tainted in the end');
  return taintedAt;
}

const zoneLabel = 'topology.kubernetes.io/zone';

function isNoExecute(command: Command): command is Extract<Command, { kind: 'changeTaints' }> {
  return (
    command.kind === 'changeTaints' && command.add.some(({ effect }) => effect === 'NoExecute')
  );
}

function assertRate(taintedAt: ReadonlyMap<string, readonly number[]>): void {
  for (const [zone, times] of taintedAt) {
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    assert.ok(Math.min(...gaps) >= 1000 / perSecond - slackMs, `zone ${zone} at ${times.join()}`);
  }
}

describe('nodes are tainted at the rate of their zone', () => {
  const cases: readonly (readonly [name: string, play: Play])[] = [
    ['while nothing goes wrong', { mishaps: [], moves: false }],
    ['while taints are refused', { mishaps: Array(9).fill('refused'), moves: false }],
    ['while answers are lost', { mishaps: Array(9).fill('lost'), moves: false }],
    ['while the store is slow', { mishaps: Array(9).fill('late'), moves: false }],
    ['where nodes move to another', { mishaps: ['conflict', null, 'conflict', null], moves: true }],
  ];
  for (const [name, played] of cases) it(name, () => assertRate(play(played)));

  it('whatever is answered', () => {
    const mishap = fc.constantFrom<Mishap>('refused', 'conflict', 'lost', 'late', null);
    const played = fc.record({
      mishaps: fc.array(mishap, { maxLength: 20 }),
      moves: fc.boolean(),
    });
    fc.assert(
      fc.property(played, (one) => assertRate(play(one))),
      { numRuns: 20 },
    );
  });
});

itIsAsRecorded('zone-state', 1000);

itAnswersNodes('rates rate-one rate-zero large-zone');

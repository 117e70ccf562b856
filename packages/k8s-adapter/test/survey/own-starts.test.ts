import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeFacts } from '../../src/survey/facts.ts';
import { withOwnStarts } from '../../src/survey/past.ts';
import { node, nodeFactsOf, now, taint } from '../world/values.ts';

// Since when taints count of a node whose taints were just written, by the states before.

/** A state of the node: its taints, when they were written, and what is written down of them. */
function state(
  taints: readonly string[],
  secondsAgo: number,
  taintStarts?: Readonly<Record<string, number>>,
): NodeFacts {
  const one = node('n1', ...taints.map((text) => taint(text)));
  const taintsWrittenAt = now - secondsAgo * 1000;
  return nodeFactsOf({ ...one, taintsWrittenAt, ...(taintStarts && { taintStarts }) });
}

const a = 'a:NoExecute';
const b = 'b:NoExecute';
const longAgo = now - 3_600_000;

const cases: readonly (readonly [
  name: string,
  states: readonly NodeFacts[],
  expected: Readonly<Record<string, number>>,
  unsure: readonly string[],
])[] = [
  [
    'another came beside one that is written down',
    [state([a, b], 1, {}), state([a], 3600, { [a]: longAgo })],
    { [a]: longAgo },
    [],
  ],
  [
    'for pods of a namespace that was paused too',
    [state([a, b], 1, {}), state([a], 3600, { [a]: longAgo, [`${a} shop`]: longAgo + 5 })],
    { [a]: longAgo, [`${a} shop`]: longAgo + 5 },
    [],
  ],
  ['it came with the last write', [state([a], 1), state([], 3600)], {}, []],
  [
    'it went and came back in between',
    [state([a], 1, {}), state([], 2), state([a], 3600, { [a]: longAgo })],
    {},
    [],
  ],
  [
    'it came with the write before, and nothing is written down yet',
    [state([a, b], 1), state([a], 2), state([], 60)],
    { [a]: now - 1000 },
    [],
  ],
  ['nobody knows what was before', [state([a], 1)], {}, ['n1']],
  [
    'it was there as far back as anybody knows',
    [state([a, b], 1), state([a], 500)],
    { [a]: now - 499_000 },
    [],
  ],
  ['nothing is read of what was written long ago', [state([a], 11), state([], 60)], {}, []],
];

describe('since when taints count that are not written down yet', () => {
  for (const [name, states, expected, unsure] of cases) {
    it(name, async () => {
      const [present] = states;
      assert.ok(present);
      const nodeBefore = (facts: NodeFacts): Promise<NodeFacts | null> =>
        Promise.resolve(states[states.indexOf(facts) + 1] ?? null);
      const found = await withOwnStarts({ nodeBefore }, [present], now);
      assert.deepEqual(found.nodes[0]?.node.taintStarts ?? {}, expected);
      assert.deepEqual(found.unsure, unsure);
    });
  }
});

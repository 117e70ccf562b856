import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node, pod } from '../../src/builders.ts';
import type { Placement } from '../../src/scheduler/placement.ts';
import { placementOf } from '../world/placements.ts';

const name = (number: number): string => `n-${String(number).padStart(4, '0')}`;

/** Nodes that have one pod each, but for one, which has none. */
function withEmptyNode(count: number, empty: number): Placement {
  const placement = placementOf();
  for (let number = 1; number <= count; number++) {
    placement.setNode(node(name(number)));
    if (number === empty) continue;
    const one = pod('default', `p-${number}`, { spec: { nodeName: name(number) } });
    placement.setPod(`default/p-${number}`, one);
  }
  return placement;
}

describe('the best place is looked for', () => {
  const cases: readonly (readonly [nodes: number, compared: number])[] = [
    [50, 50],
    [99, 99],
    [100, 100],
    [150, 100],
    [1000, 420],
    [6000, 300],
  ];
  for (const [nodes, compared] of cases) {
    it(`among ${compared} of ${nodes} nodes`, () => {
      const best = (empty: number) => withEmptyNode(nodes, empty).best(pod('default', 'new'))?.name;
      assert.equal(best(compared), name(compared));
      if (compared < nodes) assert.notEqual(best(compared + 1), name(compared + 1));
    });
  }

  it('where the last search has ended', () => {
    const placement = withEmptyNode(150, 0);
    const wanted = pod('default', 'new');
    const begins = [1, 2, 3].map(() => {
      placement.best(wanted);
      return placement.next;
    });
    assert.deepEqual(begins, [100, 50, 0]);
  });
});

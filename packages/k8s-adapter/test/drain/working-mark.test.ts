import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tainting } from '../../src/drain/cordon-and-taint.ts';
import type { DrainMark } from '../../src/drain/marks.ts';
import type { DrainableNode } from '../../src/drain/node-change.ts';
import { renewing } from '../../src/drain/working-mark.ts';

// Whether another run goes on with a drain decides if that ends one node of it or all.

const at = Date.parse('2026-01-01T00:01:00Z');
const taint = { key: 'm', value: '', effect: 'NoExecute', timeAdded: null } as const;
const wanted = { taint, id: 'd1', run: 'r1', cordon: false, by: 'ann' };

function mark(id: string, run: string | null): DrainMark {
  const work = run === null ? null : { run, heartbeat: at - 5_000, hasEnded: false };
  const set = { tainted: true, cordoned: false, replaced: null };
  return { id, taint, ...set, by: 'ann', work };
}

function node(...marks: readonly DrainMark[]): DrainableNode {
  const found = { resourceVersion: '1', taints: [], isCordoned: false, cordonManagers: [] };
  return { name: 'n1', ...found, marks };
}

const cases: readonly [string, readonly DrainMark[], renewed: string, tainted: string][] = [
  ['its own run', [mark('d1', 'r1')], 'written', 'written'],
  ['another run of it', [mark('d1', 'r2')], 'taken over', 'taken over'],
  ['another drain by its taint', [mark('d2', 'r2')], 'taken over', 'refused'],
  ['no drain', [], 'refused', 'written'],
];

describe('a node that shows the work of', () => {
  for (const [name, marks, renewed, tainted] of cases) {
    it(name, () => {
      const outcomes = [renewing(wanted), tainting(wanted)].map((change) => {
        const changed = change(node(...marks), at);
        if (changed.kind === 'changed') return 'written';
        return changed.takenOver ? 'taken over' : changed.kind;
      });
      assert.deepEqual(outcomes, [renewed, tainted]);
    });
  }
});

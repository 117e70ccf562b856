import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode } from '@taintmgr/core';
import { ClusterClock } from '../../../src/kernel/time.ts';
import { pastEntry } from '../../../src/lifecycle/upstream/past.ts';
import { fc } from '../../fast-check.ts';
import { LifecycleWorld } from '../lifecycle-world.ts';

const minute = 60_000;
const passes = { last: 100_000, every: 5_000, since: 0 };

describe('the probe of a node after the passes that have been', () => {
  const cases = [
    ['the first pass after the renewal', 91_000, 95_000],
    ['a renewal in the very pass', 95_000, 95_000],
    ['a long silence', 12_000, 15_000],
    ['the renewal before, where the last one is still to be seen', 103_000, 95_000],
    ['the beginning, where the renewal is older', -30_000, 0],
  ] as const;
  for (const [name, renewedAt, probe] of cases) {
    it(name, () => {
      const lease = { nodeName: 'n1', renewedAt };
      const node = makeNode({ name: 'n1' });
      assert.equal(pastEntry(node, lease, new ClusterClock(), passes).probe, probe);
    });
  }

  it('the beginning, where nothing says when the node was heard of', () => {
    const entry = pastEntry(makeNode({ name: 'n1' }), null, new ClusterClock(), passes);
    assert.equal(entry.probe, 0);
  });
});

/** A kubelet that stops, and is back after a while. */
const outage = fc.record({
  node: fc.integer({ min: 0, max: 5 }),
  at: fc.integer({ min: 0, max: 10 * minute }),
  lasts: fc.integer({ min: 1, max: 6 * minute }),
});

/** A world in which kubelets stop and come back. */
function world(outages: readonly { node: number; at: number; lasts: number }[], size: number) {
  const engine = { semantics: 'upstream-1.36', lifecycle: {} } as const;
  const made = new LifecycleWorld({ engine, latencyMs: 0 });
  for (let node = 0; node < size; node++) made.addNode(`n${node}`, node % 2 === 0 ? 'a' : 'b');
  made.sync();
  const deeds = outages.flatMap(({ node, at, lasts }) => {
    const name = `n${node % size}`;
    return [
      [at, name, 'stopped'],
      [at + lasts, name, 'running'],
    ] as const;
  });
  const planned = deeds.toSorted(([one], [other]) => one - other);
  return {
    made,
    runUntil(until: number) {
      for (let next = planned[0]; next && next[0] <= until; next = planned[0]) {
        planned.shift();
        made.runUntil(next[0]);
        made.setKubelet(next[1], next[2]);
      }
      made.runUntil(until);
    },
  };
}

/** News of a write takes some milliseconds, and a new process reads at once: times in taints differ by those. */
function withoutTimes(key: string, value: unknown): unknown {
  return key === 'timeAdded' ? undefined : value;
}

it('goes on as the one that has been there all along', () => {
  const pass = fc.integer({ min: 24, max: 150 });
  fc.assert(
    fc.property(
      fc.array(outage, { maxLength: 6 }),
      fc.integer({ min: 2, max: 6 }),
      pass,
      (...drawn) => {
        const [outages, size, passCount] = drawn;
        const takenUpAt = passCount * 5_000;
        // Two processes hear of what happens in that very moment at different times.
        const moments = outages.flatMap(({ at, lasts }) => [at, at + lasts]);
        fc.pre(moments.every((at) => Math.abs(at - takenUpAt) > 1_000));
        const [one, other] = [world(outages, size), world(outages, size)];
        for (const { runUntil } of [one, other]) runUntil(takenUpAt);
        other.made.restart(0);
        for (const { runUntil } of [one, other]) runUntil(takenUpAt + 10 * minute);
        const after = ({ made }: typeof one): readonly string[] =>
          made.deeds
            // What was under way at that instant was lost with the process.
            .filter(({ at }) => at > takenUpAt + 100)
            .map(
              ({ at, command }) => `${at} ${JSON.stringify({ ...command, id: '' }, withoutTimes)}`,
            );
        assert.deepEqual(after(other), after(one));
      },
    ),
    { numRuns: 40 },
  );
});

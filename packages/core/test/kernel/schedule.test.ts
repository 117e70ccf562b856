import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Schedule } from '../../src/kernel/schedule.ts';
import { fc } from '../fast-check.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const key = fc.constantFrom(...names);
const at = fc.integer({ min: 0, max: 20 });
const operation = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key, at }),
  fc.record({ kind: fc.constant('cancel' as const), key }),
  fc.record({ kind: fc.constant('takeDue' as const), at }),
);

/** The same in the plainest way: a map that is sorted for every question. */
class Twin {
  readonly map = new Map<string, number>();

  sorted(): readonly [string, number][] {
    return [...this.map].sort(([ka, a], [kb, b]) => a - b || (ka < kb ? -1 : 1));
  }

  first(): [string, number] | null {
    return this.sorted()[0] ?? null;
  }

  takeDue(now: number): string | null {
    const first = this.first();
    if (!first || first[1] > now) return null;
    this.map.delete(first[0]);
    return first[0];
  }
}

it('a schedule answers as a sorted map does, whatever is set, moved and cancelled', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const schedule = new Schedule();
      const twin = new Twin();
      for (const step of operations) {
        if (step.kind === 'set') {
          schedule.set(step.key, step.at);
          twin.map.set(step.key, step.at);
        } else if (step.kind === 'cancel') {
          assert.equal(schedule.cancel(step.key), twin.map.delete(step.key));
        } else {
          assert.equal(schedule.takeDue(step.at), twin.takeDue(step.at));
        }
        assert.equal(schedule.next(), twin.first()?.[1] ?? null);
        assert.equal(schedule.first(), twin.first()?.[0] ?? null);
        for (const name of names) assert.equal(schedule.at(name), twin.map.get(name) ?? null);
        const inOrder = twin.sorted().map(([name]) => name);
        assert.deepEqual([schedule.inOrder(), schedule.size], [inOrder, inOrder.length]);
      }
    }),
    { numRuns: 500 },
  );
});

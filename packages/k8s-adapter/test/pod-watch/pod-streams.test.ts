import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Told, tellPodStory } from '../world/pod-watch-world.ts';

// The same stories with all pods read, and with those of tainted nodes: the limits are so narrow
// that streams begin and end all the time, and that all pods are read now and then.

const byNode = { mode: 'tainted-nodes', nodesMax: 4, lingerMs: 12_000, calmMs: 9_000 } as const;
const seeds = Array.from({ length: 16 }, (_, index) => index + 1);

/** What came of the story of each seed in which the pods of tainted nodes are read. */
const told = seeds.map((seed) => lazy(() => tellPodStory(seed, byNode)));

describe('the pods of tainted nodes are enough', () => {
  for (const [index, few] of told.entries()) {
    const seed = index + 1;
    it(`for the same evictions, in seed ${seed}`, () => {
      assert.deepEqual(outcome(few()), outcome(tellPodStory(seed, undefined)));
    });
  }

  for (const seed of seeds.slice(0, 6)) {
    it(`for the same ones where each request takes a while, in seed ${seed}`, () => {
      const [few, all] = [told150(seed, byNode), told150(seed, undefined)];
      assert.deepEqual(few.early, []);
      // An eviction at once comes later by the lists that it takes; the others do not.
      assert.deepEqual(who(few), who(all));
      assert.deepEqual(few.pods, all.pods);
    });
  }

  for (const seed of seeds.slice(0, 4)) {
    it(`for the same ones where limits that need all pods come and go, in seed ${seed}`, () => {
      const limited = tellPodStory(seed, byNode, { limits: { pods: 1_000_000, listMs: 0 } });
      const free = told[seed - 1]?.();
      assert.ok(free && limited.switches > free.switches);
      // A limit queues what goes in one second in an order of its own.
      assert.deepEqual(limited.evictions.toSorted(), free.evictions.toSorted());
      assert.deepEqual([limited.pods, limited.early], [free.pods, []]);
    });
  }

  it('for a limit that holds from its first instant, while the list of all pods takes its time', () => {
    const slow = seeds.map((seed) =>
      tellPodStory(seed, { ...byNode, nodesMax: 9 }, { limits: { pods: 1, listMs: 20_000 } }),
    );
    assert.deepEqual(
      slow.flatMap(({ over, early }) => [...over, ...early]),
      [],
    );
    assert.ok(slow.reduce((sum, { limited }) => sum + limited, 0) > 20);
  });

  it('and there is something to do in them, with streams that end and switches', () => {
    const sum = (of: (one: Told) => number): number =>
      told.reduce((all, one) => all + of(one()), 0);
    assert.ok(sum(({ evictions }) => evictions.length) > 800);
    assert.ok(sum(({ switches }) => switches) > 40);
    assert.ok(sum(({ lists }) => lists) > 300);
  });
});

function told150(seed: number, podWatch: typeof byNode | undefined): Told {
  return tellPodStory(seed, podWatch, { serviceMs: 150 });
}

function outcome({ evictions, pods, early }: Told): Pick<Told, 'evictions' | 'pods' | 'early'> {
  return { evictions, pods, early };
}

/** Pods and why, without when. */
function who({ evictions }: Told): readonly string[] {
  return evictions.map((text) => text.replace(/ \d+ /, ' ')).sort();
}

/** The value, made when it is asked for first. */
function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

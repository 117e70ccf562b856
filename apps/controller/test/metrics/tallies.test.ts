import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import { Tallies } from '../../src/metrics/tallies.ts';

const buckets = [0.005, 0.1, 1, 10];
const shape = { name: 'took_seconds', help: 'How long it took.' };

describe('a histogram that is tallied', () => {
  it('reads like one of prom-client', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const labelNames = ['verb', 'host'] as const;
    const tallies = new Tallies({ ...shape, buckets, labelNames, registry: ours });
    const twin = new Histogram({ ...shape, buckets, labelNames, registers: [theirs] });
    const samples = [0, ...buckets, ...Array.from({ length: 200 }, (_, n) => (n * n) / 2000)];
    for (const [at, value] of samples.entries()) {
      const labels = { verb: at % 3 === 0 ? 'GET' : 'PATCH', host: 'a' };
      tallies.of(labels).observe(value);
      twin.observe(labels, value);
      assert.equal(await ours.metrics(), await theirs.metrics());
    }
  });

  it('is there from the start where it has no labels', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    new Tallies({ ...shape, buckets, labelNames: [], registry: ours }).of({});
    new Histogram({ ...shape, buckets, registers: [theirs] });
    assert.equal(await ours.metrics(), await theirs.metrics());
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { Tallies } from '../../src/metrics/tallies.ts';

const buckets = [0.005, 0.1, 1, 10];
const shape = { name: 'took_seconds', help: 'How long it took.' };

describe('a histogram that is tallied', () => {
  it('reads like one of prom-client', async () => {
    const sample = fc.tuple(
      fc.constantFrom('GET', 'PATCH'),
      fc.double({ min: 0, max: 20, noNaN: true }),
    );
    const edge = fc.tuple(fc.constant('GET'), fc.constantFrom(...buckets));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(sample, edge)), async (samples) => {
        const [ours, theirs] = [new Registry(), new Registry()];
        const labelNames = ['verb', 'host'] as const;
        const tallies = new Tallies({ ...shape, buckets, labelNames, registry: ours });
        const twin = new Histogram({ ...shape, buckets, labelNames, registers: [theirs] });
        for (const [verb, value] of samples) {
          tallies.of({ verb, host: 'a' }).observe(value);
          twin.observe({ verb, host: 'a' }, value);
        }
        assert.equal(await ours.metrics(), await theirs.metrics());
      }),
    );
  });

  it('is there from the start where it has no labels', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    new Tallies({ ...shape, buckets, labelNames: [], registry: ours }).of({});
    new Histogram({ ...shape, buckets, registers: [theirs] });
    assert.equal(await ours.metrics(), await theirs.metrics());
  });
});

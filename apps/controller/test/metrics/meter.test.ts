import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Histogram, Registry } from 'prom-client';
import { Meter, Tallies } from '../../src/metrics/meter.ts';

/** Some of these together read like others. */
const verbs = ['GET', 'a', 'a1 b', '', '1'];
const codes = ['200', 'b', '1 b1 b', '', '1 '];

it('shows what a counter of prom-client shows', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const counted = new Meter(ours).counter('asked_total', 'Requests.', 'verb', 'code');
  const labelNames = ['verb', 'code'];
  const options = { name: 'asked_total', help: 'Requests.', labelNames };
  const counter = new Counter({ ...options, registers: [theirs] });
  for (const by of [0, 1, 2.5]) {
    for (const verb of verbs) {
      for (const code of codes) {
        counted.inc({ code, verb }, by);
        counter.inc({ code, verb }, by);
        assert.equal(await ours.metrics(), await theirs.metrics());
      }
    }
  }
  // Asked again, it counts nothing twice.
  assert.equal(await ours.metrics(), await theirs.metrics());
});

it('shows a counter without labels before anything is counted', async () => {
  const registry = new Registry();
  const counted = new Meter(registry).counter('late_total', 'Late.');
  assert.match(await registry.metrics(), /^late_total 0$/m);
  counted.inc({});
  assert.match(await registry.metrics(), /^late_total 1$/m);
});

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

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Counter, Registry } from 'prom-client';
import { Meter } from '../../src/metrics/meter.ts';

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

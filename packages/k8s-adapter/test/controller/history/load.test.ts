import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConfigMaps, Controller, type ConfigMaps as Maps, podOf, start } from './stage.ts';

// 100,000 evictions within an hour of a virtual clock, each with a successor: the bounds that are promised.

const evictions = 100_000;
const hourMs = 3_600_000;
const everyMs = hourMs / evictions;
const graceMs = 5_000;
const readyMs = 20_000;

/** Plays the hour; each pod is gone after five seconds and its successor ready after twenty. */
function play(controller: Controller, server: Maps): void {
  const steps: [number, () => void][] = [];
  for (let index = 0; index < evictions; index++) {
    const at = start + Math.floor(index * everyMs);
    const pod = podOf(index);
    const next = podOf(index + evictions, {
      owner: pod.owner,
      namespace: pod.namespace,
      nodeName: 'n2',
    });
    const { witness } = controller;
    witness.hear(start, { kind: 'podUpsert', pod });
    steps.push([at, () => controller.evict(at, pod)]);
    const gone = at + graceMs;
    steps.push([
      gone - 4_000,
      () =>
        witness.hear(gone - 4_000, { kind: 'podUpsert', pod: { ...pod, deletionTimestamp: gone } }),
    ]);
    steps.push([gone, () => witness.hear(gone, { kind: 'podDelete', uid: pod.uid })]);
    const bound = { ...next, boundAt: gone, ready: 'False' };
    steps.push([gone + 1, () => witness.hear(gone + 1, { kind: 'podUpsert', pod: bound })]);
    const ready = at + readyMs;
    steps.push([
      ready,
      () => witness.hear(ready, { kind: 'podUpsert', pod: { ...bound, ready: 'True' } }),
    ]);
  }
  steps.sort(([one], [other]) => one - other);
  for (const [at, step] of steps) {
    controller.run(at, server);
    step();
  }
  controller.run(start + hourMs + 120_000, server);
}

it('keeps an hour of 100,000 evictions within its bounds', (t) => {
  const server = new ConfigMaps();
  const first = new Controller('first');
  first.lead(start);
  first.settle(start, server);
  const before = process.cpuUsage();
  play(first, server);
  const { user, system } = process.cpuUsage(before);
  const held = first.keeper.kept?.blocks.join('').length ?? 0;
  const objects = [...server.objects.values()].map(({ body }) => body.length);
  const { writes, bytes, largest } = server;
  const begun = performance.now();
  const second = new Controller('second');
  second.lead(start + hourMs + 200_000);
  second.settle(start + hourMs + 200_000, server);
  second.run(start + hourMs + 201_000, server);
  const took = performance.now() - begun;
  const { departures } = server.search();
  const whole = departures.filter(({ goneAt, successor }) => goneAt && successor?.readyAt);
  t.diagnostic(`departures that are kept: ${departures.length}, complete ${whole.length}`);
  t.diagnostic(
    `in memory: ${held} characters; objects: ${objects.length}, ${Math.max(...objects)} bytes the largest, ${objects.reduce((a, b) => a + b)} in all`,
  );
  t.diagnostic(`writes: ${writes} within the hour, ${bytes} bytes, ${largest} bytes the largest`);
  t.diagnostic(
    `cpu: ${Math.round((user + system) / 1000)} ms; a new leader has read them after ${Math.round(took)} ms`,
  );
  assert.deepEqual([departures.length, whole.length], [evictions, evictions]);
  assert.ok(objects.length <= 24 && largest < 800_000);
  assert.ok(writes <= hourMs / 5_000 + 30);
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Ring } from '../../../src/controller/history/ring.ts';
import { gzip } from '../../../src/driver/gzip.ts';
import { linesOf } from '../../../src/history/segment.ts';
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

/** So many letters, of which gzip makes next to nothing smaller. */
function noise(seed: number, length: number, letters: number, from: number): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return String.fromCharCode(from + Math.floor((state / 2 ** 32) * letters));
  }).join('');
}

it('keeps 3,000 evictions whose names and refusals are as long as they are taken', () => {
  const ring = new Ring(gzip, 'me');
  const leader = new Controller('me');
  const { witness } = leader;
  for (let index = 0; index < 6_000; index++) {
    const name = (part: number): string => noise(index * 16 + part, 253, 26, 97);
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: name(1) };
    const pod = podOf(index, { name: name(2), owner });
    witness.hear(start, { kind: 'podUpsert', pod });
    for (let times = 3; times < 10; times++)
      leader.evict(start, pod, noise(index * 16 + times, 1_000, 20_000, 0x4e00));
    leader.evict(start, pod);
    witness.hear(start, { kind: 'podDelete', uid: pod.uid });
    const next = podOf(index + evictions, { name: name(10), owner, namespace: pod.namespace });
    const bound = { ...next, nodeName: name(11), boundAt: start, ready: 'True' };
    witness.hear(start, { kind: 'podUpsert', pod: bound });
    ring.add(witness.take(start));
  }
  const lines = ring.blocks().flatMap((block) => linesOf(block, gzip));
  assert.ok(lines.length >= 3_000 && lines.length < 6_000, String(lines.length));
  assert.ok(lines.every((line) => 'successor' in line && 'refusals' in line));
});

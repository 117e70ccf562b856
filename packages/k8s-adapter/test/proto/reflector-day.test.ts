import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fault } from '@taintmgr/sim-cluster';
import type { ExchangeSink } from '../../src/driver/virtual.ts';
import type { ApiRequest } from '../../src/proto/requests.ts';
import { Draw } from '../seeds/draw.ts';
import { Follower, modes } from '../world/reflector/follower.ts';
import type { Line, Server } from '../world/reflector/troubled-lines.ts';

// A day and a night of a reflector in a cluster where something always changes and much goes wrong.

const hour = 3_600_000;
const objects = 200;
/** Stalls are found after 150 s; then come a wait and a list, each up to 30 s. */
const recoveryMs = 300_000;

for (const [what, mode] of modes) {
  describe(`a day with ${what}`, () => {
    for (const seed of [1, 2]) {
      it(`ends with a cache that is what a list would say (seed ${seed})`, () => {
        const draw = new Draw(seed, what.length);
        const follower = new Follower(mode, 60);
        for (let n = 0; n < objects; n++) follower.leases.create();
        const line = new TroubledLine(follower, draw);
        follower.line = line.line;
        follower.start();
        for (let passed = 0; passed < 24; passed++) {
          for (let end = follower.clock.now() + hour; follower.clock.now() < end; ) {
            changeSomething(follower, draw);
            if (draw.chance(0.04)) addTrouble(follower, line, draw);
            follower.run(draw.between(1, 20_000));
          }
          // Each hour all trouble ends for a while, and then nothing may be wrong.
          line.trouble = 0;
          follower.run(10 * 60_000 + recoveryMs);
          follower.assertComplete();
        }
        assert.ok(follower.setbacks.length > 100, `${follower.setbacks.length} setbacks`);
        assert.ok(follower.lists > 10, `${follower.lists} lists`);
        assert.ok(follower.told.length > 5000, `${follower.told.length} changes told`);
      });
    }
  });
}

function changeSomething(follower: Follower, draw: Draw): void {
  const chance = draw.random();
  const isFull = follower.api.list('leases').length >= objects;
  draw.weighted<() => void>([
    [6, () => follower.leases.touch(chance)],
    [isFull ? 1 : 2, () => follower.leases.create()],
    [isFull ? 2 : 1, () => follower.leases.delete(chance)],
    [1, () => follower.leases.replace(chance)],
  ])();
}

function addTrouble(follower: Follower, line: TroubledLine, draw: Draw): void {
  const { faults } = follower.api;
  const ms = draw.of([100, 3000, 20_000, 100_000, 300_000]);
  const later = (end: () => void): void => void follower.clock.after(ms, end);
  draw.weighted<() => void>([
    [2, () => faults.breakStreams()],
    [
      2,
      () => {
        faults.breakStreams();
        follower.api.compact();
      },
    ],
    [
      2,
      () => {
        faults.down = true;
        later(() => {
          faults.down = false;
        });
      },
    ],
    [
      3,
      () => {
        const fault = draw.of<Fault>([
          { kind: 'refuse' },
          { kind: 'lose' },
          { kind: 'delay', ms: draw.of([500, 31_000]) },
          { kind: 'answer', code: draw.of([410, 429, 500] as const) },
          { kind: 'cut', afterMs: draw.of([0, 300, 5000]), how: draw.of(['end', 'reset']) },
          { kind: 'halfOpen', afterMs: draw.of([0, 700]) },
          { kind: 'duplicate', chance: 0.5 },
        ]);
        later(faults.add({ fault, probability: draw.of([0.3, 1]) }));
      },
    ],
    [
      3,
      () => {
        line.trouble = draw.of([0.2, 0.7]);
        faults.breakStreams();
      },
    ],
  ])();
}

/** A line on which answers get lost, late, garbled and cut off. */
class TroubledLine {
  /** Chance of each request to meet with it. */
  trouble = 0;
  readonly #follower: Follower;
  readonly #draw: Draw;

  constructor(follower: Follower, draw: Draw) {
    this.#follower = follower;
    this.#draw = draw;
  }

  readonly line: Line = (server) => (request, sink) => {
    const draw = this.#draw;
    if (!draw.chance(this.trouble)) return server(request, sink);
    const { clock } = this.#follower;
    const after = draw.of([0, 10, 4000, 40_000]);
    return draw.of<() => () => void>([
      () => () => {},
      () => {
        clock.after(after, () => server(request, sink));
        return () => {};
      },
      () => server(request, this.#slow(sink, after)),
      () => this.#cut(server, request, sink),
    ])();
  };

  #slow(sink: ExchangeSink, ms: number): ExchangeSink {
    const later = (tell: () => void): void => void this.#follower.clock.after(ms, tell);
    return {
      head: (status, headers) => later(() => sink.head(status, headers)),
      data: (chunk) => later(() => sink.data(chunk)),
      end: () => later(() => sink.end()),
      reset: () => later(() => sink.reset()),
    };
  }

  /** After some characters comes something else, or nothing, and then an end of some kind. */
  #cut(server: Server, request: ApiRequest, sink: ExchangeSink): () => void {
    const draw = this.#draw;
    let left = draw.of([0, 50, 3000, 100_000]);
    const garbage = draw.of(['', '\n{"type":"WHAT"}\n', '<html>\n']);
    const end = draw.of([() => sink.end(), () => sink.reset(), () => {}]);
    let open = true;
    const hangUp = server(request, {
      head: (status, headers) => sink.head(status, headers),
      data: (chunk) => {
        if (!open) return;
        sink.data(chunk.slice(0, left));
        left -= chunk.length;
        if (left > 0) return;
        open = false;
        sink.data(garbage);
        end();
      },
      end: () => {
        if (open) sink.end();
      },
      reset: () => {
        if (open) sink.reset();
      },
    });
    return hangUp;
  }
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import { Loop } from '../../src/controller/engine-loop.ts';
import { ServerAbsence } from '../../src/controller/loop.ts';
import type { LoopInput } from '../../src/controller/loop-parts.ts';
import { isWatch } from '../../src/proto/requests.ts';
import { listAt } from '../world/cluster-objects.ts';

// An API server that is away for a while, on a virtual clock: nothing is real but the loop.

const second = 1000;
const start = Date.parse('2026-01-01T00:00:00Z');
const lease = { namespace: 'kube-system', name: 'taintmgr' };

type Answers = (path: string, now: number) => number | null;

/** The same numbers each time, of a Lehmer generator. */
function drawn(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Answers what a loop asks at once, with an HTTP status; null: the connection is refused; 0: it breaks after the head. */
class Server {
  readonly #loop: Loop;
  readonly #answers: Answers;
  readonly #open = new Map<string, string>();
  #isUp = true;
  #now = start;
  #version = 0;
  /** Of each path, when a watch of it was asked for, in ms. */
  readonly asked = new Map<string, number[]>();

  constructor(answers: Answers, isElected = true) {
    this.#answers = answers;
    this.#loop = new Loop({
      machine: createEngine(),
      random: drawn(7),
      streamLists: false,
      clusterPolicies: true,
      ...(isElected && { election: { identity: 'me', lease } }),
    });
    this.#feed({ kind: 'start' });
  }

  get watched(): number {
    return this.#open.size;
  }

  /** It is away from 10 s after the start. */
  awayUntil(ms: number): void {
    this.until(10 * second);
    this.#isUp = false;
    this.breakAll();
    this.until(ms);
    assert.equal(this.watched, 0);
    this.#isUp = true;
  }

  /** All connections break. */
  breakAll(): void {
    const open = [...this.#open.keys()];
    this.#open.clear();
    for (const id of open) this.#feed({ kind: 'failed', id, message: 'connection reset' });
  }

  until(ms: number): void {
    for (;;) {
      const wake = this.#loop.nextWake();
      if (wake === null || wake > start + ms) break;
      this.#now = Math.max(this.#now, wake);
      this.#feed({ kind: 'tick' });
    }
    this.#now = start + ms;
  }

  #feed(first: LoopInput): void {
    const inputs = [first];
    for (let input = inputs.shift(); input; input = inputs.shift()) {
      for (const action of this.#loop.handle(this.#now, input)) {
        if (action.kind === 'send') inputs.push(...this.#answer(action.id, action.request));
      }
    }
  }

  #answer(id: string, request: Parameters<typeof isWatch>[0] & { body: string | null }) {
    const [path = ''] = request.path.split('?');
    const status = this.#isUp ? this.#answers(path, this.#now - start) : null;
    if (isWatch(request)) {
      this.asked.set(path, [...(this.asked.get(path) ?? []), this.#now - start]);
    }
    if (status === null) return [{ kind: 'failed', id, message: 'ECONNREFUSED' } as const];
    if (status === 0) {
      const head = { kind: 'head', id, status: 200, headers: {} } as const;
      return [head, { kind: 'failed', id, message: 'reset' } as const];
    }
    if (status === 200 && isWatch(request)) {
      this.#open.set(id, path);
      return [{ kind: 'head', id, status, headers: {} } as const];
    }
    const body = status === 200 ? this.#object(path, request.body) : { message: 'no' };
    const data = new TextEncoder().encode(JSON.stringify(body));
    return [{ kind: 'answer', id, status, headers: {}, data } as const];
  }

  #object(path: string, body: string | null): object {
    if (!path.endsWith(`/${lease.name}`)) return listAt(path, '10');
    const { spec } = JSON.parse(body ?? '{"spec":{}}');
    this.#version += 1;
    const metadata = { name: lease.name, resourceVersion: `${this.#version}` };
    return { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec };
  }
}

const back = 75 * second;

describe('an API server that was away for a minute', () => {
  it('is watched again within 5 s, and not by all at the same instant', () => {
    const server = new Server(() => 200);
    const watches = server.watched;
    assert.ok(watches >= 5, `${watches} watches`);
    server.awayUntil(back);
    server.until(back + 5 * second);
    assert.equal(server.watched, watches);
    const instants = [...server.asked.values()].map((times) => times.at(-1));
    assert.ok(new Set(instants).size >= watches - 1, instants.join(' '));
  });

  it('is watched again within 5 s where it refuses everything at first', () => {
    const server = new Server((_, now) => {
      return now > back && now < back + 20 * second ? 403 : 200;
    });
    const watches = server.watched;
    server.awayUntil(back);
    server.until(back + 25 * second);
    assert.equal(server.watched, watches);
  });

  it('is not back by the words of a refusal, and is by what comes after', () => {
    const absence = new ServerAbsence();
    absence.hear(0, { kind: 'head', id: 'w/1', status: 200 });
    absence.hear(1000, { kind: 'failed', id: 'w/1' });
    absence.hear(2000, { kind: 'failed', id: 'w/2' });
    absence.hear(70_000, { kind: 'head', id: 'p/1', status: 403 });
    absence.hear(70_000, { kind: 'chunk', id: 'p/1' });
    assert.equal(absence.hear(71_000, { kind: 'head', id: 'l/1', status: 200 }), true);
  });

  it('is asked no more often than before while it is away', () => {
    const server = new Server((_, now) => (now < 10 * second ? 200 : null));
    server.until(10 * second);
    server.breakAll();
    server.until(back);
    for (const [path, times] of server.asked) assert.ok(times.length <= 9, `${path}: ${times}`);
  });

  it('is asked again after short waits where it answers before it is ready', () => {
    const isEarly = (path: string): boolean => !path.includes('/leases/');
    const server = new Server((path, now) => {
      return now > back && now < back + 3 * second && isEarly(path) ? 503 : 200;
    });
    const watches = server.watched;
    server.awayUntil(back);
    server.until(back + 10 * second);
    assert.equal(server.watched, watches);
  });
});

describe('a watch that is the first to be answered', () => {
  it('waits little where it breaks off again', () => {
    let answeredAt: number | null = null;
    const server = new Server((_, now) => {
      const isFirst = now >= back && answeredAt === null;
      if (isFirst) answeredAt = now;
      return isFirst ? 0 : 200;
    }, false);
    const watches = server.watched;
    server.awayUntil(back);
    server.until(back + 30 * second);
    const last = [...server.asked.values()].map((times) => times.at(-1) ?? 0);
    assert.equal(server.watched, watches);
    const took = Math.max(...last) - (answeredAt ?? assert.fail());
    assert.ok(took <= 5 * second, `${took} ms`);
  });
});

describe('a watch that fails alone', () => {
  it('waits as long as ever where nothing but its own beginnings is heard', () => {
    const server = new Server((_, now) => (now < 10 * second ? 200 : 0), false);
    server.until(10 * second);
    server.breakAll();
    server.until(310 * second);
    for (const [path, times] of server.asked) {
      assert.ok(times.length <= 22, `${path}: ${times.length} times in 5 minutes`);
    }
  });

  it('waits as long as ever, whatever else is answered', () => {
    const server = new Server((path, now) => {
      return path.endsWith('/pods') && now >= 10 * second ? 503 : 200;
    });
    server.until(10 * second);
    server.breakAll();
    server.until(310 * second);
    const times = server.asked.get('/api/v1/pods') ?? [];
    assert.ok(times.length <= 22, `${times.length} times in 5 minutes`);
  });
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  defaultElectionTiming,
  Election,
  type ElectionEffect,
} from '../../../src/controller/election/election.ts';
import { eventName, postEventRequest } from '../../../src/proto/event-requests.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { Draw } from '../../seeds/draw.ts';
import { type Candidate, ElectionWorld } from '../../world/election-world.ts';
import { fc } from '../../world/fast-check.ts';
import { random } from '../../world/random.ts';
import { testTranscripts } from '../../world/transcripts.ts';
import { runScript } from './election-script.ts';

describe('election transcripts', () => {
  testTranscripts(new URL('../../testdata/controller/election/', import.meta.url), runScript);
});

describe('election timing', () => {
  const cases: readonly [string, Partial<typeof defaultElectionTiming>, RegExp | null][] = [
    ['the defaults', {}, null],
    ['a short lease', { lease: 3000, renewDeadline: 2000, retry: 500 }, null],
    ['a lease of no whole seconds', { lease: 12_500 }, /whole seconds/],
    ['no lease at all', { lease: 0 }, /whole seconds/],
    ['no margin', { lease: 10_000 }, /\(10s\) must last longer than the renew deadline \(10s\)/],
    ['no room for a second try', { retry: 9000 }, /longer than 1.2 retry periods/],
    ['no retry period', { retry: 0 }, /retry period must be longer/],
  ];
  for (const [name, timing, expected] of cases) {
    it(name, () => {
      const whole = { ...defaultElectionTiming, ...timing };
      const lease = { namespace: 'kube-system', name: 'ctl' };
      const elect = () => new Election({ lease, identity: 'me', random: random(0), timing: whole });
      if (expected === null) assert.equal(elect().closed, true);
      else assert.throws(elect, { name: 'RangeError', message: expected });
    });
  }

  it('wants to know who stands', () => {
    const lease = { namespace: 'kube-system', name: 'ctl' };
    const elect = () => new Election({ lease, identity: '', random: random(0) });
    assert.throws(elect, { name: 'RangeError', message: 'the identity of a candidate is empty' });
  });
});

/** What a real kube-controller-manager 1.36.2 sent, recorded. */
interface Golden {
  readonly requests: readonly {
    readonly t: number;
    readonly method: string;
    readonly path: string;
    readonly query: { readonly timeout: string };
    readonly body?: object;
    readonly status: number;
  }[];
  readonly event: { readonly method: string; readonly path: string; readonly body: object };
}

const golden: Golden = JSON.parse(
  readFileSync(new URL('../../testdata/controller/golden-election.json', import.meta.url), 'utf8'),
);
const start = Date.parse('2026-01-01T00:00:00Z');

describe('beside kube-controller-manager', () => {
  it('an election writes the same', () => {
    // It renews at once after it has created the lease; we renew when a retry period is over.
    const expected = golden.requests.filter(({ t, method }) => method !== 'PUT' || t > 1);
    assert.deepEqual(
      play(expected.length).requests.map(readable),
      expected.map(({ method, path, query, body }) => ({
        method,
        path: `${path}?timeout=${query.timeout}`,
        ...(body && { body }),
      })),
    );
  });

  it('the Event of an election reads the same', () => {
    const { effects } = play(2);
    const told = effects.find((effect) => effect.kind === 'event') ?? assert.fail('no event');
    const { event } = told;
    const component = 'kube-controller-manager';
    const name = eventName(event.subject.name, start, 0);
    const series = { name, event, component, firstAt: start, lastAt: start, count: 1 };
    const { method, path, body } = postEventRequest(series);
    const text = (body ?? '')
      .replace(/\.[0-9a-f]{16}"/, '.<hex-nanoseconds>"')
      .replaceAll('2026-01-01T00:00:00Z', '<T+0s>')
      .replace('<rv-2>', '<rv-1>');
    assert.deepEqual({ method, path }, { method: golden.event.method, path: golden.event.path });
    assert.equal(text, JSON.stringify(golden.event.body));
  });
});

/** Lets it run until it has sent that many requests; each is answered as in the trace. */
function play(count: number): { requests: ApiRequest[]; effects: ElectionEffect[] } {
  const election = new Election({
    lease: { namespace: 'kube-system', name: 'kube-controller-manager' },
    identity: 'vm_c2e63b69-7c4b-4394-a413-18ccc0bc6ee0',
    random: random(0),
  });
  const versions = ['<rv-2>', '<rv-11>', '<rv-12>', '<rv-13>', '<rv-14>'];
  const requests: ApiRequest[] = [];
  const effects: ElectionEffect[] = [];
  let now = start;
  let todo = [...election.handle(now, { kind: 'start' })];
  while (requests.length < count || todo.length > 0) {
    const effect = todo.shift();
    if (!effect) {
      now = election.nextWake() ?? assert.fail('it sleeps for ever');
      todo = [...election.handle(now, { kind: 'tick' })];
      continue;
    }
    effects.push(effect);
    if (effect.kind !== 'send') continue;
    requests.push(effect.request);
    const { id } = effect;
    const missing = effect.request.method === 'GET';
    const data = missing ? '{}' : stored(effect.request, versions.shift() ?? '');
    todo.push(
      ...election.handle(now, { kind: 'head', id, status: missing ? 404 : 200, headers: {} }),
      ...election.handle(now, { kind: 'chunk', id, data }),
      ...election.handle(now, { kind: 'end', id }),
    );
  }
  return { requests: requests.slice(0, count), effects };
}

/** What the server makes of a write. */
function stored({ body }: ApiRequest, resourceVersion: string): string {
  const object = JSON.parse(body ?? '{}');
  const { name, namespace } = object.metadata;
  const metadata = {
    name,
    namespace,
    uid: '<uid-1>',
    resourceVersion,
    creationTimestamp: '<T+0s>',
    managedFields: '<managedFields: kube-controller-manager/Update>',
  };
  return JSON.stringify({ ...object, metadata });
}

/** The request with its times as the trace writes them. */
function readable({ method, path, body }: ApiRequest): object {
  const text = body?.replace(/"2026-01-01T00:00:0(\d)\.000000Z"/g, '"<T+$1s>"');
  return { method, path, ...(text && { body: JSON.parse(text) }) };
}

const lease = 15_000;
const renewDeadline = 10_000;
const retry = 2000;
/** A quick exchange there and back, twice (read and write). */
const latency = 200;

const seeds = Array.from({ length: 60 }, (_, index) => index + 1);

describe('candidates in trouble', () => {
  for (const seed of seeds) {
    it(`never lead two at once, and one leads in the end (seed ${seed})`, () => {
      story(seed, false);
    });
  }

  it('lead two at once only where a clock stood still for longer than the margin', () => {
    const overlaps = seeds.reduce((sum, seed) => sum + story(1000 + seed, true), 0);
    assert.ok(overlaps > 0, 'no story came to the case');
  });
});

/** Clocks run fast or slow by up to a tenth. Answers how often two led at once. */
function story(seed: number, clocksMayStop: boolean): number {
  const draw = new Draw(seed, 1);
  const world = new ElectionWorld(draw);
  const margin = lease / 1.1 - renewDeadline / 0.9;
  let overlaps = 0;
  world.check = () => {
    const leaders = world.leaders();
    if (leaders.length < 2) return;
    // As with client-go: whoever deletes the lease invites another before the leader knows.
    const invited = world.clock.now() - world.deletedAt < renewDeadline / 0.9;
    if (invited) return;
    const excused = leaders.some((one) => one.stoodStillSince(one.wroteAt) > margin);
    assert.ok(excused, `${leaders.map(({ name }) => name).join(' and ')} lead`);
    overlaps += 1;
  };
  let joined = 0;
  const join = (): void => {
    joined += 1;
    world.join(`c${joined}`).runClockAt(draw.of([0.9, 1, 1.1]));
  };
  join();
  join();
  for (let step = 0; step < 60; step++) {
    world.run(draw.of([0, 10, 700, 3000, 9000, 20_000]));
    if (world.candidates.filter(isHere).length < 3) join();
    disturb(world, draw, clocksMayStop);
  }
  settle(world, draw);
  return overlaps;
}

function disturb(world: ElectionWorld, draw: Draw, clocksMayStop: boolean): void {
  const candidate = draw.of(world.candidates.filter(isHere));
  draw.weighted<() => void>([
    [3, () => candidate.freeze()],
    [3, () => candidate.thaw(draw.chance(0.5))],
    [1, () => candidate.crash()],
    [1, () => candidate.stop()],
    [2, () => candidate.runClockAt(draw.of(clocksMayStop ? [0, 1] : [0.9, 1, 1.1]))],
    [4, () => changeLine(world, draw)],
    [1, () => world.deleteLease()],
    [1, () => touch(world)],
    [2, () => addFault(world, draw)],
  ])();
}

function changeLine(world: ElectionWorld, draw: Draw): void {
  world.line.trouble = draw.of([0, 0.1, 0.5, 1]);
}

function addFault(world: ElectionWorld, draw: Draw): void {
  const code = draw.of([409, 429, 500] as const);
  const times = draw.between(1, 20);
  const end = world.api.faults.add({ fault: { kind: 'answer', code }, times });
  world.clock.after(30_000, end);
}

/** Somebody writes into the lease that stands for nobody. */
function touch(world: ElectionWorld): void {
  const stored = world.api.get('leases', 'kube-system', 'ctl');
  if (!stored) return;
  const labels = { touched: String(world.clock.now()) };
  world.api.update('leases', { ...stored, metadata: { ...stored.metadata, labels } });
}

/** All trouble ends: somebody leads soon, and stays. */
function settle(world: ElectionWorld, draw: Draw): void {
  world.line.trouble = 0;
  for (const candidate of world.candidates) {
    candidate.runClockAt(1);
    candidate.thaw(draw.chance(0.5));
    candidate.tickWhenDue();
  }
  world.join('last');
  // What is under way in the network for 80 s at most, then a lease has to run out.
  world.run(120_000);
  const [leader, ...others] = world.leaders();
  assert.ok(leader && others.length === 0, 'one leads');
  world.run(60_000);
  assert.deepEqual(world.leaders(), [leader], 'and stays');
}

function isHere({ state }: Candidate): boolean {
  return state !== 'gone';
}

describe('a standby', () => {
  const instant = fc.integer({ min: 1, max: 40_000 });
  const seedOf = fc.integer({ min: 1, max: 2 ** 30 });

  it('takes over within the lease and one look when the leader is gone', () => {
    fc.assert(
      fc.property(instant, seedOf, (at, seed) => {
        const took = takeover(at, seed, (leader) => leader.crash());
        assert.ok(took <= lease + retry + latency, `${took} ms`);
      }),
      { numRuns: 60 },
    );
  });

  it('takes over within one retry period when the leader gives the lease back', () => {
    fc.assert(
      fc.property(instant, seedOf, (at, seed) => {
        const took = takeover(at, seed, (leader) => leader.stop());
        assert.ok(took <= retry + latency, `${took} ms`);
      }),
      // A renewal is under way at that instant, and arrives after the lease was read to give it back.
      { numRuns: 60, examples: [[31_000, 1]] },
    );
  });

  /** How long nobody leads. */
  function takeover(at: number, seed: number, leave: (leader: Candidate) => void): number {
    const world = new ElectionWorld(new Draw(seed, 1));
    const leader = world.join('a');
    world.run(1000);
    world.join('b');
    world.join('c');
    world.run(at);
    assert.deepEqual(world.leaders(), [leader]);
    const left = world.clock.now();
    let followed = Number.POSITIVE_INFINITY;
    world.check = () => {
      assert.ok(world.leaders().length < 2);
      if (world.leaders().length === 1) followed = Math.min(followed, world.clock.now());
    };
    leave(leader);
    world.run(40_000);
    return followed - left;
  }
});

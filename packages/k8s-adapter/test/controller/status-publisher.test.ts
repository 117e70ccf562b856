import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatedCondition } from '../../src/controller/status-conditions.ts';
import {
  type StatedStatus,
  StatusPublisher,
  type StatusPublisherEffect,
} from '../../src/controller/status-publisher.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const path = '/apis/taintmgr.dev/v1alpha1/taintmanagers';
const write = 'PATCH taintmgr/status';
const missing = { status: 404, name: 'taintmgr' };
const noKind = { status: 404, name: '' };

/** Plays the loop by hand: prints effects as short lines, answers the request under way. */
class Stage {
  now = start;
  leads = true;
  said: Partial<StatedStatus> = {};
  conditions: readonly StatedCondition[] = [];
  /** The status of the last write. */
  written: Record<string, unknown> = {};
  readonly publisher: StatusPublisher;
  #id = '';

  constructor(identity = 'a', isVital = false) {
    this.publisher = new StatusPublisher({
      name: 'taintmgr',
      identity,
      isVital,
      clock: { wall: (now) => now + 500, latest: (now) => now + 500 },
      leads: () => this.leads,
      conditions: () => this.conditions,
      status: () => ({ conditions: [], ...this.said }),
    });
  }

  lead(isSynced = true): string[] {
    return this.#told(this.publisher.lead(this.now, true, isSynced));
  }

  lose(): string[] {
    this.leads = false;
    return this.#told(this.publisher.lead(this.now, false, true));
  }

  synced(): string[] {
    return this.#told(this.publisher.synced(this.now));
  }

  resign(): string[] {
    return this.#told(this.publisher.resign(this.now));
  }

  /** The answer to what is under way; `name`: of the object that a failure is about. */
  answer(answer: number | { readonly status: number; readonly name: string }, after = 0): string[] {
    const { status, name } = typeof answer === 'number' ? { status: answer, name: '' } : answer;
    const id = this.#id;
    const headers = after === 0 ? {} : { 'retry-after': String(after) };
    const data = JSON.stringify({ message: `is ${status}`, details: { name } });
    return [
      ...this.publisher.receive(this.now, { kind: 'head', id, status, headers }),
      ...this.publisher.receive(this.now, { kind: 'chunk', id, data }),
      ...this.publisher.receive(this.now, { kind: 'end', id }),
    ].map((effect) => this.#describe(effect));
  }

  /** Time passes; a tick comes when it is asked for. What happens is dated in seconds. */
  pass(seconds: number): string[] {
    const end = this.now + seconds * 1000;
    const told: string[] = [];
    for (let wake = this.#wake(); wake <= end; wake = this.#wake()) {
      this.now = Math.max(this.now, wake);
      const lines = this.#told(this.publisher.tick(this.now));
      told.push(...lines.map((line) => `${(this.now - start) / 1000}s ${line}`));
    }
    this.now = end;
    return told;
  }

  #wake(): number {
    return this.publisher.nextWake() ?? Number.POSITIVE_INFINITY;
  }

  #told(effects: readonly StatusPublisherEffect[]): string[] {
    return effects.map((effect) => this.#describe(effect));
  }

  #describe(effect: StatusPublisherEffect): string {
    switch (effect.kind) {
      case 'send': {
        const { method, path: full, body } = effect.request;
        this.#id = effect.id;
        const sent = JSON.parse(body ?? '');
        if (method === 'PATCH') this.written = sent[0].value;
        const [short = ''] = full.slice(path.length).split('?');
        return `${method} ${short.slice(1)}`.trim();
      }
      case 'abort':
        return 'abort';
      case 'notice': {
        const { notice } = effect;
        const resource = 'resource' in notice ? `${notice.resource} ` : '';
        return `${resource}${'why' in notice ? `not published: ${notice.why}` : 'published'}`;
      }
    }
  }
}

function condition(type: string, status: 'True' | 'False' = 'True'): StatedCondition {
  return { type, status, reason: 'Because', message: 'x' };
}

describe('status publisher', () => {
  it('writes the whole status every 10 s, by one request each', () => {
    const stage = new Stage();
    stage.said = { version: '1.2.3', counts: { nodes: 3 } };
    assert.deepEqual(stage.lead(), [write]);
    assert.deepEqual(stage.answer(200), ['published']);
    assert.deepEqual(stage.written, {
      renewTime: '2026-01-01T00:00:00.500000Z',
      leader: 'a',
      startedAt: '2026-01-01T00:00:00Z',
      version: '1.2.3',
      counts: { nodes: 3 },
      conditions: [
        {
          ...{ type: 'Leading', status: 'True', reason: 'Leads', message: 'a leads' },
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    });
    assert.deepEqual(stage.pass(10), [`10s ${write}`]);
    assert.deepEqual(stage.answer(200), []);
    assert.equal(stage.written.renewTime, '2026-01-01T00:00:10.500000Z');
    assert.equal(stage.written.startedAt, '2026-01-01T00:00:00Z');
    assert.deepEqual(stage.pass(10), [`20s ${write}`]);
  });

  it('puts its status in the place of what a former leader wrote', () => {
    const { publisher } = new Stage();
    const [effect] = publisher.lead(start, true, true);
    assert.ok(effect?.kind === 'send');
    const { method, headers, path: full, body } = effect.request;
    assert.equal(method, 'PATCH');
    assert.equal(full, `${path}/taintmgr/status?fieldManager=taintmgr-controller`);
    assert.equal(headers['content-type'], 'application/json-patch+json');
    const [{ op, path: pointer }, ...more] = JSON.parse(body ?? '');
    assert.deepEqual([op, pointer, more], ['add', '/status', []]);
  });

  it('creates the object where it is missing', () => {
    const stage = new Stage();
    stage.lead();
    assert.deepEqual(stage.answer(missing), ['POST']);
    assert.deepEqual(stage.answer(201), [write]);
    assert.deepEqual(stage.answer(200), ['published']);
    // Somebody deletes it.
    assert.deepEqual(stage.pass(10), [`10s ${write}`]);
    assert.deepEqual(stage.answer(missing), ['POST']);
    assert.deepEqual(stage.answer(201), [write]);
    assert.deepEqual(stage.answer(200), []);
  });

  it('goes on where another replica has just created it', () => {
    const stage = new Stage();
    stage.lead();
    stage.answer(missing);
    assert.deepEqual(stage.answer(409), [write]);
    assert.deepEqual(stage.answer(200), ['published']);
  });

  it('creates it once for each heartbeat, whatever the answers', () => {
    const stage = new Stage();
    stage.lead();
    stage.answer(missing);
    stage.answer(409);
    assert.deepEqual(stage.answer(missing), ['POST']);
  });

  const slow: readonly [name: string, answer: number | typeof noKind, why: string][] = [
    ['where the kind is not installed', noKind, 'notInstalled'],
    ['where it is not allowed to', 403, 'refused'],
    ['where the API server does not take it', 422, 'refused'],
  ];
  for (const [name, answer, why] of slow) {
    it(`tries again once a minute, and says so once, ${name}`, () => {
      const stage = new Stage();
      stage.lead();
      assert.deepEqual(stage.answer(answer), [`not published: ${why}`]);
      assert.deepEqual(stage.pass(60), [`60s ${write}`]);
      assert.deepEqual(stage.answer(answer), []);
      assert.deepEqual(stage.pass(60), [`120s ${write}`]);
      assert.deepEqual(stage.answer(200), ['published']);
      assert.deepEqual(stage.pass(20), [
        `130s ${write}`,
        '135s abort',
        '135s not published: failed',
        `140s ${write}`,
      ]);
    });

    it(`tries again with each heartbeat where policies go by it, ${name}`, () => {
      const stage = new Stage('a', true);
      stage.lead();
      assert.deepEqual(stage.answer(answer), [`not published: ${why}`]);
      assert.deepEqual(stage.pass(10), [`10s ${write}`]);
      assert.deepEqual(stage.answer(answer), []);
      assert.deepEqual(stage.pass(10), [`20s ${write}`]);
      assert.deepEqual(stage.answer(200), ['published']);
    });
  }

  const passing: readonly number[] = [401, 409, 429, 500, 503];
  for (const status of passing) {
    it(`tries again at the next heartbeat after ${status}`, () => {
      const stage = new Stage();
      stage.lead();
      assert.deepEqual(stage.answer(status), ['not published: failed']);
      assert.deepEqual(stage.pass(10), [`10s ${write}`]);
      assert.deepEqual(stage.answer(status), []);
      assert.deepEqual(stage.pass(10), [`20s ${write}`]);
      assert.deepEqual(stage.answer(200), ['published']);
    });
  }

  it('waits for as long as the server asks', () => {
    const stage = new Stage();
    stage.lead();
    stage.answer(429, 25);
    assert.deepEqual(stage.pass(30), [`25s ${write}`, '30s abort']);
  });

  it('gives up a write after 5 s', () => {
    const stage = new Stage();
    stage.lead();
    assert.deepEqual(stage.pass(9), ['5s abort', '5s not published: failed']);
    assert.equal(stage.publisher.idle, true);
  });

  it('never writes twice within 5 s, not even after a standstill', () => {
    const stage = new Stage();
    stage.lead();
    stage.answer(200);
    stage.now += 38_000;
    assert.deepEqual(stage.pass(0), [`38s ${write}`]);
    stage.answer(200);
    assert.deepEqual(stage.pass(5), [`43s ${write}`]);
  });

  it('waits for what there is to say, but not for longer than a heartbeat', () => {
    const stage = new Stage();
    assert.deepEqual(stage.lead(false), []);
    assert.deepEqual(stage.pass(2), []);
    assert.deepEqual(stage.synced(), [write]);
    const slowly = new Stage();
    slowly.lead(false);
    assert.deepEqual(slowly.pass(11), [`10s ${write}`]);
    assert.deepEqual(slowly.synced(), []);
    slowly.answer(200);
    assert.deepEqual(slowly.pass(5), [`15s ${write}`]);
  });

  it('says at the end that nobody leads, by one request', () => {
    const stage = new Stage();
    stage.lead();
    stage.answer(200);
    stage.pass(3);
    assert.deepEqual(stage.resign(), [write]);
    const [leading] = Array.isArray(stage.written.conditions) ? stage.written.conditions : [];
    assert.deepEqual(leading, {
      ...{ type: 'Leading', status: 'False', reason: 'Resigned', message: 'a stopped leading' },
      lastTransitionTime: '2026-01-01T00:00:03Z',
    });
    assert.equal(stage.publisher.idle, false);
    assert.deepEqual(stage.answer(503), []);
    assert.equal(stage.publisher.idle, true);
    assert.deepEqual(stage.pass(60), []);
    assert.deepEqual(stage.resign(), []);
  });

  it('says it after what is under way, and after the object was made', () => {
    const stage = new Stage();
    stage.lead();
    assert.deepEqual(stage.resign(), []);
    assert.deepEqual(stage.answer(200), ['published', write]);
    const late = new Stage();
    late.lead();
    late.answer(missing);
    late.resign();
    assert.deepEqual(late.answer(201), [write]);
    assert.deepEqual(late.answer(200), []);
    assert.equal(late.publisher.idle, true);
  });

  it('says nothing at the end where nothing went through', () => {
    for (const answer of [noKind, missing, 403, 500]) {
      const stage = new Stage();
      stage.lead();
      stage.resign();
      const lines = stage.answer(answer);
      assert.ok(lines.every((line) => line.startsWith('not published')));
      assert.equal(stage.publisher.idle, true);
    }
  });

  it('sends nothing without leading, and hangs up what is under way', () => {
    const standby = new Stage();
    standby.leads = false;
    assert.deepEqual(standby.synced(), []);
    assert.deepEqual(standby.pass(60), []);
    assert.deepEqual(standby.resign(), []);
    const deposed = new Stage();
    deposed.lead();
    assert.deepEqual(deposed.lose(), ['abort']);
    assert.deepEqual(deposed.pass(60), []);
    assert.deepEqual(deposed.resign(), []);
  });

  it('asks whether it leads before each request, the second one too', () => {
    const stage = new Stage();
    stage.lead();
    stage.leads = false;
    assert.deepEqual(stage.answer(missing), []);
    const expired = new Stage();
    expired.lead();
    expired.answer(200);
    expired.leads = false;
    assert.deepEqual(expired.resign(), []);
  });

  it('begins anew when it leads again', () => {
    const stage = new Stage();
    stage.lead();
    stage.answer(200);
    stage.lose();
    stage.leads = true;
    stage.pass(100);
    assert.deepEqual(stage.lead(), [write]);
    assert.equal(stage.written.startedAt, '2026-01-01T00:01:40Z');
    assert.deepEqual(stage.answer(200), ['published']);
  });

  it('dates a condition by when it came', () => {
    const stage = new Stage();
    stage.said = { conditions: [condition('StandingBack')] };
    stage.lead();
    stage.answer(200);
    stage.conditions = [condition('CacheStale')];
    stage.pass(10);
    assert.deepEqual(datesOf(stage), [
      'Leading 2026-01-01T00:00:00Z',
      'StandingBack 2026-01-01T00:00:00Z',
      'CacheStale 2026-01-01T00:00:10Z',
    ]);
  });

  it('leaves out what has no room, and says how much', () => {
    const stage = new Stage();
    const many = (count: number): string[] => Array.from({ length: count }, (_, n) => `p${n}`);
    stage.said = {
      zones: many(70).map((name) => ({ name })),
      pauses: ['x'.repeat(300), ...many(70)],
      settings: Object.fromEntries(many(130).map((name) => [name, 'v'.repeat(2000)])),
    };
    stage.lead();
    const { zones, pauses, settings, conditions } = stage.written;
    assert.ok(Array.isArray(zones) && Array.isArray(pauses) && Array.isArray(conditions));
    assert.equal(zones.length, 64);
    assert.equal(pauses.length, 64);
    assert.equal(pauses[0], `${'x'.repeat(250)}...`);
    assert.equal(Object.keys(settings ?? {}).length, 128);
    assert.ok(Object.values(settings ?? {}).every((value) => value.length === 1024));
    const { type, message } = conditions.at(-1);
    assert.equal(type, 'Truncated');
    assert.equal(message, 'no room for 6 of zones, 7 of pauses, 2 of settings');
    assert.ok(JSON.stringify(stage.written).length < 200_000);
  });
});

function datesOf({ written: { conditions } }: Stage): string[] {
  assert.ok(Array.isArray(conditions));
  return conditions.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`);
}

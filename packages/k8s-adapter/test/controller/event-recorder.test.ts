import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  EventQueue,
  EventRecorder,
  type EventRecorderEffect,
} from '../../src/controller/event-recorder.ts';
import { InputSink } from '../../src/transport/sink.ts';
import { fc } from '../world/fast-check.ts';
import { random } from '../world/random.ts';
import { eventOf, ok, Stage, start } from './event-stage.ts';

describe('recorder', () => {
  it('writes an event as kube-controller-manager does', () => {
    const stage = new Stage();
    assert.deepEqual(stage.record('Marking for deletion Pod shop/a'), [
      'event/2 POST "Marking for deletion Pod shop/a" x1',
    ]);
    const request = stage.requests.get('event/2') ?? assert.fail('nothing sent');
    assert.equal(request.path, '/api/v1/namespaces/shop/events');
    assert.equal(
      request.body,
      '{"kind":"Event","apiVersion":"v1",' +
        '"metadata":{"name":"a.18867251edfa0001","namespace":"shop"},' +
        '"involvedObject":{"kind":"Pod","namespace":"shop","name":"a","uid":"u","apiVersion":"v1"},' +
        '"reason":"TaintManagerEviction","message":"Marking for deletion Pod shop/a",' +
        '"source":{"component":"taintmgr"},' +
        '"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z",' +
        '"count":1,"type":"Normal","eventTime":null,' +
        '"reportingComponent":"taintmgr","reportingInstance":""}',
    );
    assert.deepEqual(stage.answer('event/2', ok), ['recorded x1']);
    assert.equal(stage.recorder.idle, true);
  });

  it('writes events about what lives in no namespace into default, for whoever says it', () => {
    const stage = new Stage();
    const subject = { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'n1', uid: 'u' };
    const event = { subject, type: 'Normal', reason: 'RegisteredNode', message: 'x' } as const;
    const [effect] = stage.recorder.record(start, { ...event, component: 'node-controller' });
    assert.ok(effect?.kind === 'send');
    assert.equal(effect.request.path, '/api/v1/namespaces/default/events');
    const body = JSON.parse(effect.request.body ?? '');
    const { involvedObject, source, reportingComponent } = body;
    assert.deepEqual(involvedObject, { kind: 'Node', name: 'n1', uid: 'u', apiVersion: 'v1' });
    assert.deepEqual(source, { component: 'node-controller' });
    assert.equal(reportingComponent, 'taintmgr');
  });

  it('counts equal events in one object', () => {
    const stage = new Stage();
    stage.record('x');
    stage.answer('event/2', ok);
    stage.pass(60_000);
    assert.deepEqual(stage.record('x'), ['event/3 PATCH "x" x2']);
    const { path, headers, body } = stage.requests.get('event/3') ?? assert.fail('nothing sent');
    assert.equal(path, '/api/v1/namespaces/shop/events/a.18867251edfa0001');
    assert.equal(headers['content-type'], 'application/strategic-merge-patch+json');
    assert.equal(body, '{"count":2,"lastTimestamp":"2026-01-01T00:01:00Z","message":"x"}');
  });

  it('tells others apart: by text, by object, by the uid of the object', () => {
    const stage = new Stage();
    const told = [stage.record('x'), stage.record('y'), stage.record('x', { name: 'b' })];
    told.push(stage.record('x', { uid: 'v' }));
    assert.deepEqual(
      told.flat().map((line) => line.split(' ')[1]),
      ['POST', 'POST', 'POST', 'POST'],
    );
  });

  it('joins what comes while a request is under way, and while it waits', () => {
    const stage = new Stage();
    assert.deepEqual(stage.repeat(5, 'x'), ['event/2 POST "x" x1']);
    assert.deepEqual(stage.answer('event/2', ok), ['recorded x1', 'event/3 PATCH "x" x5']);
    assert.deepEqual(stage.answer('event/3', ok), ['recorded x5']);
  });

  it('begins anew when the event has expired in the API', () => {
    const stage = new Stage();
    stage.record('x');
    stage.answer('event/2', ok);
    stage.record('x');
    assert.deepEqual(stage.answer('event/3', 404), ['event/4 POST "x" x2']);
    assert.equal(stage.body('event/4').metadata.name, stage.body('event/2').metadata.name);
    assert.deepEqual(stage.answer('event/4', ok), ['recorded x2']);
  });

  it('lets 25 requests through about one object, and one more every 5 minutes', () => {
    const stage = new Stage();
    for (let n = 0; n < 25; n++) stage.record(`text ${n}`);
    // Each answer sends the next, which the iteration then comes to.
    for (const id of stage.requests.keys()) stage.answer(id, ok);
    assert.equal(stage.requests.size, 25);
    assert.deepEqual(stage.record('more'), ['lost, tooMany: ']);
    const [other = ''] = stage.record('x', { name: 'b' });
    assert.match(other, /POST "x" x1$/, 'another object has its own');
    stage.answer(other.split(' ')[0] ?? '', ok);
    stage.pass(299_999);
    assert.deepEqual(stage.record('more'), ['lost, tooMany: ']);
    stage.pass(1);
    const [line] = stage.record('more');
    assert.match(line ?? '', /POST "more" x3$/, 'what was not told is counted');
  });

  it('has few requests under way, and a limit on what waits', () => {
    const stage = new Stage();
    const told: string[] = [];
    for (let n = 0; n < 25_011; n++) told.push(...stage.record('x', { name: `p${n}` }));
    assert.equal(stage.requests.size, 10);
    assert.deepEqual(told.slice(10), ['dropped 1, queueFull']);
    const [first = ''] = stage.requests.keys();
    assert.equal(stage.answer(first, ok).length, 2, 'the next one goes');
  });

  it('tells how many it dropped, every ten seconds', () => {
    const stage = new Stage();
    for (let n = 0; n < 25_010; n++) stage.record('x', { name: `p${n}` });
    const more = (from: number): string[] =>
      Array.from({ length: 5 }, (_, n) => stage.record('x', { name: `more${from + n}` })).flat();
    assert.deepEqual(more(0), ['dropped 1, queueFull']);
    assert.deepEqual(stage.pass(9_999), []);
    assert.deepEqual(stage.pass(1), ['dropped 4, queueFull']);
    assert.deepEqual(stage.pass(15_000), []);
    assert.deepEqual(more(5), ['dropped 1, queueFull']);
  });

  it('waits when the server is away, and tells then', () => {
    const stage = new Stage();
    stage.record('x');
    assert.deepEqual(stage.reset('event/2'), []);
    assert.deepEqual(stage.record('y'), [], 'nothing else goes meanwhile');
    assert.deepEqual(stage.pass(799), []);
    assert.deepEqual(stage.pass(1), ['event/4 POST "x" x1', 'event/5 POST "y" x1']);
    assert.deepEqual(stage.answer('event/4', 503), []);
    assert.deepEqual(stage.answer('event/5', ok), ['recorded x1']);
    assert.deepEqual(stage.pass(1600), ['event/6 POST "x" x1']);
  });

  it('waits as long as the server asks', () => {
    const stage = new Stage();
    stage.record('x');
    const headers = { 'retry-after': '7' };
    stage.recorder.receive(stage.now, { kind: 'head', id: 'event/2', status: 429, headers });
    stage.recorder.receive(stage.now, { kind: 'end', id: 'event/2' });
    assert.deepEqual(stage.pass(6999), []);
    assert.deepEqual(stage.pass(1), ['event/3 POST "x" x1']);
  });

  it('knows its own event again that went through without an answer', () => {
    const stage = new Stage();
    stage.record('x');
    stage.reset('event/2');
    stage.record('x');
    assert.deepEqual(stage.pass(800), ['event/3 POST "x" x2']);
    assert.deepEqual(stage.answer('event/3', 409, 'already exists'), ['event/4 PATCH "x" x2']);
    assert.deepEqual(stage.answer('event/4', ok), ['recorded x2']);
  });

  it('keeps what came while the token had run out', () => {
    const stage = new Stage();
    stage.record('x');
    assert.deepEqual(stage.answer('event/2', 401, 'Unauthorized'), []);
    assert.deepEqual(stage.pass(2_000), ['event/3 POST "x" x1']);
    assert.deepEqual(stage.answer('event/3', ok), ['recorded x1']);
  });

  it('gives up after a dozen attempts, and at once what the server refuses', () => {
    const stage = new Stage();
    stage.record('x');
    let lost: string[] = [];
    for (let attempt = 1; attempt <= 12; attempt++) {
      lost = stage.answer([...stage.requests.keys()].at(-1) ?? '', 500, 'down');
      stage.pass(31_000);
    }
    assert.deepEqual(lost, ['lost, failed: down']);
    assert.equal(stage.requests.size, 12);
    assert.deepEqual(stage.record('y'), ['event/15 POST "y" x1']);
    assert.deepEqual(stage.answer('event/15', 403, 'no right'), ['lost, failed: no right']);
    assert.deepEqual(stage.record('z'), ['event/17 POST "z" x1']);
    assert.deepEqual(stage.answer('event/17', 404, 'no shop'), ['lost, failed: no shop']);
  });

  it('leaves no request without an end', () => {
    const stage = new Stage();
    stage.record('x');
    assert.deepEqual(stage.pass(30_000), ['event/2 abort']);
    assert.deepEqual(stage.answer('event/2', ok), [], 'too late');
    assert.deepEqual(stage.pass(800), ['event/3 POST "x" x1']);
  });

  it('stops when all that waits is written, without delay', () => {
    const stage = new Stage();
    stage.begin(50);
    for (let n = 0; n < 20; n++) stage.record('x', { name: `p${n}` });
    assert.equal(
      stage.stop().length,
      10,
      'evictions come to their end, and nothing is lost for them',
    );
    assert.deepEqual(stage.record('y'), []);
    assert.equal(stage.recorder.idle, false);
    // Each answer sends the next, which the iteration then comes to.
    for (const id of stage.requests.keys()) stage.answer(id, ok);
    assert.equal(stage.requests.size, 20);
    assert.equal(stage.recorder.idle, true);
    assert.equal(stage.recorder.nextWake(), null);
  });

  it('stops within eight seconds on a server that does not answer, and says what is lost', () => {
    const stage = new Stage();
    for (let n = 0; n < 20; n++) stage.record('x', { name: `p${n}` });
    stage.stop();
    assert.deepEqual(stage.pass(7_999), []);
    assert.equal(stage.recorder.idle, false);
    const told = stage.pass(1);
    assert.equal(told.filter((line) => line.endsWith('abort')).length, 10);
    assert.equal(told.at(-1), 'dropped 20, stopped');
    assert.equal(stage.recorder.idle, true);
    assert.equal(stage.recorder.nextWake(), null);
  });
});

describe('while pods are evicted', () => {
  it('Events about pods wait, in their order, and those about anything else do not', () => {
    const stage = new Stage();
    stage.begin(8);
    assert.deepEqual(stage.record('a'), []);
    assert.deepEqual(stage.record('b'), []);
    assert.deepEqual(stage.record('x', { kind: 'Node', namespace: '', name: 'n1' }), [
      'event/4 POST "x" x1',
    ]);
    stage.end(8);
    assert.deepEqual(stage.pass(249), []);
    assert.deepEqual(stage.pass(1), ['event/5 POST "a" x1', 'event/6 POST "b" x1']);
  });

  for (const [pods, answerMs] of [
    [2_000, 2],
    [20_000, 2],
    [20_000, 25],
    [20_000, 250],
  ] as const) {
    it(`${pods} are written within a minute, where each takes ${answerMs} ms`, () => {
      const stage = new Stage();
      stage.begin(50);
      for (let n = 0; n < pods; n++) stage.record('x', { name: `p${n}` });
      stage.end(50);
      const begun = stage.now;
      stage.pass(250);
      const isSent = new Set<string>();
      while (isSent.size < pods && stage.now < begun + 60_000) {
        const sent = [...stage.requests.keys()].filter((id) => !isSent.has(id));
        stage.pass(answerMs);
        for (const id of sent) {
          isSent.add(id);
          stage.requests.delete(id);
          stage.answer(id, ok);
        }
      }
      assert.equal(isSent.size, pods);
      assert.ok(stage.now - begun < 60_000, `${stage.now - begun} ms`);
    });
  }
});

describe('recorder against the simulated API server', () => {
  it('takes no Event of another process for its own, which wrote within the same millisecond', () => {
    const api = new ApiServer({ clock: new VirtualClock(start), random: seededRandom(1) });
    for (const seed of [1, 2]) {
      const recorder = new EventRecorder({ component: `c${seed}`, random: seededRandom(seed) });
      const [effect] = recorder.record(start, eventOf('x', { namespace: 'default' }));
      if (effect?.kind !== 'send') assert.fail('nothing sent');
      const heard = new InputSink(effect.id, (input) => recorder.receive(start, input));
      api.exchange(effect.request, {
        head: (status, headers) => heard.head(status, headers),
        data: (chunk) => heard.data(chunk),
        end: () => heard.end(),
        reset: () => heard.failed('reset'),
      });
    }
    const sources = api.list('events').map(({ source }) => source.component);
    assert.deepEqual(sources.sort(), ['c1', 'c2']);
  });

  it('keeps one object up to date, and begins anew after it has expired', () => {
    const clock = new VirtualClock(start);
    const api = new ApiServer({ clock, random: seededRandom(1) });
    const recorder = new EventRecorder({ component: 'taintmgr', random: random(0) });
    const perform = (effects: readonly EventRecorderEffect[]): void => {
      for (const effect of effects) {
        if (effect.kind !== 'send') continue;
        const heard = new InputSink(effect.id, (input) =>
          perform(recorder.receive(clock.now(), input)),
        );
        api.exchange(effect.request, {
          head: (status, headers) => heard.head(status, headers),
          data: (chunk) => heard.data(chunk),
          end: () => heard.end(),
          reset: () => heard.failed('reset'),
        });
      }
    };
    const record = (): void =>
      perform(recorder.record(clock.now(), eventOf('x', { namespace: 'default' })));
    const stored = (): unknown[] =>
      api.list('events').map(({ count, lastTimestamp }) => [count, lastTimestamp]);
    record();
    clock.advanceTo(start + 5000);
    record();
    record();
    assert.deepEqual(stored(), [[3, '2026-01-01T00:00:05Z']]);
    const [event] = api.list('events');
    api.delete('events', 'default', event?.metadata.name ?? '');
    record();
    assert.deepEqual(stored(), [[4, '2026-01-01T00:00:05Z']]);
    assert.equal(recorder.idle, true);
  });
});

describe('a namespace whose Events nobody takes', () => {
  const hooked = { namespace: 'hooked' };
  const calm = { namespace: 'calm' };

  it('holds up those of no other, answered with 500', () => {
    const stage = new Stage();
    const waits: number[] = [];
    stage.record('x', hooked);
    for (let round = 0; round < 11; round++) {
      const [id = ''] = [...stage.requests.keys()].slice(-1);
      assert.deepEqual(stage.answer(id, 500, 'failed calling webhook'), []);
      const failedAt = stage.now;
      // The others are written at once, however often that one fails.
      for (const name of ['a', 'b', 'c']) {
        const [sent = ''] = stage.record(`of ${name} ${round}`, { ...calm, name });
        assert.match(sent, new RegExp(`POST "of ${name} ${round}" x1`));
        assert.deepEqual(stage.answer(sent.split(' ')[0] ?? '', ok), ['recorded x1']);
      }
      while (!stage.pass(100).some((line) => line.includes('POST "x"'))) {
        assert.ok(stage.now - failedAt < 31_000);
      }
      waits.push(stage.now - failedAt);
    }
    assert.ok((waits[0] ?? 0) < 1_000, `${waits}`);
    assert.ok((waits[10] ?? 0) >= 15_000, `${waits}`);
  });

  it('holds up those of no other, without an answer', () => {
    const stage = new Stage();
    for (let n = 0; n < 40; n++) stage.record('x', { ...hooked, name: `p${n}` });
    assert.equal(stage.requests.size, 10);
    const [sent = ''] = stage.record('y', calm);
    assert.match(sent, /POST "y" x1$/);
    assert.deepEqual(stage.answer(sent.split(' ')[0] ?? '', ok), ['recorded x1']);
    // From now on one of it is under way at a time.
    const told = stage.pass(61_000);
    assert.equal(told.filter((line) => line.endsWith('abort')).length, 11, told.join('\n'));
    assert.match(stage.record('z', calm)[0] ?? '', /POST "z" x1$/);
  });

  it('is written as before once one of its Events was taken', () => {
    const stage = new Stage();
    for (let n = 0; n < 5; n++) stage.record('x', { ...hooked, name: `p${n}` });
    const first = [...stage.requests.keys()];
    for (const id of first) stage.answer(id, 500);
    const again = stage.pass(2_000).map((line) => line.split(' ')[0] ?? '');
    assert.equal(again.length, 1);
    const told = stage.answer(again[0] ?? '', ok);
    assert.equal(told.filter((line) => line.includes('POST')).length, 4, told.join('\n'));
  });

  it('is one of so many that the server itself must be ill: all wait then', () => {
    const stage = new Stage();
    for (let n = 0; n <= 64; n++) {
      const [sent = ''] = stage.record('x', { namespace: `ns${n}` });
      stage.answer(sent.split(' ')[0] ?? '', 500);
    }
    assert.deepEqual(stage.record('y', calm), []);
  });
});

const step = fc.oneof(
  fc.integer().map((item) => ({ kind: 'push', item }) as const),
  fc.integer().map((item) => ({ kind: 'putBack', item }) as const),
  fc.constant({ kind: 'shift' } as const),
  fc.constant({ kind: 'clear' } as const),
);

describe('a queue of Events', () => {
  it('does what an array does', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new EventQueue<number>();
        const twin: number[] = [];
        for (const one of steps) {
          switch (one.kind) {
            case 'push':
              queue.push(one.item);
              twin.push(one.item);
              break;
            case 'putBack':
              queue.putBack(one.item);
              twin.unshift(one.item);
              break;
            case 'shift':
              assert.equal(queue.shift(), twin.shift());
              break;
            case 'clear':
              queue.clear();
              twin.length = 0;
          }
          assert.equal(queue.length, twin.length);
        }
      }),
    );
  });
});

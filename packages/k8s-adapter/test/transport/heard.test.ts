import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExchangeInput } from '../../src/proto/exchange.ts';
import { Call, type Carrier } from '../../src/transport/call.ts';
import { Heard } from '../../src/transport/heard.ts';
import { InputSink } from '../../src/transport/sink.ts';

const headers = { 'content-type': 'text/plain' };
const nobody: Carrier = { carry: () => {}, rejected: () => {} };

/** A call, and what is heard of it in words. */
function callOf(
  id: string,
  told: string[],
  method: 'GET' | 'PATCH' = 'GET',
  path = '/pods?watch=true',
): Call {
  const sink = new InputSink(id, (input) => told.push(words(input)));
  const request = { method, path, headers: {}, body: null };
  return new Call(request, sink, nobody);
}

function words(input: ExchangeInput): string {
  const isData = input.kind === 'chunk' || input.kind === 'answer';
  const text = isData ? ` ${new TextDecoder().decode(Buffer.from(input.data))}` : '';
  const message = input.kind === 'failed' ? ` ${input.message}` : '';
  return `${input.id} ${input.kind}${text}${message}`;
}

it('tells an answer that came as a whole at once', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(() => 0), callOf('a', told)];
  heard.head(call, 200, headers);
  heard.data(call, Buffer.from('one '));
  heard.data(call, Buffer.from('two'));
  heard.end(call);
  assert.deepEqual(told, []);
  heard.deliver();
  heard.deliver();
  assert.deepEqual(told, ['a answer one two']);
});

it('tells what came together of a watch in one piece, and the rest when it comes', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(() => 0), callOf('a', told)];
  heard.head(call, 200, headers);
  heard.deliver();
  heard.data(call, Buffer.from('one '));
  heard.data(call, Buffer.from('two'));
  heard.deliver();
  heard.data(call, Buffer.from('three'));
  heard.end(call);
  heard.deliver();
  assert.deepEqual(told, ['a head', 'a chunk one two', 'a chunk three', 'a end']);
});

it('tells the parts of a list as they are, but for small ones', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(() => 0), callOf('a', told, 'GET', '/pods')];
  heard.head(call, 200, headers);
  const long = 'x'.repeat(5000);
  for (const part of [long, long, 'one ', 'two']) heard.data(call, Buffer.from(part));
  heard.deliver();
  heard.end(call);
  heard.deliver();
  assert.deepEqual(told, [
    'a head',
    `a chunk ${long}`,
    `a chunk ${long}`,
    'a chunk one two',
    'a end',
  ]);
});

it('keeps the order in which calls were heard of', () => {
  const told: string[] = [];
  const heard = new Heard(() => 0);
  const [first, second] = [callOf('a', told), callOf('b', told)];
  heard.data(first, Buffer.from('1'));
  heard.head(second, 200, headers);
  heard.data(first, Buffer.from('2'));
  heard.end(second);
  heard.deliver();
  assert.deepEqual(told, ['a chunk 12', 'b answer ']);
});

it('tells nothing of a call that was hung up meanwhile', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(() => 0), callOf('a', told)];
  heard.head(call, 200, headers);
  heard.end(call);
  call.hangUp();
  heard.deliver();
  assert.deepEqual(told, []);
});

it('refuses an answer that is encoded as nobody asked for', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(() => 0), callOf('a', told)];
  heard.head(call, 200, { 'content-encoding': 'gzip' });
  heard.data(call, Buffer.from('packed'));
  heard.end(call);
  heard.deliver();
  assert.deepEqual(told, ['a failed the answer is encoded as gzip, which was not requested']);
});

it('tells the answer to a write when it is complete, in whatever pieces it came', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(() => 0), callOf('a', told, 'PATCH')];
  heard.head(call, 200, headers);
  heard.deliver();
  heard.data(call, Buffer.from('done'));
  heard.deliver();
  assert.deepEqual(told, []);
  heard.end(call);
  heard.deliver();
  assert.deepEqual(told, ['a answer done']);
});

it('tells a long answer to a write as it comes', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(() => 0), callOf('a', told, 'PATCH')];
  heard.head(call, 200, headers);
  heard.data(call, Buffer.from('x'.repeat(70_000)));
  heard.deliver();
  assert.deepEqual(told, ['a head', `a chunk ${'x'.repeat(70_000)}`]);
});

it('tells what came of a write whose answer breaks off, so that it is not sent again', () => {
  const told: string[] = [];
  let carried = 0;
  const sink = new InputSink('a', (input) => told.push(words(input)));
  const request = { method: 'PATCH', path: '/', headers: {}, body: '{}' } as const;
  const carry = (): void => {
    carried += 1;
  };
  const call = new Call(request, sink, { ...nobody, carry });
  call.start();
  const heard = new Heard(() => 0);
  heard.head(call, 200, headers);
  heard.deliver();
  heard.deliver(true);
  call.fail('gone', 'stale');
  assert.deepEqual([told, carried], [['a head', 'a failed gone'], 1]);
});

it('forgets what nobody waits for', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(() => 0), callOf('a', told, 'PATCH')];
  heard.head(call, 200, headers);
  heard.forget(call);
  heard.deliver(true);
  assert.deepEqual(told, []);
});

const watchPath = '/api/v1/nodes?watch=true&resourceVersion=7';

/** So many bytes, each with the number of its kilobyte. */
function kilobytes(count: number): Buffer {
  return Buffer.from(Array.from({ length: count * 1024 }, (_, at) => at >> 10));
}

/** A watch, and the parts that are told of it. */
function watchOf(told: Uint8Array[], path = watchPath): Call {
  const hear = (input: ExchangeInput): void => {
    if (input.kind === 'chunk') told.push(Buffer.from(input.data));
  };
  return watchTo(hear, path);
}

/** A watch, and who hears of it. */
function watchTo(hear: (input: ExchangeInput) => void, path = watchPath): Call {
  const request = { method: 'GET', path, headers: {}, body: null } as const;
  return new Call(request, new InputSink('watch', hear), nobody);
}

describe('a long part of a watch', () => {
  it('is told bit by bit, twice as much each time, and an answer in between', () => {
    const [told, answers]: [Uint8Array[], string[]] = [[], []];
    const [heard, watch, patch] = [
      new Heard(() => 0),
      watchOf(told),
      callOf('a', answers, 'PATCH'),
    ];
    heard.data(watch, kilobytes(30));
    heard.data(watch, kilobytes(10));
    assert.equal(heard.deliverSome(false), true);
    heard.head(patch, 200, headers);
    heard.end(patch);
    heard.data(watch, kilobytes(1));
    assert.equal(heard.deliverSome(false), true);
    assert.deepEqual(answers, ['a answer ']);
    assert.equal(heard.deliverSome(false), false);
    assert.deepEqual(
      told.map(({ length }) => length / 1024),
      [8, 16, 17],
    );
    const whole = Buffer.concat([kilobytes(30), kilobytes(10), kilobytes(1)]);
    assert.deepEqual(Buffer.concat(told), whole);
    assert.equal(heard.deliverSome(false), false);
  });

  it('comes before the end of the watch', () => {
    const told: string[] = [];
    const [heard, call] = [new Heard(() => 0), watchTo(({ kind }) => told.push(kind))];
    heard.head(call, 200, headers);
    heard.data(call, kilobytes(9));
    heard.deliverSome(false);
    heard.end(call);
    heard.deliverSome(false);
    assert.deepEqual(told, ['head', 'chunk', 'chunk', 'end']);
  });

  it('is told at once where the connection ends, or where it says that all has come', () => {
    const told: Uint8Array[] = [];
    const [heard, watch] = [new Heard(() => 0), watchOf(told)];
    heard.data(watch, kilobytes(40));
    heard.deliverSome(false);
    heard.deliver();
    assert.deepEqual(
      told.map(({ length }) => length / 1024),
      [8, 32],
    );
  });

  it('keeps an answer waiting for no more than a few dozen kilobytes', () => {
    const told: Uint8Array[] = [];
    const [heard, watch] = [new Heard(() => 0), watchOf(told)];
    for (let at = 0; at < 30; at++) heard.data(watch, kilobytes(10));
    while (heard.deliverSome(false));
    assert.deepEqual(
      told.map(({ length }) => length / 1024),
      [8, 16, 32, 64, 64, 64, 52],
    );
    const whole = Buffer.concat(Array.from({ length: 30 }, () => kilobytes(10)));
    assert.deepEqual(Buffer.concat(told), whole);
  });

  it('is told in smaller pieces where what comes of them takes long, down to 4 kB', () => {
    const lengths: number[] = [];
    let now = 0;
    // Of the first three pieces nothing much comes; then a kilobyte takes 3 ms.
    const hear = (input: ExchangeInput): void => {
      if (input.kind !== 'chunk') return;
      const kilobytes = input.data.length / 1024;
      lengths.push(kilobytes);
      now += lengths.length <= 3 ? 0.1 * kilobytes : 3 * kilobytes;
    };
    const [heard, watch] = [new Heard(() => now), watchTo(hear)];
    heard.data(watch, kilobytes(200));
    while (heard.deliverSome(false));
    assert.deepEqual(lengths.slice(0, 9), [8, 16, 32, 64, 32, 16, 8, 4, 4]);
    assert.equal(
      lengths.reduce((sum, length) => sum + length, 0),
      200,
    );
  });

  it('is full where so much has piled up that it would fill the memory, until some is told', () => {
    const told: Uint8Array[] = [];
    const [heard, watch] = [new Heard(() => 0), watchOf(told)];
    heard.data(watch, kilobytes(512));
    assert.equal(heard.isFull, false);
    heard.data(watch, kilobytes(70));
    assert.equal(heard.isFull, true);
    assert.equal(heard.deliverSome(true), true, 'in its turn, as ever');
    assert.deepEqual(told, []);
    while (heard.isFull) assert.equal(heard.deliverSome(false), true);
    while (heard.deliverSome(false));
    assert.deepEqual(Buffer.concat(told), Buffer.concat([kilobytes(512), kilobytes(70)]));
    assert.ok(told.every(({ length }) => length <= 64 * 1024));
  });

  it('is not cut where it is a list: nobody has use for a part of one', () => {
    const told: Uint8Array[] = [];
    const [heard, list] = [new Heard(() => 0), watchOf(told, '/api/v1/nodes?limit=500')];
    heard.data(list, kilobytes(40));
    assert.equal(heard.deliverSome(false), false);
    assert.deepEqual(told, [kilobytes(40)]);
  });

  it('is not told any more where nobody waits for it', () => {
    const told: Uint8Array[] = [];
    const [heard, watch] = [new Heard(() => 0), watchOf(told)];
    heard.data(watch, kilobytes(40));
    heard.deliverSome(false);
    heard.forget(watch);
    assert.equal(heard.deliverSome(false), false);
    assert.equal(told.length, 1);
  });
});

describe('what comes of a watch in many small parts', () => {
  it('is told once in a turn, all of it together, and answers as they come', () => {
    const [told, answers]: [Uint8Array[], string[]] = [[], []];
    const [heard, watch, patch] = [
      new Heard(() => 0),
      watchOf(told),
      callOf('a', answers, 'PATCH'),
    ];
    heard.data(watch, kilobytes(1));
    assert.equal(heard.deliverSome(false), false);
    assert.equal(told.length, 1);
    for (let at = 0; at < 5; at++) {
      heard.data(watch, kilobytes(1));
      assert.equal(heard.deliverSome(true), true);
    }
    heard.head(patch, 200, headers);
    heard.end(patch);
    assert.equal(heard.deliverSome(true), true);
    assert.deepEqual(answers, ['a answer ']);
    assert.equal(told.length, 1);
    assert.equal(heard.deliverSome(false), false);
    assert.deepEqual(
      told.map(({ length }) => length / 1024),
      [1, 5],
    );
  });

  it('is told with the end of the watch', () => {
    const told: string[] = [];
    const [heard, call] = [new Heard(() => 0), watchTo(({ kind }) => told.push(kind))];
    heard.head(call, 200, headers);
    heard.data(call, kilobytes(1));
    heard.deliverSome(false);
    heard.data(call, kilobytes(1));
    heard.end(call);
    assert.equal(heard.deliverSome(true), true);
    assert.equal(heard.deliverSome(false), false);
    assert.deepEqual(told, ['head', 'chunk', 'chunk', 'end']);
  });
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ExchangeInput } from '../../src/proto/exchange.ts';
import { Call } from '../../src/transport/call.ts';
import { Heard } from '../../src/transport/heard.ts';
import { inputSink } from '../../src/transport/sink.ts';

const headers = { 'content-type': 'text/plain' };

/** A call, and what is heard of it in words. */
function callOf(id: string, told: string[], method: 'GET' | 'PATCH' = 'GET'): Call {
  const sink = inputSink(id, (input) => told.push(words(input)));
  const request = { method, path: '/', headers: {}, body: null };
  return new Call(request, sink, () => {});
}

function words(input: ExchangeInput): string {
  const isData = input.kind === 'chunk' || input.kind === 'answer';
  const text = isData ? ` ${new TextDecoder().decode(Buffer.from(input.data))}` : '';
  const message = input.kind === 'failed' ? ` ${input.message}` : '';
  return `${input.id} ${input.kind}${text}${message}`;
}

it('tells an answer that came as a whole at once', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(), callOf('a', told)];
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
  const [heard, call] = [new Heard(), callOf('a', told)];
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

it('keeps the order in which calls were heard of', () => {
  const told: string[] = [];
  const heard = new Heard();
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
  const [heard, call] = [new Heard(), callOf('a', told)];
  heard.head(call, 200, headers);
  heard.end(call);
  call.hangUp();
  heard.deliver();
  assert.deepEqual(told, []);
});

it('refuses an answer that is encoded as nobody asked for', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(), callOf('a', told)];
  heard.head(call, 200, { 'content-encoding': 'gzip' });
  heard.data(call, Buffer.from('packed'));
  heard.end(call);
  heard.deliver();
  assert.deepEqual(told, ['a failed the answer is encoded as gzip, which nobody asked for']);
});

it('tells the answer to a write when it is complete, in whatever pieces it came', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(), callOf('a', told, 'PATCH')];
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
  const [heard, call] = [new Heard(), callOf('a', told, 'PATCH')];
  heard.head(call, 200, headers);
  heard.data(call, Buffer.from('x'.repeat(70_000)));
  heard.deliver();
  assert.deepEqual(told, ['a head', `a chunk ${'x'.repeat(70_000)}`]);
});

it('tells what came of a write whose answer breaks off, so that it is not sent again', () => {
  const told: string[] = [];
  let carried = 0;
  const sink = inputSink('a', (input) => told.push(words(input)));
  const request = { method: 'PATCH', path: '/', headers: {}, body: '{}' } as const;
  const call = new Call(request, sink, () => {
    carried += 1;
  });
  call.start();
  const heard = new Heard();
  heard.head(call, 200, headers);
  heard.deliver();
  heard.deliver(true);
  call.fail('gone', 'stale');
  assert.deepEqual([told, carried], [['a head', 'a failed gone'], 1]);
});

it('forgets what nobody waits for', () => {
  const told: string[] = [];
  const [heard, call] = [new Heard(), callOf('a', told, 'PATCH')];
  heard.head(call, 200, headers);
  heard.forget(call);
  heard.deliver(true);
  assert.deepEqual(told, []);
});

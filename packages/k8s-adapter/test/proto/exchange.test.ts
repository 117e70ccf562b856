// What is held of answers and watches that come in parts of one byte, as a server may send them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerCollector } from '../../src/proto/exchange.ts';
import { ListReader } from '../../src/proto/json-list.ts';
import { keepBytes } from '../../src/proto/protobuf.ts';
import { getRequest, objectRequest } from '../../src/proto/requests.ts';
import { JsonWatchDecoder, ProtobufWatchDecoder } from '../../src/proto/watch-decoder.ts';
import { Call } from '../../src/transport/call.ts';
import { Heard } from '../../src/transport/heard.ts';
import { InputSink } from '../../src/transport/sink.ts';
import { bytesHeld } from '../world/bytes-held.ts';
import { fc } from '../world/fast-check.ts';

type Take = (part: Uint8Array) => void;

/** Of each ten bytes that come over the wire one is of the answer: a frame has nine of its own. */
const frameBytes = 10;
const count = 400_000;
const heldMax = 4 * 2 ** 20;

/** What is held when so many have come; `text` is what comes first. */
function heldOf(take: Take, text: string): number {
  const first = Buffer.from(text);
  const before = bytesHeld();
  let chunk = new Uint8Array(0);
  for (let at = 0; at < count; at++) {
    const place = (at * frameBytes) % 65_530;
    if (at === 0 || place < frameBytes) chunk = new Uint8Array(65_536);
    chunk[place] = first[at] ?? 0x78;
    take(chunk.subarray(place, place + 1));
  }
  return bytesHeld() - before;
}

function collecting(reader: ListReader<unknown> | null, headers = {}): Take {
  const collector = new AnswerCollector(undefined, reader);
  collector.take({ kind: 'head', id: 'a', status: 200, headers });
  return (data) => void collector.take({ kind: 'chunk', id: 'a', data });
}

function heard(request: Call['request']): Take {
  const call = new Call(request, new InputSink('a', () => {}), { carry() {}, rejected() {} });
  const one = new Heard(() => 0);
  one.head(call, 200, {});
  return (data) => one.data(call, data);
}

const list = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[';
const reader = () => new ListReader({ request: getRequest('/api/v1/pods'), read: (one) => one });
const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' };
const readers: readonly (readonly [what: string, make: () => Take, text: string])[] = [
  ['an answer in JSON', () => collecting(null), '{"a":"'],
  ['an answer in protobuf', () => collecting(null, protobuf), 'k8s\0'],
  ['a list in JSON', () => collecting(reader()), `${list}{"metadata":{"name":"`],
  ['a list that begins otherwise', () => collecting(reader()), '{"items":[{"metadata":{"name":"'],
  [
    'a watch in JSON',
    () => {
      const decoder = new JsonWatchDecoder();
      return (data) => void decoder.push(data);
    },
    '{"type":"ADDED","object":{"a":"',
  ],
  [
    'a watch in protobuf',
    () => {
      const decoder = new ProtobufWatchDecoder();
      return (data) => void decoder.push(data);
    },
    '\0\x7f\xff\xff',
  ],
  ['a watch that waits for its turn', () => heard(getRequest('/api/v1/pods?watch=true')), ''],
  ['a list that waits for its turn', () => heard(getRequest('/api/v1/pods')), ''],
  ['an answer to a write', () => heard(objectRequest('PUT', '/api/v1/nodes/a', {})), ''],
];

describe('bytes held for bytes received one by one', () => {
  for (const [what, make, text] of readers) {
    it(`do not grow with ${what}`, () => {
      const take = make();
      const held = heldOf(take, text);
      assert.ok(
        held < heldMax,
        `${held} bytes held for ${count} of ${count * frameBytes} received`,
      );
      take(new Uint8Array(1));
    });
  }

  it('are the same bytes', () => {
    const part = fc.uint8Array({ maxLength: 5000 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 50 }), (parts) => {
        const kept: Uint8Array[] = [];
        for (const one of parts) keepBytes(kept, one);
        assert.deepEqual(Buffer.concat(kept), Buffer.concat(parts));
      }),
    );
  });
});

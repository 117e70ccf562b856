import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../../src/server/connections.ts';
import { Paced, pacedLimits } from '../../src/server/paced.ts';

// What a connection takes of a client before it is hung up on, however the bytes are cut.

interface Heard {
  readonly paced: Paced;
  readonly client: Duplex;
  text: string;
  isOver: boolean;
}

function listen(): Heard {
  const [client, source] = duplexPair();
  const connection: Connection = {
    ...{ socket: new Socket(), peer: 'a' },
    ...{ stage: 'request', isKnown: false },
  };
  const paced = new Paced(connection, source, () => {
    heard.isOver = true;
  });
  const heard: Heard = { paced, client, text: '', isOver: false };
  paced.on('data', (part) => {
    heard.text += part;
  });
  client.on('error', () => {});
  return heard;
}

/** Writes a text again and again in pieces of this size; how many bytes it came to. */
async function bytesTaken(heard: Heard, again: string, size: number): Promise<number> {
  let taken = 0;
  for (let at = 0; !heard.isOver; at = (at + size) % again.length) {
    const piece = again.slice(at, at + size);
    taken += piece.length;
    heard.client.write(piece);
    await turn();
  }
  return taken;
}

const head = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';
const { headBytesMax, heldBytesMax, lateBytesMax, piecesMax } = pacedLimits;
const much = 'x'.repeat(65_536);
const shapes: readonly (readonly [shape: string, first: string, again: string, bytes: number])[] = [
  ['empty lines', '', '\r\n'.repeat(32_768), 16],
  ['empty lines without returns', '', '\n'.repeat(65_536), 16],
  ['one line', 'GET /', much, headBytesMax],
  ['headers', 'GET / HTTP/1.1\r\n', 'a: b\r\n'.repeat(10_000), headBytesMax],
  ['a body', head, much, heldBytesMax],
  ['requests', head, head.repeat(2000), heldBytesMax],
];

describe('a connection takes', () => {
  for (const [shape, first, again, bytesMax] of shapes) {
    for (const size of [1, 7, 1000, 65_536]) {
      it(`little of ${shape} in pieces of ${size}`, async () => {
        const heard = listen();
        heard.client.write(first);
        const taken = await bytesTaken(heard, again, size);
        assert.ok(taken <= bytesMax + size, String(taken));
        assert.ok(taken <= (piecesMax + 1) * size, String(taken));
        assert.ok(heard.text.length <= headBytesMax);
        assert.deepEqual([heard.paced.destroyed, heard.paced.source.destroyed], [true, true]);
      });
    }
  }

  it('a little after the last answer, and passes none of it on', async () => {
    const heard = listen();
    heard.client.write(head);
    await turn();
    heard.paced.finish();
    const taken = await bytesTaken(heard, head.repeat(30), 1000);
    assert.ok(taken > heldBytesMax && taken <= lateBytesMax + 1000, String(taken));
    assert.equal(heard.text, head);
  });

  it('as much for each request, with an empty line before it', async () => {
    const heard = listen();
    const long = `GET /livez HTTP/1.1\r\nX: ${'x'.repeat(15_000)}\r\n\r\n`;
    for (let count = 1; count <= 20; count += 1) {
      heard.client.write(`\r\n${long}`);
      await turn();
      assert.equal(heard.text, `\r\n${long}`.repeat(count));
      heard.paced.proceed();
    }
    assert.equal(heard.isOver, false);
  });
});

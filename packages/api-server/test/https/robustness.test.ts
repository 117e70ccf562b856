import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import type { KubeObject } from '@taintmgr/sim-cluster';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType, jsonPatch, merge, strategic } from '../../../sim-cluster/test/world/client.ts';
import { createCertificate } from '../../src/https/certificate.ts';
import { type HttpsServer, startHttps } from '../../src/https/server.ts';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';

// Clients that misbehave: nothing crashes, everything is answered, and nothing stays behind.

const certificate = createCertificate(Date.now());
const { api, clock, client } = fixture();
let server: HttpsServer;

before(async () => {
  server = await startHttps({ exchange: api.exchange, certificate });
});
after(() => server.close());

/** The sockets and timers of this process. */
function resources(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /TCP|TLS|Timeout/.test(name))
    .sort();
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Until no watch and no socket is left of what a client opened. */
async function untilAsBefore(start: readonly string[]): Promise<void> {
  while (clock.nextWake() !== null || resources().length > start.length) await turn();
}

async function open(): Promise<TLSSocket> {
  const socket = connect({ port: server.port, host: '127.0.0.1', ca: certificate.ca });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

/** Everything the server says until it closes the connection. */
async function talk(...pieces: readonly string[]): Promise<string> {
  const socket = await open();
  let said = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    said += chunk;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const piece of pieces) {
    socket.write(piece);
    await turn();
  }
  await closed;
  return said;
}

const head = (line: string, ...headers: readonly string[]): string =>
  [line, 'host: x', ...headers, '', ''].join('\r\n');

describe('over the socket', () => {
  let start: readonly string[];
  beforeEach(() => {
    start = resources();
  });

  const strange: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['what is no HTTP', ['GARBAGE\r\n\r\n'], /^HTTP\/1\.1 400 /],
    ['a head without end', [`GET / HTTP/1.1\r\nx: ${'y'.repeat(16_500)}`], /^HTTP\/1\.1 431 /],
    ['an unknown method', [head('BREW / HTTP/1.1')], /^HTTP\/1\.1 400 /],
    [
      'a request piece by piece',
      [...head('GET /version HTTP/1.1', 'connection: close')],
      /^HTTP\/1\.1 200 [\s\S]*"gitVersion"/,
    ],
    [
      'two requests at once',
      [head('GET /version HTTP/1.1') + head('GET /healthz HTTP/1.1', 'connection: close')],
      /"gitVersion"[\s\S]*HTTP\/1\.1 200 [\s\S]*\r\nok\r\n/,
    ],
    [
      'letters that no header can carry, in a warning',
      [
        head('POST /api/v1/nodes HTTP/1.1', 'connection: close', 'transfer-encoding: chunked'),
        chunk('{"metadata":{"name":"warned"},"日本\\u0000\\n":1}'),
        chunk(''),
      ],
      /^HTTP\/1\.1 201 [\s\S]*warning: 299 - "unknown field/i,
    ],
  ];
  for (const [name, pieces, expected] of strange) {
    it(`answers ${name}`, async () => {
      assert.match(await talk(...pieces), expected);
      await untilAsBefore(start);
    });
  }

  it('refuses a body of any length without keeping it', async () => {
    const socket = await open();
    socket.write(head(`POST ${pods} HTTP/1.1`, 'transfer-encoding: chunked'));
    const piece = chunk('x'.repeat(1 << 20));
    const before = process.memoryUsage().rss;
    let said = '';
    socket.on('data', (data) => {
      said += String(data);
    });
    // The server hangs up while more is being written.
    socket.on('error', () => {});
    for (let count = 0; count < 64 && !socket.destroyed; count++) {
      if (socket.write(piece)) continue;
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    }
    while (said === '' && !socket.destroyed) await turn();
    assert.match(said, /413 [\s\S]*"reason":"RequestEntityTooLarge"/);
    // The pieces that were thrown away are garbage, but none is held twice.
    assert.ok(process.memoryUsage().rss - before < 96 << 20);
    socket.destroy();
    await untilAsBefore(start);
  });

  it('tells a client that reads nothing before it has sent all that its body is too long', async () => {
    const socket = await open();
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    const length = 24 << 20;
    socket.write(head(`POST ${pods} HTTP/1.1`, `content-length: ${length}`));
    await new Promise((resolve) => socket.write('x'.repeat(length), resolve));
    const closed = once(socket, 'close');
    let said = '';
    socket.on('data', (data) => {
      said += String(data);
    });
    await closed;
    assert.deepEqual(errors, []);
    assert.match(said, /^HTTP\/1\.1 413 [\s\S]*"code":413}\n$/);
    await untilAsBefore(start);
  });

  it('frees the requests of clients that leave, wherever they are', async () => {
    const requests = [
      'GET /api/v1/no',
      head(`POST ${pods} HTTP/1.1`, 'content-length: 1000'),
      `${head(`POST ${pods} HTTP/1.1`, 'content-length: 1000')}{"metadata":`,
      head(`GET ${nodes}?watch=true HTTP/1.1`),
      head(`GET ${nodes}?watch=true&allowWatchBookmarks=true HTTP/1.1`),
      head(`GET ${nodes}?resourceVersion=999999 HTTP/1.1`),
      head(`GET ${nodes} HTTP/1.1`),
    ];
    api.faults.add({ fault: { kind: 'delay', ms: 60_000 }, verbs: ['list'], times: 2 });
    for (let round = 0; round < 5; round++) {
      const sockets: TLSSocket[] = [];
      for (const request of requests) {
        const socket = await open();
        socket.write(request);
        sockets.push(socket);
      }
      await turn();
      for (const socket of sockets) socket.destroy();
    }
    await untilAsBefore(start);
  });

  it('frees half-open connections when their clients give up', async () => {
    const disarm = api.faults.add({ fault: { kind: 'halfOpen', afterMs: 0 } });
    const sockets: TLSSocket[] = [];
    for (const request of [`GET ${nodes}?watch=true`, `GET ${nodes}`, 'GET /version']) {
      const socket = await open();
      socket.on('data', () => assert.fail('something came'));
      socket.write(head(`${request} HTTP/1.1`));
      sockets.push(socket);
    }
    while (clock.nextWake() === null) await turn();
    disarm();
    for (const socket of sockets) socket.destroy();
    await untilAsBefore(start);
  });

  it('leaves nothing behind when it is closed under open watches', async () => {
    const other = await startHttps({ exchange: api.exchange, certificate });
    const socket = connect({ port: other.port, host: '127.0.0.1', ca: certificate.ca });
    await once(socket, 'secureConnect');
    socket.write(head(`GET ${nodes}?watch=true HTTP/1.1`));
    await once(socket, 'data');
    const closed = once(socket, 'close');
    await other.close();
    await closed;
    await untilAsBefore(start);
  });
});

function chunk(text: string): string {
  const bytes = Buffer.byteLength(text);
  return `${bytes.toString(16)}\r\n${text}\r\n`;
}

describe('a body made to do harm', () => {
  const nested = (open: string, close: string, depth: number): string =>
    open.repeat(depth) + close.repeat(depth);
  let node: KubeObject;
  before(() => {
    node = api.get('nodes', '', 'n') ?? api.create('nodes', { metadata: { name: 'n' } });
    api.create('pods', podNamed('p'));
  });

  const deep = 500_000;
  const bodies: readonly (readonly [string, string])[] = [
    ['lists in lists', nested('[', ']', deep)],
    ['objects in objects', `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`],
    ['lists without end', '['.repeat(deep)],
    ['a deep unknown field', `{"metadata":{"name":"n"},"x":${nested('[', ']', deep)}}`],
    [
      'a deep free-form field',
      `{"metadata":{"name":"n","managedFields":[${nested('[', ']', 1000)}]}}`,
    ],
    ['a quote without end', `"${'\\'.repeat(deep)}`],
  ];
  for (const [name, body] of bodies) {
    it(`as ${name} is refused`, () => {
      const patches = [merge, strategic, jsonPatch, applyType];
      const query = { fieldManager: 'm' };
      const answers = [
        client.post(nodes, body),
        client.put(`${nodes}/n`, body),
        client.delete(`${nodes}/absent`, { body }),
        ...patches.map((type) => client.patch(`${nodes}/n`, body, type, { query })),
        ...patches.map((type) => client.patch(`${nodes}/n/status`, body, type, { query })),
      ];
      for (const { status, body: answer } of answers) {
        assert.ok(status >= 400 && status < 500, `${status}`);
        assert.equal(answer.kind, 'Status');
      }
    });
  }

  it('as a patch that doubles and doubles does not apply', () => {
    const path = '/metadata/annotations';
    const grow = { op: 'copy', from: path, path: `${path}/a` };
    const patch = [{ op: 'add', path, value: { b: 'x'.repeat(1000) } }, ...Array(60).fill(grow)];
    assert.equal(client.patch(`${nodes}/n`, patch, jsonPatch).status, 422);
  });

  it('as a patch of too many operations is too large', () => {
    const patch = Array(10_001).fill({ op: 'test', path: '', value: 1 });
    const { status, body } = client.patch(`${nodes}/n`, patch, jsonPatch);
    assert.deepEqual([status, body.reason], [413, 'RequestEntityTooLarge']);
  });

  it('as thousands of unknown fields warns of a few', () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`x${index}`, 1]),
    );
    const { status, headers } = client.patch(`${nodes}/n`, unknown, merge);
    assert.equal(status, 200);
    assert.ok((headers.warning ?? '').length <= 8192);
    assert.match(headers.warning ?? '', /^299 - "unknown field \\"x0\\"", 299 - /);
  });

  it('as protobuf in protobuf is refused', () => {
    let inner: Uint8Array = Buffer.alloc(0);
    for (let depth = 0; depth < 2000; depth++)
      inner = Buffer.concat([Buffer.from([0x0a, ...varint(inner.length)]), inner]);
    const kind = Buffer.from('Namespace');
    const type = Buffer.from([0x12, kind.length, ...kind]);
    const object = Buffer.concat([Buffer.from([0x2a, ...varint(inner.length)]), inner]);
    const body = Buffer.concat([
      Buffer.from([
        0x6b,
        0x38,
        0x73,
        0x00,
        0x0a,
        type.length,
        ...type,
        0x12,
        ...varint(object.length),
      ]),
      object,
    ]);
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' };
    assert.equal(client.post('/api/v1/namespaces', body, { headers }).status, 415);
  });

  it('has changed nothing', () => {
    const pods: readonly KubeObject[] = api.list('pods');
    assert.deepEqual(
      pods.map(({ metadata }) => metadata.name),
      ['p'],
    );
    assert.equal(api.get('nodes', '', 'n'), node);
  });
});

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

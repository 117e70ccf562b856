import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Settings } from 'node:http2';
import { describe, it } from 'node:test';
import { HttpTransport } from '../../../src/transport/http-transport.ts';
import { get, sink } from '../../world/heard.ts';
import { bodyOf, certificates, startHttp2Server } from '../../world/http-server.ts';

// Our HTTP/2 against the one of Node, which is nghttp2: what goes there is what comes back.

/** Each byte that a header may have, among so many of the shortest code that all are coded. */
const everyByte = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
  .filter((letter) => /[\t\x20-\x7e\x80-\xff]/.test(letter))
  .map((letter) => `${'e'.repeat(10)}${letter}${'e'.repeat(10)}`);

const servers: [what: string, settings: Settings][] = [
  ['as it is', {}],
  ['that keeps no headers', { headerTableSize: 0 }],
  ['that keeps few headers', { headerTableSize: 100 }],
  ['that takes few bytes at once', { initialWindowSize: 100 }],
  ['that takes long frames', { maxFrameSize: 100_000, initialWindowSize: 1_000_000 }],
  ['that takes three requests at once', { maxConcurrentStreams: 3 }],
];

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('our HTTP/2 and a server of Node', () => {
  for (const [what, settings] of servers) {
    it(`${what}: bodies and headers, long and short`, async (t) => {
      const handle = async (
        ...[request, response]: Parameters<Parameters<typeof startHttp2Server>[1]>
      ) => {
        const body = await bodyOf(request);
        const { 'x-long': long = '', authorization = '' } = request.headers;
        for (const [at, value] of everyByte.entries()) response.setHeader(`x-${at}`, value);
        response.end([hash(body), hash(String(long)), hash(authorization)].join());
      };
      const server = await startHttp2Server(t, handle, { settings });
      const tls = { ca: certificates.ca, servername: 'api.test' };
      const authorization = `Bearer ${'t'.repeat(900)}`;
      const login = { headers: { authorization }, tls, agent: null };
      const access = { server: server.url, authorize: async () => login, rejected: () => {} };
      const transport = new HttpTransport(access, 'taintmgr/test');
      t.after(() => transport.close());
      const ask = async (length: number): Promise<void> => {
        const [body, long] = ['b'.repeat(length), `${length}`.padStart(length % 30_000, 'l')];
        const heard = { ...sink(), seen: '' };
        const head = heard.head;
        heard.head = (status, headers) => {
          const values = everyByte.map((_, at) => headers[`x-${at}`]);
          assert.deepEqual(
            values,
            everyByte.map((value) => value.trim()),
          );
          head(status, headers);
        };
        const request = { ...get('/'), headers: { 'x-long': long } };
        transport.send({ ...request, method: 'PUT', body }, heard);
        await heard.over;
        const answer = [hash(body), hash(long), hash(authorization)].join();
        assert.deepEqual(heard.lines, ['head 200', answer, 'end']);
      };
      const lengths = [1, 2, 100, 8_000, 16_383, 16_384, 20_000, 29_999, 70_000, 200_000];
      await Promise.all([...lengths, ...lengths].map(ask));
      assert.ok(server.connections() <= (settings.maxConcurrentStreams ? 4 : 1));
    });
  }
});

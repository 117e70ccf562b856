import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Servers, scenarios } from '../transport/transport-scenarios.ts';
import { startServers } from '../transport/transport-server.ts';
import { runtimes } from '../world/runtimes.ts';

// The transport on every runtime that is installed, against servers on Node.

const program = fileURLToPath(new URL('../transport/transport-runtime.ts', import.meta.url));

const echo = (version: string, method: string, body = ''): string =>
  `head 200 ${JSON.stringify([version, method, 'Bearer t', 'a, b', body])} end`;

const expected: Readonly<Record<keyof typeof scenarios, readonly string[]>> = {
  'speaks HTTP/2': [echo('2.0', 'DELETE', '{"ü":1}')],
  'keeps no process alive that has nothing left to ask': [echo('2.0', 'GET')],
  'falls back to HTTP/1.1, and keeps the connection': [
    echo('1.1', 'GET'),
    echo('1.1', 'DELETE'),
    'head 200 1 end',
  ],
  'goes through a proxy': [echo('2.0', 'GET'), 'head 200 1 end'],
  'minds the name in the certificate': ['failed'],
  'carries many calls over few connections': ['head 200 ok end', 'few: true'],
  'reads in pauses where much is owed, and hears of the end': [
    'head 200 ok end',
    'head 200 half failed',
    'head 200 drop\n failed',
    echo('2.0', 'GET'),
  ],
  'brings a long answer whole': ['head200end true'],
  'hangs up one call, not the connection': ['head 200 done end', echo('2.0', 'GET')],
  'tells an answer that is cut off': [
    'head 200 half failed',
    'head 200 half failed',
    echo('2.0', 'GET'),
  ],
  'repeats what went into a dead connection, but no POST': [
    echo('2.0', 'GET'),
    'head 200 answered end',
    'failed',
  ],
  'repeats what the server refused to begin, even a POST': [
    echo('2.0', 'GET'),
    'head 200 answered end',
  ],
  'goes to a new connection after GOAWAY, and keeps the stream of the old one': [
    'head 200 going end',
    echo('2.0', 'GET'),
  ],
  'finds a silent connection within seconds': ['failed no sign of life ', echo('2.0', 'GET')],
  'says that a connection lives whose answer says nothing': ['alive'],
  'gives no connection up because this process was busy': ['head 200 1 end'],
  'repeats what went into a silent connection': [echo('2.0', 'GET'), echo('2.0', 'GET')],
};

for (const { name: runtime, binary, run } of runtimes) {
  describe(`transport on ${runtime}`, () => {
    for (const name of Object.keys(scenarios)) {
      it(name, async (t) => {
        const servers = await startServers(t);
        assert.deepEqual(await play(binary, [...run, program, name], servers), expected[name]);
      });
    }
  });
}

async function play(binary: string, args: readonly string[], servers: Servers): Promise<unknown> {
  const { stdout } = await promisify(execFile)(binary, [...args, JSON.stringify(servers)], {
    timeout: 120_000,
  });
  return JSON.parse(stdout);
}

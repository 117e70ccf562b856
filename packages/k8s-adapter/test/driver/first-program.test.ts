import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ApiServer } from '@taintmgr/api-server';
import { node, pod, RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { bodyOf, certificates, type Handler, startHttp2Server } from '../world/http-server.ts';
import { runtimes } from '../world/runtimes.ts';

// The first program of the README as it stands there, on every runtime that is installed, logging in
// with a client certificate.

const program = fileURLToPath(new URL('../world/first-program.ts', import.meta.url));
const tls = (name: string): string =>
  fileURLToPath(new URL(`../testdata/transport/tls/${name}`, import.meta.url));

it('the README shows this program', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  assert.equal(/```ts\n(.*?)```/s.exec(readme)?.[1], readFileSync(program, 'utf8'));
});

describe('the first program', () => {
  for (const { name, binary, run } of runtimes) {
    it(`follows a cluster and evicts on ${name}, until it is asked to stop`, async (t) => {
      const api = new ApiServer({ clock: new RealClock(), random: seededRandom(3) });
      const bad = { taints: [{ key: 'bad', effect: 'NoExecute' }] };
      api.create('nodes', node('n1', { spec: bad }));
      const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0 };
      api.create('pods', pod('default', 'web', { spec }));
      const env = { ...process.env, KUBECONFIG: await serve(t, api) };
      const child = spawn(binary, [...run, program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      t.after(() => child.kill('SIGKILL'));
      const exit = once(child, 'exit');
      const lines: string[] = [];
      for await (const line of createInterface(child.stdout)) {
        lines.push(line);
        if (line.startsWith('deletePod')) child.kill('SIGTERM');
      }
      assert.deepEqual(lines, ['everything is read, evictions start', 'deletePod web done']);
      assert.deepEqual(await exit, [0, null]);
      assert.equal(api.get('pods', 'default', 'web'), null);
    });
  }
});

/** Serves the API over HTTP/2 to whoever has our client certificate; the kubeconfig for it. */
async function serve(t: TestContext, api: ApiServer): Promise<string> {
  const handler: Handler = async (request, response) => {
    const { method = '', url = '', headers } = request;
    const pairs = Object.entries(headers).filter(([name]) => !name.startsWith(':'));
    const body = await bodyOf(request);
    const hangUp = api.exchange(
      { method, path: url, headers: Object.fromEntries(pairs) as Record<string, string>, body },
      {
        head(status, answered) {
          response.statusCode = status;
          for (const [name, value] of Object.entries(answered)) response.setHeader(name, value);
          response.flushHeaders();
        },
        data: (chunk) => response.write(chunk),
        end: () => response.end(),
        reset: () => response.destroy(),
      },
    );
    response.once('close', hangUp);
  };
  const { ca } = certificates;
  const server = await startHttp2Server(t, handler, { ca, requestCert: true });
  const home = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  const file = path.join(home, 'config');
  writeFileSync(
    file,
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [
        {
          name: 'c',
          cluster: {
            server: server.url,
            'certificate-authority': tls('ca.crt'),
            'tls-server-name': 'api.test',
          },
        },
      ],
      users: [
        {
          name: 'u',
          user: { 'client-certificate': tls('client.crt'), 'client-key': tls('client.key') },
        },
      ],
    }),
  );
  return file;
}

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HttpTransport, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { ApiClient } from '@taintmgr/k8s-adapter/client';
import { freePort } from '../harness/free-port.ts';
import { ask } from '../harness/https-client.ts';

// The controller as a process of its own, as a user starts it from a clone.

const program = fileURLToPath(new URL('../../bin/taintmgr-controller', import.meta.url));
const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** Ends what hangs. */
const timeout = 180_000;

interface Started {
  readonly child: ChildProcess;
  /** Resolves when a whole line of it matches. */
  saw(stream: 'out' | 'err', pattern: RegExp): Promise<string>;
  readonly result: Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
}

function start(t: TestContext, ...args: readonly string[]): Started {
  return startProgram(t, process.execPath, program, ...args);
}

function startProgram(t: TestContext, command: string, ...args: readonly string[]): Started {
  const child = spawn(command, args, { timeout, cwd: root });
  t.after(() => child.kill());
  const text = { out: '', err: '' };
  let wake = (): void => {};
  let ended = false;
  const hear = (stream: 'out' | 'err', chunk: string): void => {
    text[stream] += chunk;
    wake();
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => hear('out', chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => hear('err', chunk));
  const result = new Promise<number>((resolve) => {
    child.once('close', (code) => {
      ended = true;
      resolve(code ?? -1);
      wake();
    });
  });
  return {
    child,
    saw: async (stream, pattern) => {
      for (;;) {
        const found = text[stream]
          .split('\n')
          .slice(0, -1)
          .find((line) => pattern.test(line));
        if (found !== undefined) return found;
        assert.ok(!ended, `ended without ${pattern}:\n${text.out}${text.err}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    result: result.then((code) => ({ code, ...text })),
  };
}

/** What the controller says of itself in the cluster. */
async function published(kubeconfig: string): Promise<string> {
  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, 'test');
  const client = new ApiClient({ transport, server: access.server });
  try {
    return JSON.stringify(await client.list('/apis/taintmgr.dev/v1alpha1/taintmanagers'));
  } finally {
    transport.close();
  }
}

describe('taintmgr-controller', () => {
  it('--simulate starts a cluster, and SIGTERM ends both in order', async (t) => {
    const port = await freePort();
    const flags = ['--simulate', '--logging-format=json', `--secure-port=${port}`];
    const { child, saw, result } = start(t, ...flags);
    const kubeconfig = (await saw('out', /^export KUBECONFIG=\S+$/)).split('=')[1];
    await saw('err', /"msg":"caches synced, evictions start"/);
    await saw('err', /"msg":"became the leader"/);
    // One that has stood still is not ready for a while, and a busy machine makes programs stand still.
    while ((await ask(port, '/readyz')).body !== 'ok');
    assert.equal((await ask(port, '/metrics')).status, 403);
    // As in a cluster where our kinds are installed.
    while (!(await published(kubeconfig ?? '')).includes('"leader"'));
    child.kill('SIGTERM');
    const { code, out, err } = await result;
    assert.equal(code, 0, err);
    assert.equal(out, `export KUBECONFIG=${kubeconfig}\n`);
    const lines = err
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const [first, ...others] = lines;
    assert.deepEqual([first.msg, first.mode], ['starting', 'delete']);
    assert.match(first.server, /^https:\/\/127\.0\.0\.1:\d+$/);
    const end = [
      'stopping: waiting for evictions in progress',
      'no longer the leader, standing by',
      'stopped',
    ];
    // What was under way when the signal came ends between the first and the second.
    const said = others.map(({ msg }) => msg);
    assert.deepEqual(
      said.filter((msg) => end.includes(msg)),
      end,
    );
    assert.equal(said.at(-1), 'stopped');
  });

  it('ends with one line when its port is taken', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    t.after(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const address = ['--bind-address=127.0.0.1', `--secure-port=${port}`];
    const { code, err } = await start(t, '--server=https://127.0.0.1:1', ...address).result;
    assert.equal(code, 1);
    const last = err.trimEnd().split('\n').at(-1);
    assert.equal(
      last,
      `error: --secure-port: got "${port}", want a free one (listen EADDRINUSE: address already in use 127.0.0.1:${port})`,
    );
  });

  it('says what is tried again when nobody answers, until SIGTERM, and logs no secret', async (t) => {
    const flags = ['--server=https://127.0.0.1:1', '--token=a-secret', '--secure-port=0', '-v=4'];
    const { child, saw, result } = start(t, ...flags);
    await saw(
      'err',
      /could not start, will try again.*request to https:\/\/127\.0\.0\.1:1 failed: connect ECONNREFUSED 127\.0\.0\.1:1; check that the API server runs and that --context names the right cluster/,
    );
    child.kill();
    const { code, out, err } = await result;
    assert.ok(!err.includes('a-secret'));
    assert.deepEqual([code, out], [0, '']);
  });

  for (const signal of ['SIGTERM', 'SIGINT']) {
    it(`ends with 0 where ${signal} comes while it is still being loaded`, async (t) => {
      const kills = `process.kill(process.pid, '${signal}')`;
      // The first module of flags is asked for: most of the time to load is still to come.
      const resolve = `(name, context, next) => (name.includes('/flags/') && !sent && (sent = true, ${kills}), next(name, context))`;
      const hook = `let sent = false; process.getBuiltinModule('node:module').registerHooks({ resolve: ${resolve} });`;
      const preload = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
      const own = ['-C', '@taintmgr/source', preload, 'apps/controller/src/main.ts'];
      const flags = ['--server=https://127.0.0.1:1', '--secure-port=0'];
      const { code, err } = await startProgram(t, process.execPath, ...own, ...flags).result;
      assert.equal(code, 0, err);
      assert.match(err, new RegExp(`in progress {2}signal=${signal}\\n.* stopped\\n$`));
    });
  }

  it('opens no debugger on SIGUSR1', async (t) => {
    const port = await freePort();
    const { child, saw, result } = start(t, '--simulate', `--secure-port=${port}`);
    await saw('err', /caches synced/);
    child.kill('SIGUSR1');
    // By the time of two answers it would have said where it listens.
    for (let times = 0; times < 2; times++) assert.equal((await ask(port, '/livez')).body, 'ok');
    child.kill();
    const { code, err } = await result;
    assert.equal(code, 0);
    assert.doesNotMatch(err, /Debugger|inspector/);
  });

  it('ends with one line for a kubeconfig that is none', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-controller-test-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'kubeconfig');
    writeFileSync(file, 'kind: Pod\n');
    const { code, out, err } = await start(t, '--kubeconfig', file).result;
    assert.deepEqual([code, out], [1, '']);
    assert.equal(err, `error: ${file}: kind: got "Pod", want "Config"\n`);
  });

  it('ends with one line for a wrong flag', async (t) => {
    const { code, out, err } = await start(t, '--mode=drop').result;
    assert.deepEqual([code, out], [1, '']);
    assert.equal(err, 'error: --mode: got "drop", want delete or evict or evict-then-delete\n');
  });
});

describe('npm run', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`controller hands on ${signal}, and waits for what comes to its end`, async (t) => {
      const flags = ['--simulate', '--secure-port=0', '--logging-format=json'];
      const npm = startProgram(t, 'npm', 'run', '-s', 'controller', '--', ...flags);
      await npm.saw('err', /"msg":"caches synced, evictions start"/);
      npm.child.kill(signal);
      const { code, err } = await npm.result;
      assert.equal(code, 0, err);
      assert.equal(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').msg, 'stopped');
    });

    it(`cluster hands on ${signal}, and waits until it is tidied up`, async (t) => {
      const npm = startProgram(t, 'npm', 'run', '-s', 'cluster', '--', '--port', '0');
      const line = await npm.saw('out', /^export KUBECONFIG=\S+$/);
      const kubeconfig = line.split('=')[1] ?? '';
      assert.ok(existsSync(kubeconfig));
      npm.child.kill(signal);
      assert.equal((await npm.result).code, 0);
      assert.ok(!existsSync(kubeconfig));
    });
  }
});

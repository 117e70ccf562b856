import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { toleration } from '@taintmgr/sim-cluster';
import type { Result } from './run.ts';
import { app } from './scenario.ts';
import { startTestCluster, type TestCluster } from './test-cluster.ts';

// The plugin as a user has it: found on PATH by the machine's own kubectl.

const bin = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
const PATH = `${bin}${delimiter}${process.env.PATH}`;
const maintenance = 'maintenance=kernel:NoExecute';
const timeout = 30_000;
const escapeCharacter = '\u001b';

function execute(command: string, args: readonly string[], env = process.env): Promise<Result> {
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout }, (error, out, err) => {
      const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
      resolve({ code, out, err: code === -1 ? `${err}${error?.message}` : err });
    });
  });
}

const hasKubectl = (await execute('kubectl', ['version', '--client'])).code === 0;
const required = process.env.TAINTMGR_REQUIRE_KUBECTL === '1';
const noKubectl = !hasKubectl && !required && 'there is no kubectl on PATH';
// Another program of this name, on BSD and macOS, knows other flags.
const hasTerminal = /util-linux/.test((await execute('script', ['--version'])).out);
const noTerminal = noKubectl || (!hasTerminal && 'there is no script of util-linux on PATH');

describe('kubectl taintmgr', { skip: noKubectl }, () => {
  let cluster: TestCluster;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    assert.ok(hasKubectl, 'there is no kubectl on PATH');
    const tolerations = [toleration('maintenance:NoExecute', 600)];
    cluster = await startTestCluster({
      region: 'r',
      zones: ['go', 'stay', 'watched'],
      nodesPerZone: 1,
      workloads: [
        app('go', 'web'),
        app('stay', 'db', { tolerations }),
        app('watched', 'db', { tolerations }),
      ],
      budgets: [],
    });
    env = { PATH, HOME: cluster.directory, KUBECONFIG: cluster.kubeconfig };
  });
  after(() => cluster.stop());

  const kubectl = (line: string, changes: NodeJS.ProcessEnv = {}): Promise<Result> =>
    execute('kubectl', ['taintmgr', ...line.split(' ')], { ...env, ...changes });

  it('finds the cluster that KUBECONFIG names, or a flag', async () => {
    const ways: readonly (readonly [flags: string, env: NodeJS.ProcessEnv])[] = [
      ['', {}],
      [' --context=taintmgr-sim', {}],
      [` --kubeconfig=${cluster.kubeconfig}`, { KUBECONFIG: '/nope' }],
    ];
    for (const [flags, changes] of ways) {
      const { code, out, err } = await kubectl(`explain node go-1${flags}`, changes);
      assert.deepEqual([code, err], [0, ''], flags);
      assert.match(out, /^Name: {5}go-1\n/);
    }
  });

  it('passes its exit code on, data on stdout and the rest on stderr', async () => {
    const drained = await kubectl(`drain-by-taint ${maintenance} go-1`);
    assert.equal(drained.code, 0);
    assert.match(
      drained.out,
      /^node\/go-1 cordoned\nnode\/go-1 tainted\npod\/web-\S+ evicted .*\nnode\/go-1 drained \(1 pod, .*\)\n$/,
    );
    assert.match(drained.err, /^hint: .*\n$/);
    const late = await kubectl(`drain-by-taint ${maintenance} stay-1 --timeout=1s`);
    assert.deepEqual([late.code, late.out], [3, 'node/stay-1 cordoned\nnode/stay-1 tainted\n']);
    assert.match(late.err, /^error: not drained within --timeout/);
    const wrong = await kubectl('explain node go-1 --context=nope');
    assert.deepEqual([wrong.code, wrong.out], [1, '']);
    assert.match(wrong.err, /^error: context "nope" does not exist in .*\n$/);
    for (const { out, err } of [drained, late, wrong])
      assert.ok(!(out + err).includes(escapeCharacter));
  });

  describe('on a terminal', { skip: noTerminal }, () => {
    /** Drains `watched-1` on a pseudo-terminal; Ctrl-C when what it shows matches. */
    async function drainWatched(size: string, until: RegExp): Promise<Result> {
      // As it is installed: one process. The clone's launcher is another one in between.
      const installed = join(cluster.directory, 'kubectl-taintmgr');
      const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
      const launch = `#!/bin/sh\nexec '${process.execPath}' -C @taintmgr/source '${main}' "$@"\n`;
      writeFileSync(installed, launch, { mode: 0o755 });
      const line = `${size} exec kubectl taintmgr drain-by-taint ${maintenance} watched-1`;
      const onTerminal = {
        ...env,
        PATH: `${cluster.directory}${delimiter}${process.env.PATH}`,
        NO_COLOR: '1',
        TERM: 'xterm',
      };
      const child = spawn('script', ['-qefc', line, '/dev/null'], { env: onTerminal, timeout });
      let out = '';
      let interrupted = false;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
        if (interrupted || !until.test(out)) return;
        interrupted = true;
        child.stdin.write('\u0003');
      });
      return { code: await exitCode(child), out, err: '' };
    }

    function exitCode(child: ChildProcess): Promise<number> {
      return new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1)));
    }

    const goesOn = 'error: interrupted, 0 of 1 pod gone; the same command goes on from here\r\n';

    it('rewrites one line in place, and ends with Ctrl-C', async () => {
      const { code, out } = await drainWatched(
        'stty cols 100 rows 30;',
        /0 of 1 gone; 1 tolerate a while longer \(next in \d+m(\d+s)?\)[\s\S]*0 of 1 gone/,
      );
      assert.ok(out.includes(`${escapeCharacter}[2K`), `a line was erased: ${JSON.stringify(out)}`);
      assert.doesNotMatch(out.replaceAll(escapeCharacter, '^['), /\^\[\[[\d;]*m/, 'no colours');
      assert.ok(out.includes(goesOn), out);
      assert.equal(code, 130, out);
    });

    it('writes plain lines where the terminal has no size', async () => {
      const { code, out } = await drainWatched('stty cols 0 rows 0;', /tainted\r\n/);
      assert.ok(!out.includes(escapeCharacter), JSON.stringify(out));
      assert.match(out, /error: interrupted/);
      assert.equal(code, 130, out);
    });
  });
});

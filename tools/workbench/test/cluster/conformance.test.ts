// Black-box checks that a real kube-apiserver passes, asked of `npm run -s cluster` over HTTPS.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/cluster/main.ts', import.meta.url));
const checks = fileURLToPath(new URL('../testdata/cluster/custom-resources.mjs', import.meta.url));

function start(t: TestContext, ...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, args, { timeout: 600_000 });
  t.after(() => child.kill());
  return child;
}

/** What a process prints until it ends, or until `enough` is in it. */
function output(child: ChildProcess, enough: RegExp | null = null): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (enough?.test(text)) resolve(text);
    });
    child.once('close', () => resolve(text));
  });
}

it('definitions, custom resources, policies and published objects are as kube-apiserver 1.36 has them', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-conformance-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  const flags = ['--port', '0', '--token', 'T', '--kubeconfig', kubeconfig];
  const served = start(t, '-C', '@taintmgr/source', program, ...flags);
  const ready = await output(served, /^export KUBECONFIG=/m);
  const url = /^ready: (\S+)$/m.exec(ready)?.[1];
  assert.ok(url, ready);
  const found = await output(
    start(t, checks, '--server', url, '--token', 'T', '--insecure', '--strict-params'),
  );
  const failed = found.split('\n').filter((line) => !line.startsWith('pass '));
  assert.deepEqual(failed.slice(0, -1), ['84 passed, 0 failed'], failed.join('\n'));
});

// docs/takeover.md: its first section is typed line by line into a cluster of its own.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installPlugin, withoutKubectl } from '../../apps/kubectl-taintmgr/test/world/plugin.ts';
import { terminal } from '../../apps/kubectl-taintmgr/test/world/terminal.ts';
import { durations, playTranscript } from '../../apps/kubectl-taintmgr/test/world/transcript.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = new URL('../../docs/takeover.md', import.meta.url);

/** What is different each time; and who waits until a pod is gone is told nothing where it is. */
const steady = (text: string): string =>
  text
    .replace(/^pod\/web condition met\n/gm, '')
    .replace(/\b\S+_(<uid>|[-0-9a-f]{36})/g, 'LEADER')
    .replace(/taintmgr-proof-\w+/g, 'taintmgr-proof-1')
    .replace(durations, '1s')
    .replace(/ {2,}/g, '  ');

/** The lines of the page that begin with this, as a shell would read them. */
function commandOf(start: string): readonly string[] {
  const line = readFileSync(page, 'utf8')
    .split('\n')
    .find((one) => one.startsWith(start));
  assert.ok(line, `the page says nothing of ${start}`);
  const words: readonly string[] = line.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return words.slice(words.indexOf('--') + 1).map((word) => word.replaceAll("'", ''));
}

/** Starts a program of ours as its npm script does; resolves when it has said this. */
async function startProgram(
  t: TestContext,
  main: string,
  args: readonly string[],
  says: string,
): Promise<void> {
  const own = ['-C', '@taintmgr/source', join(root, main)];
  const child: ChildProcess = spawn(process.execPath, [...own, ...args], { env: process.env });
  t.after(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'close');
  });
  let text = '';
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      text += chunk;
      if (text.includes(says)) resolve();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('close', () => reject(new Error(`${main} ended: ${text}`)));
  });
}

describe('docs/takeover.md', { skip: withoutKubectl }, () => {
  it('goes from nothing to a spared pod', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-takeover-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const kubeconfig = join(directory, 'demo.kubeconfig');
    process.env.PATH = installPlugin(directory);
    process.env.HOME = directory;
    process.env.KUBECONFIG = kubeconfig;
    const flags = commandOf('npm run -s cluster -- --takeover');
    const given = flags.map((flag) => (flag === 'demo.kubeconfig' ? kubeconfig : flag));
    await startProgram(t, 'tools/workbench/src/cluster/main.ts', given, 'ready:');
    const play = terminal();
    const { code, err } = await play('kubectl taintmgr install crds');
    assert.equal(code, 0, err);
    const own = [...commandOf('npm run -s controller'), '--secure-port=0', '--healthz-port=0'];
    const says = 'the policies of takeover are in force';
    await startProgram(t, 'apps/controller/src/main.ts', own, says);
    await playTranscript(page, play, steady);
  });
});

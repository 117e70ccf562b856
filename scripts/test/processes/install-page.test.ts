// docs/install.md: typed line by line into the cluster that it tells to start.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  execute,
  installPlugin,
  withoutKubectl,
} from '../../../apps/kubectl-taintmgr/test/world/plugin.ts';
import { terminal } from '../../../apps/kubectl-taintmgr/test/world/terminal.ts';
import { durations, playTranscript } from '../../../apps/kubectl-taintmgr/test/world/transcript.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = new URL('../../../docs/install.md', import.meta.url);

/** What is different each time: pods, times, who leads in what version, and which pods were where. */
const steady = (text: string): string =>
  text
    .replace(/\b[\w.-]+_(<uid>|[-0-9a-f]{36})( \d\S+)?/g, 'LEADER')
    .replace(/taintmgr-proof-\w+/g, 'taintmgr-proof-1')
    .replace(/drain-\d{8}-\d{6}-\w{4}/g, 'drain-1')
    .replace(/\b(web|api|report|node-agent|metrics)-\w+(-\w{5})?\b/g, '$1-1')
    .replace(durations, '1s')
    .replace(/^.*rollout to finish.*\n/gm, '')
    .replace(/^(namespace shop): \d+ pods,/gm, '$1: 15 pods,')
    .replace(/[-─]{4,}/g, '--')
    .replace(/ {2,}/g, '  ')
    .replace(/(?:^(?:1s ago|pod\/).*\n?)+/gm, inOneOrder);

/** Pods that go at the same time go in any order. */
function inOneOrder(lines: string): string {
  return lines.trimEnd().split('\n').sort().concat('').join('\n');
}

/** The cluster of the page, as the page starts it; resolves when it serves. */
async function startCluster(t: TestContext, kubeconfig: string): Promise<void> {
  const [, line = ''] = /^ {4}npm run -s cluster -- (.*)$/m.exec(readFileSync(page, 'utf8')) ?? [];
  const flags = line.replace('demo.kubeconfig', kubeconfig).split(' ');
  const main = join(root, 'tools/workbench/src/cluster/main.ts');
  const child = spawn(process.execPath, ['-C', '@taintmgr/source', main, ...flags]);
  t.after(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'close');
  });
  let text = '';
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      text += chunk;
      if (text.includes('ready:')) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('close', () => reject(new Error(`it ended: ${text}`)));
  });
}

async function kubectl(line: string): Promise<string> {
  const { code, out, err } = await execute('sh', ['-c', `kubectl ${line}`]);
  assert.equal(code, 0, err);
  return out;
}

describe('docs/install.md', { skip: withoutKubectl }, () => {
  it('goes from an empty cluster to taintmgr evicting, and back', async (t: TestContext) => {
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-install-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const kubeconfig = join(directory, 'demo.kubeconfig');
    process.env.PATH = installPlugin(directory);
    process.env.HOME = directory;
    process.env.KUBECONFIG = kubeconfig;
    process.chdir(root);
    await startCluster(t, kubeconfig);
    await kubectl('wait --for=create namespace/shop --timeout=60s');
    for (const workload of ['statefulset/db', 'deployment/api', 'deployment/web']) {
      await kubectl(`-n shop wait --for=create ${workload} --timeout=60s`);
      await kubectl(`-n shop rollout status ${workload} --timeout=60s`);
    }
    await playTranscript(page, terminal(), steady);
  });
});

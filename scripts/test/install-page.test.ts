// docs/install.md: typed line by line into a cluster of its own. Kubelets there run no containers: what
// the Deployment says is run as a process, with its arguments, its environment and its account.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  execute,
  installPlugin,
  withoutKubectl,
} from '../../apps/kubectl-taintmgr/test/world/plugin.ts';
import { terminal } from '../../apps/kubectl-taintmgr/test/world/terminal.ts';
import { durations, playTranscript } from '../../apps/kubectl-taintmgr/test/world/transcript.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = new URL('../../docs/install.md', import.meta.url);
const deployment = '-n taintmgr-system get deployment taintmgr-controller';

/** What is different each time: pods, times, who leads, and which pods were where. */
const steady = (text: string): string =>
  text
    .replace(/\b\S+_(<uid>|[-0-9a-f]{36})/g, 'LEADER')
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

class Programs {
  readonly #running: ChildProcess[] = [];

  /** Starts a program of ours; resolves when it has said this. */
  async start(main: string, args: readonly string[], env: object, says: string): Promise<void> {
    const own = ['-C', '@taintmgr/source', join(root, main)];
    const child = spawn(process.execPath, [...own, ...args], { env: { ...process.env, ...env } });
    this.#running.push(child);
    let text = '';
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        text += chunk;
        if (text.includes(says)) resolve();
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('close', () => reject(new Error(`${main} ended: ${text}`)));
    });
  }

  /** Ends the one that was started last. */
  async endLast(): Promise<void> {
    const child = this.#running.pop();
    if (!child) return;
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'close');
  }

  async end(): Promise<void> {
    while (this.#running.length > 0) await this.endLast();
  }
}

async function kubectl(line: string): Promise<string> {
  const { code, out, err } = await execute('sh', ['-c', `kubectl ${line}`]);
  assert.equal(code, 0, err);
  return out;
}

/** The container of the Deployment as a process, in place of the one that ran before. */
async function runDeployment(programs: Programs, kubeconfig: string): Promise<void> {
  const own = `${kubeconfig}-of-pod`;
  copyFileSync(kubeconfig, own);
  const token = await kubectl('-n taintmgr-system create token taintmgr-controller');
  await kubectl(`config --kubeconfig ${own} set-credentials pod --token=${token}`);
  await kubectl(`config --kubeconfig ${own} set-context --current --user=pod`);
  const { spec } = JSON.parse(await kubectl(`${deployment} -o json`));
  const [{ args, env }] = spec.template.spec.containers;
  const variables = env.flatMap(({ name, value }: { name: string; value?: string }) =>
    value === undefined ? [] : [[name, value]],
  );
  const ports = ['--secure-port=0', '--healthz-port=0'];
  const main = 'apps/controller/src/main.ts';
  const given = [...args, ...ports, `--kubeconfig=${own}`];
  await programs.start(main, given, Object.fromEntries(variables), 'caches synced');
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
    const programs = new Programs();
    t.after(() => programs.end());
    const cluster = ['--takeover', '--port=0', `--kubeconfig=${kubeconfig}`];
    await programs.start('tools/workbench/src/cluster/main.ts', cluster, {}, 'ready:');
    await kubectl('wait --for=create namespace/shop --timeout=60s');
    for (const workload of ['statefulset/db', 'deployment/api', 'deployment/web']) {
      await kubectl(`-n shop wait --for=create ${workload} --timeout=60s`);
      await kubectl(`-n shop rollout status ${workload} --timeout=60s`);
    }
    const play = terminal();
    let hasController = false;
    await playTranscript(
      page,
      async (line) => {
        const result = await play(line);
        if (line.includes('rollout status')) {
          if (hasController) await programs.endLast();
          hasController = true;
          await runDeployment(programs, kubeconfig);
        }
        return result;
      },
      steady,
    );
  });
});

// docs/library.md: its programs are the files in docs/library, and print on each runtime what it shows.
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  ApiServer,
  createCertificate,
  startEmbedded,
  startHttps,
  writeKubeconfig,
} from '@taintmgr/api-server';
import type { NodeAnswer } from '@taintmgr/k8s-adapter/explain';
import { node, pod, RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { type Runtime, runtimes } from '../../packages/k8s-adapter/test/world/runtimes.ts';

const root = new URL('../../', import.meta.url);
const page = new URL('docs/library.md', root);
const programs = ['embed', 'plan-a-drain', 'explain', 'follow-a-cluster'] as const;
const example = /^```ts\n([\s\S]*?)^```\n([\s\S]*?)^```\n([\s\S]*?)^```$/gm;

/** The programs that a page shows, and what they print by its account. */
function examplesOf(file: URL): readonly { readonly code: string; readonly printed: string }[] {
  const found = readFileSync(file, 'utf8').matchAll(example);
  return Array.from(found, ([, code = '', , printed = '']) => ({ code, printed }));
}

const sourceOf = (name: string): URL => new URL(`docs/library/${name}.ts`, root);

it('the programs on the page are those of docs/library (rewrite it with REWRITE=1)', () => {
  const shown = readFileSync(page, 'utf8');
  const names: string[] = [...programs];
  const rewritten = shown.replace(
    example,
    (_, _code, between, printed) =>
      `\`\`\`ts\n${readFileSync(sourceOf(names.shift() ?? ''), 'utf8')}\`\`\`\n${between}\`\`\`\n${printed}\`\`\``,
  );
  if (process.env.REWRITE === '1') writeFileSync(page, rewritten);
  else assert.equal(shown, rewritten);
  assert.deepEqual(names, []);
});

for (const readme of ['README.md', 'packages/core/README.md']) {
  it(`${readme} shows the first program`, () => {
    assert.deepEqual(examplesOf(new URL(readme, root)).slice(0, 1), examplesOf(page).slice(0, 1));
  });
}

for (const runtime of runtimes) {
  describe(`on ${runtime.name}`, () => {
    for (const [index, name] of programs.entries()) {
      if (name === 'explain') continue;
      it(`${name} prints what the page shows`, { timeout: 180_000 }, async (t) => {
        const { printed = '' } = examplesOf(page)[index] ?? {};
        const play = name === 'follow-a-cluster' ? follow : run;
        const actual = await play(t, runtime, sourceOf(name), printed);
        assert.equal(withoutTimes(actual), withoutTimes(printed));
      });
    }
  });
}

describe('explain', { timeout: 180_000 }, () => {
  it('prints the same on each runtime: what the page shows, of what kubectl taintmgr says', async (t) => {
    const KUBECONFIG = await serve(t, drainedCluster());
    const printed: string[] = [];
    for (const runtime of runtimes) {
      const child = start(runtime, sourceOf('explain'), { KUBECONFIG });
      printed.push(await printedBy(child, () => false));
    }
    const [first = ''] = printed;
    assert.deepEqual(new Set(printed), new Set([first]));
    const shown = examplesOf(page)[programs.indexOf('explain')]?.printed ?? '';
    assert.equal(withoutTimes(first), withoutTimes(shown));
    const [node = assert.fail('no runtime')] = runtimes;
    const plugin = new URL('apps/kubectl-taintmgr/src/main.ts', root);
    const args = ['explain', 'node', 'node-1', '-o', 'json'];
    const answer: NodeAnswer = JSON.parse(
      await printedBy(start(node, plugin, { KUBECONFIG }, args), () => false),
    );
    const lines = answer.pods?.map(({ name, decision, deadline, because: [reason] }) => {
      return `default/${name}: ${decision}${deadline ? ` at ${deadline}` : ''}: ${reason?.text}`;
    });
    assert.deepEqual(
      first.split('\n').filter((line) => line.startsWith('default/')),
      lines,
    );
  });
});

it('follow-a-cluster ends where it cannot log in, and says why', { timeout: 60_000 }, async (t) => {
  const { url, ca, stop } = await startEmbedded();
  t.after(stop);
  const home = mkdtempSync(join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  const kubeconfig = join(home, 'config');
  writeKubeconfig(kubeconfig, { server: url, ca, token: 'expired' });
  const [{ binary, run: how } = assert.fail('no runtime')] = runtimes;
  const child = spawn(binary, [...how, fileURLToPath(sourceOf('follow-a-cluster'))], {
    cwd: root,
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  assert.deepEqual(await once(child, 'close'), [1, null]);
  const shown = readFileSync(page, 'utf8');
  for (const line of [
    'nodes: Unauthorized',
    'ApiError: Error from server (Unauthorized): Unauthorized',
  ]) {
    assert.ok(said.includes(line) && shown.includes(`\`${line}\``), said);
  }
});

/** A pod's time counts from when it came to its node, which is now. */
function withoutTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>');
}

async function run(_: TestContext, runtime: Runtime, program: URL): Promise<string> {
  return printedBy(start(runtime, program, {}), () => false);
}

/** A cluster with one tainted node; another node is tainted once the first is printed. */
async function follow(
  t: TestContext,
  runtime: Runtime,
  program: URL,
  printed: string,
): Promise<string> {
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1) });
  const spec = { taints: [{ key: 'maintenance', value: 'kernel', effect: 'NoExecute' }] };
  api.create('nodes', node('node-1', { spec }));
  api.create('nodes', node('node-2'));
  for (const [name, nodeName, tolerationSeconds] of [
    ['db-0', 'node-1', 300],
    ['db-1', 'node-2', 600],
  ] as const) {
    const tolerations = [
      { key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds },
    ];
    api.create('pods', pod('default', name, { spec: { nodeName, tolerations } }));
  }
  const kubeconfig = await serve(t, api);
  const child = start(runtime, program, { KUBECONFIG: kubeconfig });
  let isTainted = false;
  return printedBy(child, (text) => {
    if (text !== '' && !isTainted) {
      isTainted = true;
      api.update('nodes', node('node-2', { spec }));
    }
    return text.length >= printed.length;
  });
}

/** Serves the API over HTTPS; the kubeconfig for it. */
async function serve(t: TestContext, api: ApiServer): Promise<string> {
  const certificate = createCertificate(Date.now());
  const exchange: ApiServer['exchange'] = (request, sink) => api.exchange(request, sink);
  const server = await startHttps({ exchange, certificate });
  t.after(() => server.close());
  const home = mkdtempSync(join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  const kubeconfig = join(home, 'config');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'x' });
  return kubeconfig;
}

/** A tainted node with a pod that leaves and one that stays, and a kube-controller-manager that evicts. */
function drainedCluster(): ApiServer {
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1) });
  const timeAdded = `${new Date().toISOString().slice(0, 19)}Z`;
  const taints = [{ key: 'maintenance', value: 'kernel', effect: 'NoExecute', timeAdded }];
  api.create('nodes', node('node-1', { spec: { taints } }));
  for (const [name, tolerationSeconds] of [
    ['db-0', 300],
    ['agent', null],
  ] as const) {
    const forever = { key: 'maintenance', operator: 'Exists', effect: 'NoExecute' };
    const toleration = tolerationSeconds === null ? forever : { ...forever, tolerationSeconds };
    const spec = { nodeName: 'node-1', tolerations: [toleration] };
    api.create('pods', pod('default', name, { spec }));
  }
  const command = ['kube-controller-manager', '--controllers=*'];
  const image = 'registry.k8s.io/kube-controller-manager:v1.36.2';
  const containers = [{ name: 'kube-controller-manager', image, command }];
  const labels = { component: 'kube-controller-manager' };
  api.create(
    'pods',
    pod('kube-system', 'kube-controller-manager', { labels, spec: { containers } }),
  );
  return api;
}

type Child = ChildProcessByStdio<null, Readable, null>;

function start(
  { binary, run }: Runtime,
  program: URL,
  env: Record<string, string>,
  args: readonly string[] = [],
): Child {
  return spawn(binary, [...run, fileURLToPath(program), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** What it prints until it ends; it is interrupted, as by Ctrl-C, when that is enough. */
async function printedBy(child: Child, isEnough: (text: string) => boolean): Promise<string> {
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (isEnough(text)) child.kill('SIGINT');
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  return text;
}

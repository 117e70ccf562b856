// docs/library.md: its programs are the files in docs/library, and print on each runtime what it shows.
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  ApiServer,
  createCertificate,
  type EmbeddedCluster,
  startEmbedded,
  startHttps,
  topologies,
  writeKubeconfig,
} from '@taintmgr/api-server';
import type { NodeAnswer } from '@taintmgr/k8s-adapter/explain';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { node, pod, RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { parse } from 'yaml';
import { type Runtime, runtimes } from '../../packages/k8s-adapter/test/world/runtimes.ts';

const root = new URL('../../', import.meta.url);
const page = new URL('docs/library.md', root);
const programs = ['client-node', 'embed', 'explain', 'follow-a-cluster', 'plan-a-drain'] as const;
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

for (const runtime of runtimes) {
  describe(`on ${runtime.name}`, () => {
    for (const [index, name] of programs.entries()) {
      if (name === 'explain') continue;
      it(`${name} prints what the page shows`, { timeout: 180_000 }, async (t) => {
        const { printed = '' } = examplesOf(page)[index] ?? {};
        const play = plays[name] ?? run;
        const actual = await play(t, runtime, sourceOf(name), printed);
        assert.equal(withoutTimes(actual), withoutTimes(printed));
      });
    }
  });
}

describe('explain', { timeout: 180_000 }, () => {
  let shop: EmbeddedCluster;
  const home = mkdtempSync(join(tmpdir(), 'taintmgr-'));
  before(async () => {
    shop = await startShop();
  });
  after(async () => {
    await shop.stop();
    rmSync(home, { recursive: true });
  });

  /** The program's output with the rights of a user; the same on each runtime. */
  async function told(user: string, ...args: readonly string[]): Promise<string> {
    const printed: string[] = [];
    for (const runtime of runtimes) {
      const child = start(runtime, sourceOf('explain'), { KUBECONFIG: kubeconfigOf(user) }, args);
      printed.push(await printedBy(child, () => false));
    }
    const [first = ''] = printed;
    assert.deepEqual(new Set(printed), new Set([first]));
    return first;
  }

  function kubeconfigOf(token: string): string {
    const file = join(home, token);
    writeKubeconfig(file, { server: shop.url, ca: shop.ca, token });
    return file;
  }

  /** The lines about pods as the plugin's answer has them. */
  async function byPlugin(user: string, ...args: readonly string[]): Promise<readonly string[]> {
    const [node = assert.fail('no runtime')] = runtimes;
    const main = new URL('apps/kubectl-taintmgr/src/main.ts', root);
    const asked = ['explain', ...args, '-o', 'json'];
    const child = start(node, main, { KUBECONFIG: kubeconfigOf(user) }, asked);
    const answer: Pick<NodeAnswer, 'pods'> = JSON.parse(await printedBy(child, () => false));
    return (answer.pods ?? []).map(({ name, node, decision, deadline, because: [reason] }) => {
      return `${name} on ${node}: ${decision}${deadline ? ` at ${deadline}` : ''}: ${reason?.text}`;
    });
  }

  const podLines = (text: string): readonly string[] =>
    text.split('\n').filter((line) => line.includes(' on node-'));

  it('tells an administrator of a workload what the page shows, as the plugin does', async () => {
    const text = await told('admin');
    const shown = examplesOf(page)[programs.indexOf('explain')]?.printed ?? '';
    assert.equal(withoutTimes(text), withoutTimes(shown));
    assert.deepEqual(podLines(text), await byPlugin('admin', 'statefulset', 'db'));
  });

  it('tells an administrator of a node what the plugin does', async () => {
    const lines = podLines(await told('admin', 'node-1'));
    assert.deepEqual(lines, await byPlugin('admin', 'node', 'node-1'));
    assert.equal(lines.length, 2);
  });

  for (const [missing, elsewhere, args] of [
    ['statefulsets.apps "db"', 'kube-system', []],
    ['nodes "nope"', 'default', ['nope']],
  ] as const) {
    it(`ends without a stack trace where there is no ${missing}`, async () => {
      const file = kubeconfigOf('admin');
      const config = parse(readFileSync(file, 'utf8'));
      config.contexts[0].context.namespace = elsewhere;
      writeFileSync(file, JSON.stringify(config));
      for (const { binary, run: how } of runtimes) {
        const child = spawn(binary, [...how, fileURLToPath(sourceOf('explain')), ...args], {
          cwd: root,
          env: { ...process.env, KUBECONFIG: file },
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        let said = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          said += text;
        });
        assert.deepEqual(await once(child, 'close'), [1, null]);
        assert.equal(said, `Error from server (NotFound): ${missing} not found\n`);
      }
    });
  }

  it('tells a user of the namespace who may read nodes what an administrator is told', async () => {
    const lines = podLines(await told('oncall'));
    assert.deepEqual(lines, podLines(await told('admin')));
    assert.deepEqual(lines, await byPlugin('oncall', 'statefulset', 'db'));
  });

  it('tells a user of the namespace who may not which right is missing', async () => {
    const lines = podLines(await told('developer'));
    const why = 'Unknown: unknown: no permission to read node';
    const known = 'so its taints are not known';
    assert.deepEqual(lines, [
      `db-0 on node-1: ${why} node-1, ${known}`,
      `db-1 on node-2: ${why} node-2, ${known}`,
    ]);
    assert.deepEqual(lines, await byPlugin('developer', 'statefulset', 'db'));
  });
});

describe('where the server cannot be reached', { timeout: 120_000 }, () => {
  for (const [name, words] of [
    ['client-node', /^cannot read the cluster: .+\n$/],
    [
      'explain',
      /^request to https:\/\/127\.0\.0\.1:2 failed: .+; check that the API server runs .+\n$/,
    ],
    ['follow-a-cluster', /^request to the API server failed: .+; check that the API server runs /m],
  ] as const) {
    it(`${name} says so, and ends without a stack trace`, async (t) => {
      const home = mkdtempSync(join(tmpdir(), 'taintmgr-'));
      t.after(() => rmSync(home, { recursive: true }));
      const kubeconfig = join(home, 'config');
      const { ca } = createCertificate(Date.now());
      writeKubeconfig(kubeconfig, { server: 'https://127.0.0.1:2', ca, token: 'x' });
      for (const { binary, run: how, name: runtime } of runtimes) {
        const child = spawn(binary, [...how, fileURLToPath(sourceOf(name))], {
          cwd: root,
          env: { ...process.env, KUBECONFIG: kubeconfig },
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        let said = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          said += text;
        });
        assert.deepEqual(await once(child, 'close'), [1, null], `${runtime}: ${said}`);
        assert.match(said, words, runtime);
        assert.doesNotMatch(said, /^ +at /m, runtime);
      }
    });
  }
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
  for (const line of ['nodes: Unauthorized', 'Error from server (Unauthorized): Unauthorized']) {
    assert.ok(said.includes(line) && shown.includes(`\`${line}\``), said);
  }
});

/** A pod's time counts from when it came to its node, which is now. */
function withoutTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>');
}

type Play = (t: TestContext, runtime: Runtime, program: URL, printed: string) => Promise<string>;

const plays: Partial<Record<string, Play>> = { 'client-node': look, 'follow-a-cluster': follow };

async function run(_: TestContext, runtime: Runtime, program: URL): Promise<string> {
  return printedBy(start(runtime, program, {}), () => false);
}

const maintained = { taints: [{ key: 'maintenance', value: 'kernel', effect: 'NoExecute' }] };

/** With the certificate where client-node needs it on Bun. */
async function look(t: TestContext, runtime: Runtime, program: URL): Promise<string> {
  const { kubeconfig, ca } = await serve(t, tainted());
  const certificates = join(dirname(kubeconfig), 'ca.crt');
  writeFileSync(certificates, ca);
  const env = { KUBECONFIG: kubeconfig, NODE_EXTRA_CA_CERTS: certificates };
  return printedBy(start(runtime, program, env), () => false);
}

/** Another node is tainted once the pods of the first are printed. */
async function follow(
  t: TestContext,
  runtime: Runtime,
  program: URL,
  printed: string,
): Promise<string> {
  const api = tainted();
  const { kubeconfig } = await serve(t, api);
  const child = start(runtime, program, { KUBECONFIG: kubeconfig });
  let isTainted = false;
  return printedBy(child, (text) => {
    if (text !== '' && !isTainted) {
      isTainted = true;
      api.update('nodes', node('node-2', { spec: maintained }));
    }
    return text.length >= printed.length;
  });
}

/** A cluster with one tainted node, and another node. */
function tainted(): ApiServer {
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(1) });
  api.create('nodes', node('node-1', { spec: maintained }));
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
  return api;
}

/** Serves the API over HTTPS; the kubeconfig for it, and its certificate. */
async function serve(
  t: TestContext,
  api: ApiServer,
): Promise<{ readonly kubeconfig: string; readonly ca: string }> {
  const certificate = createCertificate(Date.now());
  const exchange: ApiServer['exchange'] = (request, sink) => api.exchange(request, sink);
  const server = await startHttps({ exchange, certificate });
  t.after(() => server.close());
  const home = mkdtempSync(join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  const kubeconfig = join(home, 'config');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'x' });
  return { kubeconfig, ca: certificate.ca };
}

/**
 * A workload with a pod on a tainted node and one on another, an agent that stays, a kube-controller-manager that
 * evicts, and users of the namespace: `developer` with `view` and taintmgr-viewer, `oncall` who reads nodes and leases too.
 */
async function startShop(): Promise<EmbeddedCluster> {
  const names = ['developer', 'oncall'];
  const embedded = await startEmbedded({
    ...topologies.empty,
    token: 'admin',
    users: new Map(names.map((name) => [name, { name, groups: [], rules: [] }])),
    definitions: customResourceDefinitions(),
  });
  const { api } = embedded.cluster;
  const timeAdded = `${new Date().toISOString().slice(0, 19)}Z`;
  const taints = [{ key: 'maintenance', value: 'kernel', effect: 'NoExecute', timeAdded }];
  api.create('nodes', node('node-1', { spec: { taints } }));
  api.create('nodes', node('node-2'));
  const labels = { app: 'db' };
  const { metadata } = api.create('statefulsets', {
    metadata: { namespace: 'default', name: 'db' },
    spec: {
      ...{ replicas: 2, serviceName: 'db', selector: { matchLabels: labels } },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'db', image: 'registry.example/db' }] },
      },
    },
  });
  const { name, uid = '' } = metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true };
  const stays = { key: 'maintenance', operator: 'Exists', effect: 'NoExecute' };
  for (const [name, nodeName, toleration] of [
    ['db-0', 'node-1', { ...stays, tolerationSeconds: 300 }],
    ['db-1', 'node-2', { ...stays, tolerationSeconds: 300 }],
    ['agent', 'node-1', stays],
  ] as const) {
    const made = pod('default', name, { spec: { nodeName, tolerations: [toleration] } });
    const owned = name === 'agent' ? {} : { labels, ownerReferences: [owner] };
    api.create('pods', { ...made, metadata: { ...made.metadata, ...owned } });
  }
  const command = ['kube-controller-manager', '--controllers=*'];
  const image = 'registry.k8s.io/kube-controller-manager:v1.36.2';
  const containers = [{ name: 'kube-controller-manager', image, command }];
  const component = { labels: { component: 'kube-controller-manager' }, spec: { containers } };
  api.create('pods', pod('kube-system', 'kube-controller-manager', component));
  const read = ['get', 'list', 'watch'];
  const viewer = new URL('deploy/kustomize/base/viewer.yaml', root);
  api.create('clusterroles', parse(readFileSync(viewer, 'utf8')));
  api.create('clusterroles', {
    metadata: { name: 'taintmgr-asker' },
    rules: [
      { verbs: read, apiGroups: [''], resources: ['nodes'] },
      { verbs: read, apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
    ],
  });
  for (const [role, users, namespace] of [
    ['view', names, 'default'],
    ['taintmgr-viewer', names],
    ['taintmgr-asker', ['oncall']],
  ] as const) {
    api.create(namespace ? 'rolebindings' : 'clusterrolebindings', {
      metadata: { name: role, ...(namespace && { namespace }) },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: users.map((name) => ({ kind: 'User', name })),
    });
  }
  return embedded;
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

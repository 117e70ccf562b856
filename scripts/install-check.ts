// Installs what a release has made, as people would, and uses it: npm, npx, bunx and deno by name, from a registry
// of these packages alone, into empty folders; with the real kubectl, against a simulated cluster; and all
// parts on a machine with nothing but Node. Prints what it looked at, with sizes and times; exits 1 at the
// first thing that is not as it should be.
//
//   npm run release -- --dry-run --programs none && npm run install:check
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { list } from 'tar';
import { startEmbedded, topologies } from '../packages/api-server/src/index.ts';
import { tryOnBareMachine } from './install/bare-machine.ts';

interface Registry {
  /** `http://127.0.0.1:PORT/` */
  readonly url: string;
  /** The size of all tarballs that were asked for. */
  servedBytes(): number;
  stop(): Promise<void>;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** A registry of the packages in `folder`, and of all that `upstream` has, if one is given. */
async function startRegistry(folder: string, upstream?: string): Promise<Registry> {
  const files = readdirSync(folder).filter((file) => /^taintmgr-.+-\d.*\.tgz$/.test(file));
  const packages = new Map<string, { readonly file: string; readonly manifest: Manifest }>();
  for (const file of files) {
    const manifest = await manifestOf(join(folder, file));
    packages.set(manifest.name, { file, manifest });
  }
  let servedBytes = 0;
  const server = createServer(async (request, response) => {
    const host = `http://${request.headers.host}`;
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    const found = packages.get(path);
    const content = files.includes(path)
      ? readFileSync(join(folder, path))
      : found
        ? Buffer.from(JSON.stringify(packumentOf(folder, found, host)))
        : upstream && (await contentFrom(upstream, request, host));
    if (!content) response.statusCode = 404;
    if (content && path.endsWith('.tgz')) servedBytes += content.length;
    response.end(content || JSON.stringify({ error: 'not found' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    servedBytes: () => servedBytes,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The answer of another registry, with the address of this one in its documents. */
async function contentFrom(
  upstream: string,
  { url = '', headers }: IncomingMessage,
  host: string,
): Promise<Buffer | undefined> {
  const accept = headers.accept ?? '*/*';
  const answer = await fetch(new URL(url, upstream), { headers: { accept } });
  if (!answer.ok) return undefined;
  if (url.endsWith('.tgz')) return Buffer.from(await answer.arrayBuffer());
  return Buffer.from((await answer.text()).replaceAll(upstream, `${host}/`));
}

async function manifestOf(tarball: string): Promise<Manifest> {
  let text = '';
  await list({
    file: tarball,
    filter: (path) => path === 'package/package.json',
    onReadEntry: (entry) => {
      entry.on('data', (chunk) => {
        text += chunk;
      });
    },
  });
  return JSON.parse(text);
}

/** The registry's document about a package: its versions, and the place of each. */
function packumentOf(
  folder: string,
  { file, manifest }: { readonly file: string; readonly manifest: Manifest },
  host: string,
): object {
  const { name, version } = manifest;
  const content = readFileSync(join(folder, file));
  const dist = {
    tarball: `${host}/${file}`,
    shasum: createHash('sha1').update(content).digest('hex'),
    integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
  };
  const versions = { [version]: { ...manifest, dist } };
  return { name, 'dist-tags': { latest: version }, versions };
}

// Records the built-in modules of Node that a program loads, including those that it did not ask
// for.
const watching = `
process.on('exit', () => {
  require('node:fs').writeFileSync(__filename + '.json', JSON.stringify(process.moduleLoadList));
});
`;

/**
 * The web modules of Node that a program loads. They take 14 MB and come with an `import` of Node's
 * HTTP module, used or not.
 */
async function webModules(folder: string, run: Run): Promise<readonly string[]> {
  // A file is left in the folder.
  const hook = join(folder, 'watching.cjs');
  writeFileSync(hook, watching);
  await run('--require', hook);
  const loaded: readonly string[] = JSON.parse(readFileSync(`${hook}.json`, 'utf8'));
  return loaded.filter((name) => name.includes('undici'));
}

type Run = (...hook: readonly string[]) => Promise<unknown>;

import manifest from '../packages/core/package.json' with { type: 'json' };

// An npm registry on the loopback interface, of the tarballs in a folder and nothing else: what npx, bunx and
// deno look for by name, as they look for it on the day after a release.

const root = fileURLToPath(new URL('..', import.meta.url));
const release = join(root, 'release');
const tool = (name: string): string => join(root, 'tools/runtimes/node_modules/.bin', name);
/** Debian's, which has Debian's packages. */
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const plugin = '@taintmgr/kubectl-taintmgr';
const controller = '@taintmgr/controller';

const timeLimitMs = 240_000;
const home = mkdtempSync(join(tmpdir(), 'taintmgr-install-'));
if (!existsSync(release)) {
  process.stderr.write('error: there is no release; npm run release -- --dry-run makes one\n');
  process.exit(1);
}
const registry = await startRegistry(release);
const cluster = await startEmbedded({ ...topologies['three-zones'] });
try {
  await checkNpm(registry);
  await checkByName('npx', ['npx', '--yes']);
  await checkByName('bunx', [tool('bun'), 'x', '--bun']);
  await checkByName('deno run', [tool('deno'), 'run', '--quiet', '-A'], 'npm:');
  await checkLibrary();
  await checkExamples();
  await checkNodes();
  await checkBareMachine();
} finally {
  await cluster.stop();
  await registry.stop();
  rmSync(home, { recursive: true, force: true });
}

/** One package each, with nothing else that comes along, and kubectl finds the plugin. */
async function checkNpm({ url }: Registry): Promise<void> {
  const folder = emptyFolder('npm');
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const added = await run(folder, 'npm', 'install', '--no-audit', '--no-fund', plugin, controller);
  assert.match(added, /^added 2 packages in /m, `from ${url}: ${added}`);
  const bin = join(folder, 'node_modules/.bin');
  const explained = await run(folder, 'kubectl', 'taintmgr', 'explain', 'node', 'zone-a-1', {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  });
  assert.match(explained, /^Name: +zone-a-1\n/);
  say('npm install: two packages without dependencies; kubectl taintmgr explains a node');
  const main = join(folder, 'node_modules', plugin, 'bin/kubectl-taintmgr');
  const twoNodes = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'Topology' };
  const nodes = [{ zone: 'a', count: 2 }];
  writeFileSync(join(folder, 'two.yaml'), JSON.stringify({ ...twoNodes, nodes, workloads: [] }));
  const each = ['simulate', '-f=two.yaml', '--each=node', '--until=48h', '-o=name'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...each], {
    cwd: folder,
    env: environment(),
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^node\/a-/);
  assert.doesNotMatch(stderr, /thread/);
  say('kubectl taintmgr simulate --each: plays in threads');
  const program = join(bin, 'taintmgr-controller');
  await checkController('npm', folder, [program]);
  const web = await webModules(folder, (...hook) =>
    checkController('node', folder, [process.execPath, ...hook, program]),
  );
  assert.deepEqual(web, [], 'apps/controller/tsup.config.ts lets whole modules of Node in');
  say('the controller: loads nothing that Node has for the web');
}

/** `npx @taintmgr/kubectl-taintmgr explain node`, and the controller likewise. */
async function checkByName(
  name: string,
  command: readonly [string, ...string[]],
  prefix = '',
): Promise<void> {
  const folder = emptyFolder(name.replace(' ', '-'));
  const [program, ...first] = command;
  const args = ['explain', 'node', 'zone-a-1'];
  const explained = await run(folder, program, ...first, `${prefix}${plugin}`, ...args);
  assert.match(explained, /^Name: +zone-a-1\n/);
  say(`${name} ${prefix}${plugin} explain node: answers`);
  await checkController(name, folder, [...command, `${prefix}${controller}`]);
}

/** Shadow mode, which changes nothing: it reads the cluster, and ends in order. */
async function checkController(
  name: string,
  cwd: string,
  [program = '', ...first]: readonly string[],
): Promise<void> {
  const flags = [`--kubeconfig=${cluster.kubeconfig}`, '--dry-run=client', '--secure-port=0'];
  const more = ['--healthz-port=0', '--leader-elect=false', '--logging-format=json'];
  const child = spawn(program, [...first, ...flags, ...more], {
    cwd,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    // A separate process group, which gets Ctrl-C as from a terminal: npx passes no signal on.
    detached: true,
  });
  // The whole group: the controller that npx has started would hold the pipe for ever.
  const limit = setTimeout(() => {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  }, timeLimitMs);
  const ended = once(child, 'close');
  const messages = await messagesUntil(
    child,
    'caches synced, the dry run starts: nothing is evicted',
  );
  await ended;
  clearTimeout(limit);
  assert.equal(messages.at(-1), 'stopped', messages.join('\n'));
  say(`${name}: the controller reads the cluster, and ends at Ctrl-C`);
}

async function messagesUntil(child: ChildProcess, last: string): Promise<readonly string[]> {
  const messages: string[] = [];
  for await (const line of createInterface({ input: child.stderr ?? assert.fail() })) {
    const message = line.startsWith('{') ? JSON.parse(line).msg : line;
    messages.push(message);
    if (message === last && child.pid) process.kill(-child.pid, 'SIGINT');
  }
  return messages;
}

/** The example of the README, with the types that others get, and run. */
async function checkLibrary(): Promise<void> {
  const folder = emptyFolder('library');
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run(folder, 'npm', 'install', '--no-audit', '--no-fund', '@taintmgr/core');
  cpSync(join(root, 'docs/library/embed.ts'), join(folder, 'embed.ts'));
  const strict = [
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    '',
    '--noEmit',
  ];
  await run(folder, join(root, 'node_modules/.bin/tsc'), ...strict, 'embed.ts');
  assert.match(await run(folder, process.execPath, 'embed.ts'), /^at 6000: deletePod$/m);
  say('@taintmgr/core: its example compiles with its types, and runs');
}

/** Clients in other languages, if this machine has their tools. */
async function checkExamples(): Promise<void> {
  const examples = [
    { name: 'go', has: ['go', 'version'], test: ['go', 'test', './...'] },
    {
      name: 'python',
      has: [python, '-c', 'import kubernetes'],
      test: [python, '-m', 'unittest', 'test_eviction.py'],
    },
  ] as const;
  for (const { name, has, test } of examples) {
    const [program, ...args] = has;
    if (spawnSync(program, args, { stdio: 'ignore' }).status !== 0) {
      say(`examples/test-server/${name}: not run, this machine has no ${has.join(' ')}`);
      continue;
    }
    const server = join(root, 'packages/api-server/bin/api-server.js');
    const flags = ['--topology', 'three-zones', '--', ...test];
    await run(join(root, 'examples/test-server', name), process.execPath, server, ...flags);
    say(`examples/test-server/${name}: passes`);
  }
}

/** Dependencies of libraries come from where npm has them. */
/** The programs and the example of the core on the other Nodes of docs/versions.md, and on one that is too old. */
async function checkNodes(): Promise<void> {
  const bin = join(home, 'npm/node_modules/.bin');
  for (const version of ['22.18.0', '22.19.0', '26']) {
    const folder = emptyFolder(`node-${version}`);
    writeFileSync(join(folder, 'package.json'), '{ "allowScripts": { "node": true } }\n');
    // From the registry of this machine, with its settings.
    const install = ['install', '--no-audit', '--no-fund', `node@${version}`];
    execFileSync('npm', install, { cwd: folder, stdio: 'pipe' });
    const node = join(folder, 'node_modules/.bin/node');
    const explain = [join(bin, 'kubectl-taintmgr'), 'explain', 'node', 'zone-a-1'];
    if (version === '22.18.0') {
      const { status, stderr } = spawnSync(node, explain, { encoding: 'utf8' });
      assert.equal(status, 1);
      assert.match(
        stderr,
        /^error: kubectl-taintmgr needs Node 22\.19 or newer, and this is v22\.18/,
      );
      say('Node 22.18: refused');
      continue;
    }
    assert.match(await run(folder, node, ...explain), /^Name: +zone-a-1\n/);
    await checkController(`Node ${version}`, folder, [node, join(bin, 'taintmgr-controller')]);
    assert.match(await run(join(home, 'library'), node, 'embed.ts'), /^at 6000: deletePod$/m);
    say(`Node ${version}: kubectl taintmgr explains a node, and the example of the core runs`);
  }
}

async function checkBareMachine(): Promise<void> {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const all = await startRegistry(release, upstream);
  const { version } = manifest;
  const outside = { release, version, registry: all, kubeconfig: cluster.kubeconfig };
  try {
    say(await tryOnBareMachine(emptyFolder('machine'), outside));
  } finally {
    await all.stop();
  }
}

function emptyFolder(name: string): string {
  const folder = join(home, name);
  mkdirSync(folder);
  return folder;
}

/** A separate home folder, so that nothing comes from a cache. */
function environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return {
    PATH,
    HOME: home,
    TMPDIR: home,
    KUBECONFIG: cluster.kubeconfig,
    npm_config_registry: registry.url,
    NPM_CONFIG_REGISTRY: registry.url,
    BUN_CONFIG_REGISTRY: registry.url,
    DENO_DIR: join(home, 'deno-cache'),
    npm_config_cache: join(home, 'npm-cache'),
    npm_config_update_notifier: 'false',
    ...more,
  };
}

/** Runs a program to its end, and returns its output; a record at the end is environment. */
async function run(
  cwd: string,
  program: string,
  ...rest: readonly (string | Readonly<Record<string, string>>)[]
): Promise<string> {
  const args = rest.filter((one) => typeof one === 'string');
  const more = rest.find((one) => typeof one === 'object');
  const child = spawn(program, args, {
    cwd,
    env: environment(more),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeLimitMs,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0, `${program} ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

function say(text: string): void {
  process.stdout.write(`install: ${text}\n`);
}

// How long the kubectl plugin takes to start and to answer about a node of 500 pods, beside kubectl
// itself, over HTTPS: as the npm package has it, as krew has it, and as it runs in a clone.
// npm run bench -- explain; alone it takes --pods 500 --rounds 15
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { nodeObjects, podObject } from './cluster-objects.ts';
import { printTable } from './measure.ts';
import { createApi, type ServedApi, serveApi } from './served-api.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const app = join(root, 'apps/kubectl-taintmgr');
const plugin = 'kubectl-taintmgr';

/** What is timed: the commands of kubectl, and of the plugin in each of its forms. */
const kubectlLines: readonly string[] = [
  'version --client',
  'get node NODE',
  'get pods -A --field-selector=spec.nodeName=NODE',
];
const pluginLines: readonly string[] = [
  'version --client',
  '__complete explain node ip-',
  'explain node NODE',
  'explain node NODE --compare',
];

type Run = (line: string) => Promise<void>;

async function compare(pods: number, rounds: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-bench-'));
  const server = await serve(pods);
  try {
    const env = { PATH: process.env.PATH, HOME: directory, KUBECONFIG: server.kubeconfig };
    const runner = (command: string, ...first: readonly string[]): Run => {
      return async (line) => {
        const args = [...first, ...line.replaceAll('NODE', server.node).split(' ')];
        await promisify(execFile)(command, args, { env, maxBuffer: 1e8 });
      };
    };
    const bare = await median(rounds, () => runner(process.execPath)('-e 0'));
    process.stdout.write(
      `explain: a node of ${pods} pods, milliseconds from start to end, the median of ${rounds}; ` +
        `Node alone takes ${bare}\n`,
    );
    const kubectl = await times(kubectlLines, rounds, runner('kubectl'));
    printTable(['', 'kubectl'], rowsOf(kubectlLines, [kubectl]));
    const forms = [
      runner(process.execPath, npmPackage(directory)),
      runner(program(directory)),
      runner(process.execPath, '-C', '@taintmgr/source', join(root, 'scripts/run.mjs'), plugin),
    ];
    const columns: (readonly number[])[] = [];
    for (const form of forms) columns.push(await times(pluginLines, rounds, form));
    printTable(['', 'npm package', 'one program', 'clone'], rowsOf(pluginLines, columns));
  } finally {
    await server.close();
    rmSync(directory, { recursive: true });
  }
}

interface Served extends ServedApi {
  readonly node: string;
}

/** A cluster of some nodes, with all pods on one of them. */
async function serve(pods: number): Promise<Served> {
  const api = createApi();
  const taints = [{ key: 'maintenance', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }];
  const nodes = nodeObjects(pods).map((node) => ({ ...(node as KubeObject), spec: { taints } }));
  const node = nodes[0]?.metadata.name ?? '';
  api.load([...nodes, ...Array.from({ length: pods }, (_, at) => podOn(node, at))]);
  return { ...(await serveApi(api)), node };
}

function podOn(nodeName: string, index: number): object {
  const pod = podObject(index) as KubeObject;
  return { ...pod, spec: { ...pod.spec, nodeName } };
}

/** What npm would install, without any node_modules. */
function npmPackage(directory: string): string {
  const folder = join(directory, 'package');
  mkdirSync(join(folder, 'bin'), { recursive: true });
  run('npm', ['run', '-s', 'build']);
  run('cp', ['-r', 'dist', 'package.json', folder]);
  run('cp', [`bin/${plugin}`, join(folder, 'bin')]);
  return join(folder, 'bin', plugin);
}

function program(directory: string): string {
  const file = join(directory, plugin);
  run(process.execPath, [join(root, 'scripts/make-program.mjs'), 'src/main.ts', file]);
  return file;
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { cwd: app, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

async function times(lines: readonly string[], rounds: number, form: Run): Promise<number[]> {
  const all: number[] = [];
  for (const line of lines) all.push(await median(rounds, () => form(line)));
  return all;
}

/** Milliseconds; the first time, which may fill caches, does not count. */
async function median(rounds: number, work: () => Promise<void>): Promise<number> {
  await work();
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work();
    taken.push(performance.now() - start);
  }
  return Math.round(taken.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN);
}

function rowsOf(
  lines: readonly string[],
  columns: readonly (readonly number[])[],
): readonly (readonly string[])[] {
  return lines.map((line, index) => [line, ...columns.map((column) => String(column[index]))]);
}

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '15' },
  },
});
await compare(Number(values.pods), Number(values.rounds));

// How long the kubectl plugin takes to start and to answer about a node of 500 pods, with policies and
// the published status of a controller, beside kubectl itself, over HTTPS: as the npm package has it, as
// krew has it, and as it runs in a clone. In parentheses the time of the processor in user mode.
// npm run bench -- explain; alone it takes --pods 500 --rounds 15 --package-only
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { customResourceDefinitions } from '@taintmgr/core/policy';
import { installDefinitions, type KubeObject } from '@taintmgr/sim-cluster';
import { nodeObjects, podObject } from './cluster-objects.ts';
import { printTable } from './measure.ts';
import { quietCluster, type ServedApi, serveApi } from './served-api.ts';

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

/** Answers with the milliseconds of the processor. */
type Run = (line: string) => Promise<number>;

async function compare(pods: number, rounds: number, isPackageOnly: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-bench-'));
  const server = await serve(pods);
  try {
    const env = { PATH: process.env.PATH, HOME: directory, KUBECONFIG: server.kubeconfig };
    const runner = (command: string, ...first: readonly string[]): Run => {
      return async (line) => {
        const args = [...first, ...line.replaceAll('NODE', server.node).split(' ')];
        const timed = ['-c', 'TIMEFORMAT=%U; time "$@" > /dev/null', 'bash', command, ...args];
        const { stderr } = await promisify(execFile)('bash', timed, { env, maxBuffer: 1e8 });
        return Number(stderr.trim().split('\n').at(-1)) * 1000;
      };
    };
    const bare = await median(rounds, () => runner(process.execPath)('-e 0'));
    process.stdout.write(
      `explain: a node of ${pods} pods, milliseconds from start to end, the median of ${rounds}; ` +
        `Node alone takes ${bare}\n`,
    );
    const kubectl = await times(kubectlLines, rounds, runner('kubectl'));
    printTable(['', 'kubectl'], rowsOf(kubectlLines, [kubectl]));
    const asPackage = runner(process.execPath, npmPackage(directory));
    if (isPackageOnly) {
      const column = await times(pluginLines, rounds, asPackage);
      printTable(['', 'npm package'], rowsOf(pluginLines, [column]));
      return;
    }
    const forms = [
      asPackage,
      runner(program(directory)),
      runner(process.execPath, '-C', '@taintmgr/source', join(root, 'scripts/run.mjs'), plugin),
    ];
    const columns: (readonly string[])[] = [];
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
  const cluster = quietCluster();
  const { api } = cluster;
  const taints = [{ key: 'maintenance', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' }];
  const nodes = nodeObjects(pods).map((node) => ({ ...(node as KubeObject), spec: { taints } }));
  const node = nodes[0]?.metadata.name ?? '';
  api.load([...nodes, ...Array.from({ length: pods }, (_, at) => podOn(node, at))]);
  // Its timers keep no process alive; a server does.
  const served = await serveApi(cluster);
  await installDefinitions(api, customResourceDefinitions());
  for (const [resource, object] of controllerObjects()) api.create(resource, object);
  const close = async (): Promise<void> => {
    cluster.stop();
    await served.close();
  };
  return { ...served, node, close };
}

const holder = 'taintmgr-controller-0_1';
const policyCount = 20;

/** A controller that leads, what it publishes, and policies that it follows. */
function controllerObjects(): readonly (readonly [resource: string, object: KubeObject])[] {
  const apiVersion = 'taintmgr.dev/v1alpha1';
  const now = new Date().toISOString().replace('Z', '000Z');
  const lease = { holderIdentity: holder, leaseDurationSeconds: 3600, renewTime: now };
  const settings = { mode: 'evictThenDelete', 'delete-after': '10m', semantics: 'precise' };
  const controllers = ['taint-eviction-controller', 'node-lifecycle-controller'];
  // The bench may take longer than a heartbeat holds.
  const renewTime = new Date(Date.now() + 3_600_000).toISOString().replace('Z', '000Z');
  const status = { renewTime, startedAt: now, leader: holder, settings, controllers };
  const policies = Array.from({ length: policyCount }, (_, at): KubeObject => {
    const match = { podSelector: { matchLabels: { app: `app-${at}` } } };
    const spec = { priority: at, match, action: 'Evict', minTaintAge: '1m' };
    return { apiVersion, kind: 'EvictionPolicy', metadata: { name: `policy-${at}` }, spec };
  });
  const metadata = { name: 'taintmgr-controller', namespace: 'kube-system' };
  return [
    ['leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: lease }],
    [
      'taintmanagers.taintmgr.dev',
      { apiVersion, kind: 'TaintManager', metadata: { name: 'taintmgr' }, status },
    ],
    ...policies.map((policy) => ['evictionpolicies.taintmgr.dev', policy] as const),
  ];
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

async function times(lines: readonly string[], rounds: number, form: Run): Promise<string[]> {
  const all: string[] = [];
  for (const line of lines) all.push(await median(rounds, () => form(line)));
  return all;
}

/** `210 (180)`: from start to end, and of the processor; the first time may fill caches, and does not count. */
async function median(rounds: number, work: () => Promise<number>): Promise<string> {
  await work();
  const taken: number[] = [];
  const used: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    used.push(await work());
    taken.push(performance.now() - start);
  }
  const [wall, processor] = [taken, used].map((all) =>
    Math.round(all.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN),
  );
  return `${wall} (${processor})`;
}

function rowsOf(
  lines: readonly string[],
  columns: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  return lines.map((line, index) => [line, ...columns.map((column) => column[index] ?? '')]);
}

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '15' },
    'package-only': { type: 'boolean', default: false },
  },
});
await compare(Number(values.pods), Number(values.rounds), values['package-only']);

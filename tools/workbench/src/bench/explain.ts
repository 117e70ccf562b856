// How long the kubectl plugin takes to start, and to answer about a node of 500 pods and of 5,000, with
// policies and the published status of a controller, beside kubectl itself, over HTTPS: as the npm
// package has it, as krew has it, and as it runs in a clone. In parentheses the time of the processor.
// Each round runs all that stand in one line of the table, so that what else the machine does is alike
// for them. npm run bench -- explain; alone it takes --pods 500,5000 --rounds 15 --package-only
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
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

/** What is timed, in each form of the plugin that there is, and beside it what kubectl does. */
const lines: readonly (readonly [plugin: string, kubectl: string])[] = [
  ['--help', '--help'],
  ['version --client', 'version --client'],
  ['__complete explain node ip-', 'get node NODE'],
  ['explain node NODE', 'describe node NODE'],
  ['explain node NODE --compare', 'get pods -A --field-selector=spec.nodeName=NODE'],
];

/** The milliseconds of a run from start to end, and of the processor. */
interface Taken {
  readonly wall: number;
  readonly processor: number;
}

type Run = (line: string) => Promise<Taken>;

/** The forms of the plugin, by their names. */
type Forms = Readonly<Record<string, readonly string[]>>;

async function compare(counts: readonly number[], rounds: number, forms: Forms): Promise<void> {
  const [load = 0] = loadavg();
  process.stdout.write(
    `explain: milliseconds from start to end and (of the processor), the median of ${rounds}; ` +
      `load before it: ${load.toFixed(1)}\n`,
  );
  for (const pods of counts) {
    const server = await serve(pods);
    try {
      // What is said of the start does not depend on pods.
      const asked = lines.filter(([line]) => pods === counts[0] || line.includes('NODE'));
      await compareOn(server, asked, rounds, forms, `${pods} pods`);
    } finally {
      await server.close();
    }
  }
}

async function compareOn(
  { node, kubeconfig }: Served,
  asked: typeof lines,
  rounds: number,
  forms: Forms,
  title: string,
): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: tmpdir(), KUBECONFIG: kubeconfig };
  const runner = (command: readonly string[]): Run => {
    return async (line) => {
      const args = [...command, ...line.replaceAll('NODE', node).split(' ')];
      // The shell takes the time, so that its own start and end are not in it.
      const timed = ['-c', 'TIMEFORMAT="%R %U %S"; time "$@" > /dev/null', 'bash', ...args];
      const { stderr } = await promisify(execFile)('bash', timed, { env, maxBuffer: 1e8 });
      const [wall = 0, user = 0, system = 0] = (stderr.trim().split('\n').at(-1) ?? '')
        .split(' ')
        .map((seconds) => Number(seconds) * 1000);
      return { wall, processor: user + system };
    };
  };
  const plugins = Object.values(forms).map(runner);
  await warmUp([runner(['kubectl']), ...plugins.slice(0, 1)]);
  const rows: (readonly string[])[] = [];
  for (const [line, kubectlLine] of asked) {
    const [bare, beside, ...times] = await medians(rounds, [
      () => runner([process.execPath])('-e 0'),
      () => runner(['kubectl'])(kubectlLine),
      ...plugins.map((plugin) => () => plugin(line)),
    ]);
    rows.push([line, ...times, beside ?? '', kubectlLine, bare ?? '']);
  }
  printTable([title, ...Object.keys(forms), 'kubectl', 'what kubectl does', 'Node alone'], rows);
}

const warmingRuns = 10;

/** V8 optimizes the API server while it answers; those that people have were compiled before. */
async function warmUp([kubectl, plugin]: readonly Run[]): Promise<void> {
  for (let run = 0; run < warmingRuns; run++) {
    await kubectl?.('describe node NODE');
    await plugin?.('explain node NODE');
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
  for (const [resource, object] of controllerObjects()) {
    const created = api.create(resource, object);
    // What a status says is taken by an update of it only.
    if ('status' in object) api.update(resource, { ...created, status: object.status }, 'status');
  }
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
  mkdirSync(folder);
  run('npm', ['run', '-s', 'build']);
  run('cp', ['-r', 'bin', 'dist', 'package.json', folder]);
  return join(folder, 'bin', plugin);
}

function program(directory: string): string {
  const file = join(directory, plugin);
  run(process.execPath, ['scripts/build-program.mjs', file]);
  return file;
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { cwd: app, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** `210 (180)` for each; the first time may fill caches, and does not count. */
async function medians(
  rounds: number,
  works: readonly (() => Promise<Taken>)[],
): Promise<readonly string[]> {
  const taken = works.map((): Taken[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, work] of works.entries()) {
      const run = await work();
      if (round > 0) taken[index]?.push(run);
    }
  }
  return taken.map((runs) => {
    const [wall, processor] = (['wall', 'processor'] as const).map((what) => {
      const sorted = runs.map((run) => run[what]).sort((a, b) => a - b);
      return Math.round(sorted[rounds >> 1] ?? Number.NaN);
    });
    return `${wall} (${processor})`;
  });
}

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '500,5000' },
    rounds: { type: 'string', default: '15' },
    'package-only': { type: 'boolean', default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'taintmgr-bench-'));
try {
  const source = ['-C', '@taintmgr/source', join(root, 'scripts/run.mjs'), plugin];
  await compare(values.pods.split(',').map(Number), Number(values.rounds), {
    'npm package': [process.execPath, npmPackage(folder)],
    ...(!values['package-only'] && {
      'one program': [program(folder)],
      clone: [process.execPath, ...source],
    }),
  });
} finally {
  rmSync(folder, { recursive: true });
}

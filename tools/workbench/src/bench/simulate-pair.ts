// An hour of a cluster that is made up, with budgets and a lost zone: this checkout beside another one.
// npm run bench -- simulate-pair; alone it takes NODES, the FOLDER of another checkout (-: none), MINUTES
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { tuneForSimulation } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/stage/tuning.ts';
import { watched } from '@taintmgr/kubectl-taintmgr/src/commands/simulate/watched.ts';
import { printTable, short } from './measure.ts';

const podsPerNode = 30;
const podsPerApp = 60;
const nodesUsual = 100;
const minutesUsual = 60;
const zones = ['a', 'b', 'c'];
const script = 'events:\n- {at: 5m, stopKubelet: {zone: zone-a}, lasts: 20m}\n';
const here = join(import.meta.dirname, '../../../..');

interface Row {
  readonly evictions: number;
  readonly processorMs: number;
  readonly rssBytes: number;
  /** Of all that happened in the run. */
  readonly digest: string;
}

/** A topology with so many nodes in three zones, and a budget for each workload. */
function topology(nodes: number): string {
  const counts = zones.map((zone, at) => {
    const count = Math.ceil((nodes - at) / zones.length);
    return `- {zone: zone-${zone}, count: ${count}, capacity: {cpu: '16', memory: 64Gi}}`;
  });
  const apps = Array.from({ length: Math.ceil((nodes * podsPerNode) / podsPerApp) }, (_, app) => {
    const name = `team-${app % 40}/app-${app}`;
    const budget = '{maxUnavailable: 10%}';
    return `- {kind: Deployment, name: ${name}, replicas: ${podsPerApp}, budget: ${budget}}`;
  });
  const head = 'apiVersion: taintmgr.dev/v1alpha1\nkind: Topology\nregion: region-1';
  return [head, 'nodes:', ...counts, 'workloads:', ...apps, ''].join('\n');
}

type Simulating = typeof import('@taintmgr/kubectl-taintmgr/src/commands/simulate/stage/run.ts');
type RunOptions = Parameters<Simulating['simulate']>[0];
type Run = ReturnType<Simulating['simulate']>;
type Scripts = typeof import('@taintmgr/kubectl-taintmgr/src/commands/simulate/script/script.ts');
type Topologies =
  typeof import('@taintmgr/kubectl-taintmgr/src/commands/simulate/source/topology.ts');
type Documents =
  typeof import('@taintmgr/kubectl-taintmgr/src/commands/simulate/result/documents.ts');
type Manifests = typeof import('@taintmgr/k8s-adapter/manifests');

/** Plays it with the sources of a checkout. */
async function play(folder: string, nodes: number, minutes: number): Promise<Row> {
  const load = async <T>(path: string): Promise<T> =>
    (await import(pathToFileURL(join(folder, path)).href)) as T;
  const command = 'apps/kubectl-taintmgr/src/commands/simulate';
  const { simulate } = await load<Simulating>(`${command}/stage/run.ts`);
  const { readScript } = await load<Scripts>(`${command}/script/script.ts`);
  const { topologySource } = await load<Topologies>(`${command}/source/topology.ts`);
  const { withSummary } = await load<Documents>(`${command}/result/documents.ts`);
  const { readAllPositioned } = await load<Manifests>(
    'packages/k8s-adapter/src/doors/manifests.ts',
  );
  const until = minutes * 60_000;
  const source = topologySource('bench', readAllPositioned('bench', topology(nodes)));
  const before = process.cpuUsage();
  const options = { source, policies: [], seed: 1, until, semantics: 'precise' } as const;
  const all = { ...options, script: readScript('bench', script, until) };
  const run = withSummary(resolve(folder) === here ? await asCommanded(all) : simulate(all), until);
  const { user, system } = process.cpuUsage(before);
  return {
    evictions: run.summary.evictions,
    processorMs: (user + system) / 1e3,
    rssBytes: process.resourceUsage().maxRSS * 1024,
    digest: digestOf(run),
  };
}

/** As the command of this checkout plays it. */
async function asCommanded(options: RunOptions): Promise<Run> {
  tuneForSimulation();
  return watched(options, '', { live: null, interrupt: new AbortController().signal });
}

/** Of what happened, as checkouts before variants recorded it too. */
function digestOf({ playedEvents, recording }: ReturnType<Documents['withSummary']>): string {
  const { zones, nodes, workloads, budgets, deadlines, evictions } = recording;
  const { refusals, failures, unplaced } = recording;
  const available = workloads.map(({ kind, namespace, name, states }) => {
    return { kind, namespace, name, states };
  });
  const pods = { deadlines, evictions, refusals, failures, unplaced };
  const all = { playedEvents, zones, nodes, available, budgets, pods };
  const text = JSON.stringify(all, (key, value) => (key === 'reasons' ? undefined : value));
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

async function apart(folder: string, nodes: number, minutes: number): Promise<Row> {
  const flags = ['-C', '@taintmgr/source', '--max-old-space-size=12000', import.meta.filename];
  const words = ['play', folder, String(nodes), String(minutes)];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...words]);
  return JSON.parse(stdout);
}

async function compare(nodes: number, other: string | undefined, minutes: number): Promise<void> {
  const folders = other === undefined ? [here] : [here, other];
  const rows = await Promise.all(folders.map((folder) => apart(folder, nodes, minutes)));
  const pods = short(nodes * podsPerNode);
  process.stdout.write(`simulate: ${minutes} min of ${pods} pods on ${short(nodes)} nodes\n`);
  const cells = (name: string, cell: (row: Row) => string): readonly string[] => {
    return [name, ...rows.map(cell)];
  };
  printTable(
    ['', 'here', ...(other === undefined ? [] : ['there'])],
    [
      cells('processor time', ({ processorMs }) => `${(processorMs / 1000).toFixed(1)} s`),
      cells('resident, most', ({ rssBytes }) => `${Math.round(rssBytes / 2 ** 20)} MiB`),
      cells('pods evicted', ({ evictions }) => String(evictions)),
      cells('digest of what it says', ({ digest }) => digest),
    ],
  );
}

const words = process.argv.slice(2);
if (words[0] === 'play') {
  const [, folder = here, nodes, minutes] = words;
  process.stdout.write(JSON.stringify(await play(folder, Number(nodes), Number(minutes))));
} else {
  const [nodes = nodesUsual, other, minutes = minutesUsual] = words;
  await compare(Number(nodes), other === '-' ? undefined : other, Number(minutes));
}

// The same as controller.ts on a real API server, which has to be empty and is emptied: nodes and
// pods are made, all nodes are tainted at once, and what is deleted stays, since no kubelet is there.
// node -C @taintmgr/source tools/workbench/src/bench/real.ts --kubeconfig FILE, --pods 2000,
// --rounds 1, --only 'bare request loop;...'; programs of others by --peer 'TITLE=COMMAND ...' with
// --peer-says, words that they write to stderr once they are ready, and --server PID of the API
// server on this machine. docs/decisions/requests-of-a-mass-eviction.md says how one was made.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type Child, usageOf } from './child.ts';
import {
  bare,
  buildController,
  controllerProgram,
  type Evictor,
  evictor,
  json,
  ours,
  peer,
  protobuf,
} from './evictor-processes.ts';
import { mega, printTable, short } from './measure.ts';
import { type Gone, RealCluster } from './real-cluster.ts';

interface Row extends Gone {
  readonly cpuMs: number;
  /** Null: it is not known which process the API server is. */
  readonly serverCpuMs: number | null;
  readonly rssBytes: number;
  /** What of it was there when it waited. */
  readonly idleBytes: number;
}

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string', default: '' },
    pods: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    peer: { type: 'string', multiple: true, default: [] },
    'peer-says': { type: 'string', default: '' },
    server: { type: 'string', default: '' },
  },
});
const kubeconfig = values.kubeconfig;
if (kubeconfig === '')
  end('--kubeconfig: name the file of an empty cluster; its pods, nodes and Events go');
for (const flag of ['pods', 'rounds'] as const) {
  if (!/^[1-9]\d*$/.test(values[flag]))
    end(`--${flag}: got "${values[flag]}", want a whole number from 1`);
}
if (values.peer.length > 0 && values['peer-says'] === '') {
  end('--peer-says: name words that a peer writes to stderr once it is ready');
}
const program = controllerProgram();
// Nobody renews leases here, and no node is to fail.
const steady = '--node-monitor-grace-period=1h';
const evictors = new Map<string, Evictor>([
  [bare, evictor('bare')],
  ['bare, and a watch of pods', evictor('followed')],
  ['ours, delete, JSON', ours(program, json, steady)],
  ['ours, delete, protobuf', ours(program, protobuf, steady)],
  ['ours, evict, protobuf', ours(program, protobuf, steady, '--mode=evict')],
  ...values.peer.map((text): [string, Evictor] => {
    const [title = '', ...command] = text.split('=');
    return [title, peer(command.join('=').split(' '), values['peer-says'])];
  }),
]);
const titles = values.only === '' ? [...evictors.keys()] : values.only.split(';');
const strange = titles.find((title) => !evictors.has(title));
if (strange !== undefined) {
  end(`--only: no evictor is called "${strange}"; there are: ${[...evictors.keys()].join('; ')}`);
}
if (titles.some((title) => title.startsWith('ours'))) buildController();
const cluster = await RealCluster.open(kubeconfig).catch(endBy);
const [pods, load] = [Number(values.pods), loadavg()[0] ?? 0];
const rows = new Map(titles.map((title) => [title, [] as Row[]]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [title, measuredRows] of rows) measuredRows.push(await measure(title).catch(endBy));
}
cluster.close();
print();

async function measure(title: string): Promise<Row> {
  let child: Child | undefined;
  try {
    await cluster.fill(pods);
    child = await evictors.get(title)?.start(kubeconfig);
    if (!child) throw new Error(title);
    const [before, serverBefore] = [await child.usage(), serverCpuMs()];
    const gone = await cluster.evictAll(pods);
    const { cpuMs, rssBytes } = await child.usage();
    const server = serverBefore === null ? null : (serverCpuMs() ?? 0) - serverBefore;
    const idleBytes = before.rssBytes;
    return { ...gone, cpuMs: cpuMs - before.cpuMs, rssBytes, idleBytes, serverCpuMs: server };
  } finally {
    await child?.end();
    await cluster.empty();
  }
}

function serverCpuMs(): number | null {
  return values.server === '' ? null : usageOf(Number(values.server)).cpuMs;
}

function print(): void {
  const after = (loadavg()[0] ?? 0).toFixed(1);
  process.stdout.write(
    `a real API server: ${short(pods)} pods fall due at once, means of ${values.rounds}; ` +
      `load of the machine ${load.toFixed(1)} before, ${after} after\n`,
  );
  const basis = rows.get(bare);
  const lines = [...rows].map(([title, measuredRows]) => {
    const of = (read: (row: Row) => number): number => mean(measuredRows.map(read));
    const [lastMs, cpuMs] = [of((row) => row.lastMs), of((row) => row.cpuMs)];
    const asked = of(({ requests }) => Object.values(requests).reduce((sum, n) => sum + n, 0));
    const server = of((row) => row.serverCpuMs ?? Number.NaN);
    return [
      title,
      `${short((1000 * pods) / lastMs)}/s`,
      basis ? `${Math.round((100 * mean(basis.map((row) => row.lastMs))) / lastMs)}%` : '',
      `${short(of((row) => row.firstMs))} ms`,
      `${(cpuMs / pods).toFixed(2)} ms`,
      basis ? (cpuMs / mean(basis.map((row) => row.cpuMs))).toFixed(2) : '',
      Number.isNaN(server) ? '' : `${(server / pods).toFixed(2)} ms`,
      // Not every server counts what it is asked.
      asked > 0 ? (asked / pods).toFixed(3) : '',
      mega(of((row) => row.idleBytes)),
      mega(of((row) => row.rssBytes)),
    ];
  });
  const head = ['evictions', 'of bare', 'first delete', 'CPU per pod', 'of bare'];
  printTable(['', ...head, 'of the server', 'requests per pod', 'waiting', 'peak RSS'], lines);
  for (const [title, [first]] of rows) {
    const counts = Object.entries(first?.requests ?? {}).toSorted(([, a], [, b]) => b - a);
    const texts = counts.map(([what, count]) => `${what} ${count}`);
    if (texts.length > 0) process.stdout.write(`  ${title}: ${texts.join(', ')}\n`);
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
}

function endBy(error: Error): never {
  return end(error.message);
}

function end(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}

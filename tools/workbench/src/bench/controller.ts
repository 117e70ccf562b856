// Evicting pods from tainted nodes over HTTPS, side by side in one run: a bare request loop (PATCH
// and DELETE, 32 pods at once) and the controller as it is shipped, deleting and evicting, in JSON
// and in protobuf; the API server in another process takes a while for each request. It is JavaScript
// too, and what it costs is printed beside: protobuf is dear to it, and so is a watch of the pods, which
// a bare loop does without; beside it goes one that asks for a watch and reads nothing of it.
// npm run bench -- controller; alone it takes --pods 2000 --service-ms 2,25 --rounds 3
// --only 'bare request loop;...', --source to run what is not built, and --profile DIR, where a CPU
// profile of each goes.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Recorded, Served } from './eviction-server.ts';
import {
  bare,
  buildController,
  controllerProgram,
  type Evictor,
  evictor,
  json,
  ours,
  protobuf,
  source,
} from './evictor-processes.ts';
import { Child, measured, mega, printTable, short, type Usage } from './measure.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '2000' },
    'service-ms': { type: 'string', default: '2,25' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    source: { type: 'boolean', default: false },
    profile: { type: 'string', default: '' },
  },
});
const program = controllerProgram(!values.source);
const evictors: Readonly<Record<string, Evictor>> = {
  [bare]: evictor('bare'),
  'bare, and a watch of pods': evictor('followed'),
  'ours, delete, JSON': ours(program, json),
  'ours, delete, protobuf': ours(program, protobuf),
  'ours, evict, protobuf': ours(program, protobuf, '--mode=evict'),
  'its loop alone': evictor('loop'),
  'stock informer and typed client': evictor('stock'),
};

interface Row extends Served {
  readonly cpuMs: number;
  /** The processor time of the API server meanwhile. */
  readonly serverCpuMs: number;
  readonly rssBytes: number;
  /** The memory of the idle process. */
  readonly idleBytes: number;
  /** Null: it writes no Events. */
  readonly recorded: (Recorded & { readonly cpuMs: number }) | null;
}

const titles = values.only === '' ? Object.keys(evictors).slice(0, 5) : values.only.split(';');
const compared = new Map(titles.map((title) => [title, evictorOf(title)]));
if (!values.source) buildController();
for (const serviceMs of values['service-ms'].split(',')) {
  await compare(Number(values.pods), Number(serviceMs), Number(values.rounds));
}

/** Each in turn, round by round: whatever else the machine does hits them all. */
async function compare(pods: number, serviceMs: number, rounds: number): Promise<void> {
  const runs = [...compared].map(([title, how]) => ({ title, how, rows: [] as Row[] }));
  const load = loadavg()[0] ?? 0;
  for (let round = 0; round < rounds; round++) {
    for (const { how, rows } of runs) rows.push(await measure(how, pods, serviceMs));
  }
  const means = new Map(runs.map(({ title, rows }) => [title, meanOf(rows)]));
  process.stdout.write(
    `controller: ${short(pods)} pods fall due at once, ${serviceMs} ms for each request, ` +
      `means of ${rounds}; load of the machine ${load.toFixed(1)} before, ` +
      `${(loadavg()[0] ?? 0).toFixed(1)} after\n`,
  );
  printRates(means, pods);
  printRequests(means, pods);
}

/** Each number is a mean: the quickest run alone shows chance rather than the measured program. */
function meanOf(rows: readonly Row[]): Row {
  const of = (read: (row: Row) => number): number => sum(rows.map(read)) / rows.length;
  const asked = new Set(rows.flatMap(({ requests }) => Object.keys(requests)));
  const counts = [...asked].map((what) => [what, of(({ requests }) => requests[what] ?? 0)]);
  const hasEvents = rows.every(({ recorded }) => recorded !== null);
  const ofEvents = (name: 'events' | 'ms' | 'cpuMs'): number => {
    return of(({ recorded }) => recorded?.[name] ?? 0);
  };
  return {
    askedMs: of(({ askedMs }) => askedMs),
    firstMs: of(({ firstMs }) => firstMs),
    lastMs: of(({ lastMs }) => lastMs),
    requests: Object.fromEntries(counts),
    cpuMs: of(({ cpuMs }) => cpuMs),
    serverCpuMs: of(({ serverCpuMs }) => serverCpuMs),
    rssBytes: of(({ rssBytes }) => rssBytes),
    idleBytes: of(({ idleBytes }) => idleBytes),
    recorded: hasEvents
      ? { events: ofEvents('events'), ms: ofEvents('ms'), cpuMs: ofEvents('cpuMs') }
      : null,
  };
}

function printRates(means: ReadonlyMap<string, Row>, pods: number): void {
  const basis = means.get(bare);
  const rows = [...means].map(([title, { askedMs, firstMs, lastMs, requests, cpuMs, ...row }]) => [
    title,
    `${short((1000 * pods) / lastMs)}/s`,
    basis ? `${Math.round((100 * basis.lastMs) / lastMs)}%` : '',
    `${short(askedMs)} ms`,
    `${short(firstMs)} ms`,
    `${(cpuMs / pods).toFixed(2)} ms`,
    basis ? (cpuMs / basis.cpuMs).toFixed(2) : '',
    row.recorded ? `${(row.recorded.cpuMs / pods).toFixed(2)} ms` : '',
    `${(row.serverCpuMs / pods).toFixed(2)} ms`,
    (sum(Object.values(requests)) / pods).toFixed(3),
    mega(row.idleBytes),
    mega(row.rssBytes),
    row.recorded ? `${row.recorded.events} in ${(row.recorded.ms / 1000).toFixed(1)} s` : '',
  ]);
  const measured = [
    'evictions',
    'of bare',
    'first write',
    'first delete',
    'CPU per pod',
    'of bare',
  ];
  const counted = [
    'with Events',
    'of the server',
    'requests per pod',
    'waiting',
    'peak RSS',
    'Events after',
  ];
  printTable(['', ...measured, ...counted], rows);
}

/** The requests until the last pod began to go, and their counts. */
function printRequests(means: ReadonlyMap<string, Row>, pods: number): void {
  for (const [title, { requests }] of means) {
    const counts = Object.entries(requests).toSorted(([, one], [, other]) => other - one);
    const texts = counts.map(([what, count]) => `${what} ${(count / pods).toFixed(3)}`);
    process.stdout.write(`  ${title}: ${texts.join(', ')}\n`);
  }
  process.stdout.write('\n');
}

async function measure({ start, records }: Evictor, pods: number, serviceMs: number): Promise<Row> {
  const server = new Child(
    ...measured,
    ...source,
    `${import.meta.dirname}/eviction-server.ts`,
    String(pods),
    String(serviceMs),
  );
  await warmUp(server, start);
  const { kubeconfig } = await server.next<{ readonly kubeconfig: string }>();
  const child = await start(kubeconfig, profiling());
  const before: Usage = await child.usage();
  const serverBefore = await server.usage();
  server.proceed();
  const served = await server.next<Served>();
  const after: Usage = await child.usage();
  const serverAfter = await server.usage();
  let recorded: Row['recorded'] = null;
  if (records) {
    server.proceed();
    const events = await server.next<Recorded>();
    const end: Usage = await child.usage();
    recorded = { ...events, cpuMs: end.cpuMs - before.cpuMs };
  }
  await child.end();
  await server.end();
  const { cpuMs, rssBytes } = after;
  return {
    ...served,
    cpuMs: cpuMs - before.cpuMs,
    serverCpuMs: serverAfter.cpuMs - serverBefore.cpuMs,
    rssBytes,
    idleBytes: before.rssBytes,
    recorded,
  };
}

/** V8 compiles the API server while it answers; those that people have were compiled before. */
async function warmUp(server: Child, start: Evictor['start']): Promise<void> {
  const { kubeconfig } = await server.next<{ readonly kubeconfig: string }>();
  const child = await start(kubeconfig);
  server.proceed();
  await server.next<Served>();
  await child.end();
  server.proceed();
}

/** Asked before anything is built or run. */
function evictorOf(title: string): Evictor {
  const found = Object.hasOwn(evictors, title) ? evictors[title] : undefined;
  if (found) return found;
  const known = Object.keys(evictors).join('; ');
  process.stderr.write(`--only: no evictor is called "${title}"; there are: ${known}\n`);
  process.exit(2);
}

function profiling(): readonly string[] {
  return values.profile === '' ? [] : ['--cpu-prof', '--cpu-prof-dir', values.profile];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

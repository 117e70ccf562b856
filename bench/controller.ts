// Evicting pods from tainted nodes over HTTPS: our controller's loop, a bare request loop with the
// same writes, and the stock client library; the API server in another process takes a while for
// each request. npm run bench -- controller; alone it takes --pods 2000 --service-ms 2 --rounds 3
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { parseArgs } from 'node:util';
import {
  ApiServer,
  createCertificate,
  RealClock,
  seededRandom,
  startHttps,
  type User,
  writeKubeconfig,
} from '@taintmgr/sim-cluster';
import { nodeObjects, podObject } from './cluster-objects.ts';
import { evictors } from './evictors.ts';
import { printTable, short } from './measure.ts';

const flags = ['-C', '@taintmgr/source'];
const titles: Readonly<Record<string, string>> = {
  loop: "our controller's loop",
  bare: 'bare request loop',
  stock: 'stock informer and typed client',
};

interface Served {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly requests: number;
}

interface Spent {
  readonly cpuMs: number;
  /** At its largest, and what of it was there before anything was read: the programs themselves. */
  readonly rssBytes: number;
  readonly idleBytes: number;
}

type Row = Served & Spent;

async function compare(pods: number, serviceMs: number, rounds: number): Promise<void> {
  const best = new Map<string, Row>();
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(evictors)) {
      const row = await measure(name, pods, serviceMs);
      const before = best.get(name);
      if (!before || row.lastMs < before.lastMs) best.set(name, row);
    }
  }
  const bare = best.get('bare')?.lastMs ?? 0;
  const rows = [...best].map(([name, { firstMs, lastMs, requests, cpuMs, ...spent }]) => [
    titles[name] ?? name,
    `${short((1000 * pods) / lastMs)}/s`,
    `${Math.round((100 * bare) / lastMs)}%`,
    `${short(firstMs)} ms`,
    `${(cpuMs / pods).toFixed(2)} ms`,
    (requests / pods).toFixed(2),
    `${short((1000 * requests) / lastMs)}/s`,
    mega(spent.rssBytes),
    mega(spent.rssBytes - spent.idleBytes),
  ]);
  process.stdout.write(
    `controller: ${short(pods)} pods fall due at once, ${serviceMs} ms for each request, ` +
      `the best of ${rounds}\n`,
  );
  const measured = ['evictions', 'of bare', 'first delete after', 'CPU per pod'];
  printTable(['', ...measured, 'requests per pod', 'requests', 'resident', 'by the work'], rows);
}

const mega = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

async function measure(name: string, pods: number, serviceMs: number): Promise<Row> {
  const server = new Child('serve', pods, serviceMs);
  const { kubeconfig } = await server.next<{ readonly kubeconfig: string }>();
  const evictor = new Child(name, kubeconfig);
  await evictor.next();
  server.tell();
  const served = await server.next<Served>();
  evictor.tell();
  const spent = await evictor.next<Spent>();
  await Promise.all([evictor.end(), server.end()]);
  return { ...served, ...spent };
}

/** A process that says a line of JSON when it has come to a point, and goes on when told. */
class Child {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(...args: readonly (string | number)[]) {
    const command = [...flags, import.meta.filename, '--role', ...args.map(String)];
    this.#child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdout } = this.#child;
    if (!stdout) throw new Error('no output');
    const lines: Interface = createInterface(stdout);
    this.#lines = lines[Symbol.asyncIterator]();
  }

  async next<T>(): Promise<T> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error('it ended too early');
    return JSON.parse(value);
  }

  tell(): void {
    this.#child.stdin?.write('\n');
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'close');
    this.#child.stdin?.end();
    await ended;
  }
}

/** Serves, taints all nodes when told, and says when the pods were told to leave. */
async function serve(pods: number, serviceMs: number): Promise<void> {
  let requests = 0;
  const user: User = { name: 'admin', groups: ['system:masters'], rules: [] };
  const api = new ApiServer({
    clock: new RealClock(),
    random: seededRandom(1),
    tokens: new Map([['bench', user]]),
    serviceMs: ({ verb }) => {
      requests += 1;
      return verb === 'watch' ? 0 : serviceMs;
    },
  });
  api.load([...nodeObjects(pods), ...Array.from({ length: pods }, (_, at) => podObject(at))]);
  const certificate = createCertificate(Date.now());
  const server = await startHttps({ exchange: api.exchange, certificate });
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-bench-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'bench' });
  print({ kubeconfig });
  await once(process.stdin, 'data');
  requests = 0;
  print({ ...(await evictAll(api, pods)), requests });
  await once(process.stdin, 'end');
  await server.close();
  rmSync(directory, { recursive: true });
}

async function evictAll(api: ApiServer, pods: number): Promise<Pick<Served, 'firstMs' | 'lastMs'>> {
  const start = performance.now();
  let firstMs = 0;
  let left = pods;
  return new Promise((resolve) => {
    api.subscribe(({ resource, object, previous }) => {
      const leaves = object.metadata.deletionTimestamp !== undefined;
      if (resource !== 'pods' || !leaves || previous?.metadata.deletionTimestamp) return;
      const now = performance.now() - start;
      if (left === pods) firstMs = now;
      left -= 1;
      if (left === 0) resolve({ firstMs, lastMs: now });
    });
    const timeAdded = `${new Date().toISOString().slice(0, 19)}Z`;
    const taints = [{ key: 'maintenance', effect: 'NoExecute', timeAdded }];
    for (const node of api.list('nodes')) api.update('nodes', { ...node, spec: { taints } });
  });
}

/** Evicts, and says what it took when told that all are gone. */
async function evict(name: string, kubeconfig: string): Promise<void> {
  const evictor = evictors[name];
  if (!evictor) throw new Error(`no such evictor: ${name}`);
  const idleBytes = maxRss();
  await evictor(kubeconfig);
  print({});
  const before = process.cpuUsage();
  await once(process.stdin, 'data');
  const { user, system } = process.cpuUsage(before);
  print({ cpuMs: (user + system) / 1000, rssBytes: maxRss(), idleBytes });
  await once(process.stdin, 'end');
  process.exit();
}

const maxRss = (): number => process.resourceUsage().maxRSS * 1024;

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    role: { type: 'string' },
    pods: { type: 'string', default: '2000' },
    'service-ms': { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
  },
});
const [first = '', second = ''] = positionals;
if (values.role === undefined) {
  await compare(Number(values.pods), Number(values['service-ms']), Number(values.rounds));
} else if (values.role === 'serve') {
  await serve(Number(first), Number(second));
} else {
  await evict(values.role, first);
}

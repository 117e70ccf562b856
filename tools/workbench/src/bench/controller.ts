// Evicting pods from tainted nodes over HTTPS: the controller as it is shipped, its loop alone, a
// bare request loop with the same writes, and the stock client library; the API server in another
// process takes a while for each request. npm run bench -- controller; alone it takes --pods 2000
// --service-ms 2 --rounds 3
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Child, type Usage } from './child.ts';
import type { Served } from './eviction-server.ts';
import { mega, printTable, short } from './measure.ts';

const source = ['-C', '@taintmgr/source'];
const usage = ['--import', `${import.meta.dirname}/usage.mjs`];
const controller = `${import.meta.dirname}/../../../../apps/controller/dist/main.js`;

/** A way to evict: it begins with the kubeconfig, and is ready when it waits for taints. */
interface Evictor {
  readonly title: string;
  readonly start: (kubeconfig: string) => Promise<Child>;
}

const evictors: Readonly<Record<string, Evictor>> = {
  controller: { title: 'our controller', start: startController },
  loop: { title: 'its loop alone', start: (kubeconfig) => startEvictor('loop', kubeconfig) },
  bare: { title: 'bare request loop', start: (kubeconfig) => startEvictor('bare', kubeconfig) },
  stock: {
    title: 'stock informer and typed client',
    start: (kubeconfig) => startEvictor('stock', kubeconfig),
  },
};

interface Row extends Served {
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** What of it was there when it waited. */
  readonly idleBytes: number;
}

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '2000' },
    'service-ms': { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
  },
});
buildController();
await compare(Number(values.pods), Number(values['service-ms']), Number(values.rounds));

async function compare(pods: number, serviceMs: number, rounds: number): Promise<void> {
  const best = new Map<string, Row>();
  for (let round = 0; round < rounds; round++) {
    for (const { title, start } of Object.values(evictors)) {
      const row = await measure(start, pods, serviceMs);
      const before = best.get(title);
      if (!before || row.lastMs < before.lastMs) best.set(title, row);
    }
  }
  const bare = best.get('bare request loop')?.lastMs ?? 0;
  const rows = [...best].map(([title, { firstMs, lastMs, requests, cpuMs, ...memory }]) => [
    title,
    `${short((1000 * pods) / lastMs)}/s`,
    `${Math.round((100 * bare) / lastMs)}%`,
    `${short(firstMs)} ms`,
    `${(cpuMs / pods).toFixed(2)} ms`,
    (requests / pods).toFixed(2),
    `${short((1000 * requests) / lastMs)}/s`,
    mega(memory.idleBytes),
    mega(memory.rssBytes),
  ]);
  process.stdout.write(
    `controller: ${short(pods)} pods fall due at once, ${serviceMs} ms for each request, ` +
      `the best of ${rounds}\n`,
  );
  const measured = ['evictions', 'of bare', 'first delete after', 'CPU per pod'];
  const counted = ['requests per pod', 'requests', 'waiting', 'evicting'];
  printTable(['', ...measured, ...counted], rows);
}

async function measure(start: Evictor['start'], pods: number, serviceMs: number): Promise<Row> {
  const server = new Child(
    ...source,
    `${import.meta.dirname}/eviction-server.ts`,
    String(pods),
    String(serviceMs),
  );
  const { kubeconfig } = await server.next<{ readonly kubeconfig: string }>();
  const evictor = await start(kubeconfig);
  const before: Usage = await evictor.usage();
  server.proceed();
  const served = await server.next<Served>();
  const after: Usage = await evictor.usage();
  await Promise.all([evictor.end(), server.end()]);
  const { cpuMs, rssBytes } = after;
  return { ...served, cpuMs: cpuMs - before.cpuMs, rssBytes, idleBytes: before.rssBytes };
}

async function startEvictor(name: string, kubeconfig: string): Promise<Child> {
  const child = new Child(
    ...source,
    ...usage,
    `${import.meta.dirname}/evictors.ts`,
    name,
    kubeconfig,
  );
  await child.next();
  return child;
}

async function startController(kubeconfig: string): Promise<Child> {
  const flags = ['--kubeconfig', kubeconfig, '--secure-port=0'];
  const child = new Child(...usage, controller, ...flags);
  await child.said('leader elected', 'synced');
  return child;
}

function buildController(): void {
  const command = ['run', '-s', 'build', '--', '--filter=@taintmgr/controller'];
  const { status, stdout } = spawnSync('npm', command, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stdout);
}

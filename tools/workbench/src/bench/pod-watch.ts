// All pods in one stream, beside those of tainted nodes only, each a stream of its own: what it
// takes to know them and to follow them, while three nodes are tainted and 500 pods change every
// second. npm run bench -- pod-watch; alone it takes --pods 50000
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { Transport } from '@taintmgr/k8s-adapter';
import { Child } from './child.ts';
import { mega, printTable, short } from './measure.ts';
import { startOurLoop } from './our-loop.ts';
import type { Churned } from './pod-watch-server.ts';

const flags = ['-C', '@taintmgr/source', '--expose-gc'];
const titles = { all: 'all pods', 'tainted-nodes': 'pods of tainted nodes' } as const;
type Mode = keyof typeof titles;

/** Since the process began to read. */
interface Spent {
  readonly ms: number;
  readonly cpuMs: number;
  readonly bytes: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
}

async function compare(pods: number): Promise<void> {
  const rows: string[][] = [];
  for (const mode of ['all', 'tainted-nodes'] as const) rows.push(await measure(mode, pods));
  process.stdout.write(`pod-watch: ${short(pods)} pods, 3 nodes of 30 tainted\n`);
  const synced = ['synced after', 'CPU', 'read', 'heap', 'resident'];
  printTable(['', ...synced, 'CPU per change', 'read per change', 'first delete after'], rows);
}

async function measure(mode: Mode, pods: number): Promise<string[]> {
  const server = new Child(...flags, `${import.meta.dirname}/pod-watch-server.ts`, String(pods));
  const { kubeconfig } = await server.next<{ readonly kubeconfig: string }>();
  const reader = new Child(...flags, import.meta.filename, '--mode', mode, '--to', kubeconfig);
  const synced = await reader.next<Spent>();
  server.proceed();
  const { changes } = await server.next<Churned>();
  reader.proceed();
  const followed = await reader.next<Spent>();
  server.proceed();
  const { ms } = await server.next<{ readonly ms: number }>();
  await Promise.all([reader.end(), server.end()]);
  return [
    titles[mode],
    `${short(synced.ms)} ms`,
    `${short(synced.cpuMs)} ms`,
    mega(synced.bytes, 1),
    mega(synced.heapBytes, 1),
    mega(synced.rssBytes, 1),
    `${(((followed.cpuMs - synced.cpuMs) * 1000) / changes).toFixed(0)} us`,
    `${short((followed.bytes - synced.bytes) / changes)} B`,
    `${ms.toFixed(0)} ms`,
  ];
}

/** Reads until it is ended; says what that took when it is synced, and on each signal. */
async function read(mode: Mode, kubeconfig: string): Promise<void> {
  const base = { heapBytes: heapBytes(), ms: performance.now(), cpuMs: cpuMs() };
  let bytes = 0;
  const spent = (): Spent => ({
    ms: performance.now() - base.ms,
    cpuMs: cpuMs() - base.cpuMs,
    bytes,
    heapBytes: heapBytes() - base.heapBytes,
    rssBytes: process.memoryUsage.rss(),
  });
  const through = (transport: Transport): Transport => ({
    send: (request, sink) =>
      transport.send(request, {
        head: (status, headers) => sink.head(status, headers),
        data(chunk) {
          bytes += chunk.length;
          sink.data(chunk);
        },
        end: () => sink.end(),
        alive: (age) => sink.alive(age),
        failed: (message, stage) => sink.failed(message, stage),
      }),
  });
  await startOurLoop(kubeconfig, { through, ...(mode !== 'all' && { podWatch: { mode } }) });
  for (;;) {
    process.stdout.write(`${JSON.stringify(spent())}\n`);
    await once(process.stdin, 'data');
  }
}

let collectingMs = 0;

/** Without what it took to measure the heap. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 - collectingMs;
}

function heapBytes(): number {
  const before = cpuMs();
  globalThis.gc?.();
  collectingMs += cpuMs() - before;
  return process.memoryUsage().heapUsed;
}

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '50000' },
    mode: { type: 'string' },
    to: { type: 'string' },
  },
});
const { pods, mode, to } = values;
if (to === undefined) await compare(Number(pods));
else await read(mode === 'all' ? 'all' : 'tainted-nodes', to);

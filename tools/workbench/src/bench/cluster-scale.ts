// A cluster of 5,000 nodes and 150,000 pods in one process, our controller's loop in another, HTTPS
// between them. npm run bench -- cluster-scale
import { Agent, request as httpsRequest } from 'node:https';
import { startEmbedded } from '@taintmgr/sim-cluster';
import { Child } from './child.ts';
import { nodeObjects, podObjects, podPath } from './cluster-objects.ts';
import { inProcess, mega, printTable, short } from './measure.ts';
import { startOurLoop } from './our-loop.ts';
import { print } from './served-api.ts';

const pods = 150_000;
const writes = 5_000;
const inFlight = 16;
const flags = ['-C', '@taintmgr/source', '--expose-gc', '--max-old-space-size=8000'];
const token = 'bench';

interface Memory {
  readonly heapBytes: number;
  readonly rssBytes: number;
}

interface Loaded extends Memory {
  readonly kubeconfig: string;
  readonly loadMs: number;
}

interface Synced extends Memory {
  readonly syncMs: number;
  readonly writeMs: number;
  /** From the last write to the last of them seen in the controller's watch. */
  readonly seenMs: number;
}

async function compare(): Promise<void> {
  const server = new Child(...flags, import.meta.filename, 'server');
  const { kubeconfig, loadMs, ...idle } = await server.next<Loaded>();
  const synced = inProcess<Synced>(import.meta.filename, 'controller', kubeconfig);
  server.proceed();
  const busy = await server.next<Memory>();
  await server.end();
  process.stdout.write(
    `cluster: ${short(pods)} pods on ${short(pods / 30)} nodes, two processes\n`,
  );
  printTable(
    ['', 'API server', 'controller'],
    [
      ['loaded, read and understood in', seconds(loadMs), seconds(synced.syncMs)],
      ['heap', mega(idle.heapBytes), mega(synced.heapBytes)],
      ['heap per pod', `${short(idle.heapBytes / pods)} B`, `${short(synced.heapBytes / pods)} B`],
      ['resident before', mega(idle.rssBytes), ''],
      ['resident after', mega(busy.rssBytes), mega(synced.rssBytes)],
      ['writes over HTTPS', `${short((1000 * writes) / synced.writeMs)}/s`, ''],
      ['last write seen after', '', `${short(synced.seenMs)} ms`],
    ],
  );
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function memory(): Memory {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: rss };
}

async function runServer(): Promise<void> {
  const snapshot = [...nodeObjects(pods), ...podObjects(pods)];
  const start = performance.now();
  const without = [
    'nodeLifecycleStandIn',
    'workloads',
    'scheduler',
    'disruption',
    'garbageCollection',
    'namespaces',
  ] as const;
  const embedded = await startEmbedded({ snapshot, without, token });
  const loadMs = performance.now() - start;
  snapshot.length = 0;
  print({ kubeconfig: embedded.kubeconfig, loadMs, ...memory() });
  process.stdin.on('data', () => print(memory()));
  process.stdin.on('end', () => void embedded.stop());
}

async function runController(kubeconfig: string): Promise<void> {
  let seen = 0;
  let onSeen = (): void => {};
  const onPod = (): void => {
    if (++seen === pods + writes) onSeen();
  };
  const start = performance.now();
  const { url, stop } = await startOurLoop(kubeconfig, { onPod });
  const syncMs = performance.now() - start;
  const held = memory();
  const allSeen = new Promise<void>((resolve) => {
    onSeen = resolve;
  });
  const writeStart = performance.now();
  await write(url, writes);
  const written = performance.now();
  await allSeen;
  print({ syncMs, writeMs: written - writeStart, seenMs: performance.now() - written, ...held });
  stop();
}

/** Ends pods; the controller's machine sees that. */
async function write(server: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight, rejectUnauthorized: false });
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await patch(server, agent, index);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  agent.destroy();
}

function patch(server: string, agent: Agent, index: number): Promise<void> {
  const path = `${podPath(index)}/status`;
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/merge-patch+json',
    };
    const sent = httpsRequest(`${server}${path}`, { method: 'PATCH', agent, headers });
    sent.once('error', reject);
    sent.once('response', (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${path}: ${response.statusCode}`));
      });
    });
    sent.end(JSON.stringify({ status: { phase: 'Succeeded' } }));
  });
}

const [role, kubeconfig = ''] = process.argv.slice(2);
if (role === 'server') await runServer();
else if (role === 'controller') await runController(kubeconfig);
else await compare();

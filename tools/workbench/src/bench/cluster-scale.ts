// A cluster of 5,000 nodes and 150,000 pods in one process, our controller's loop in another, HTTPS
// between them. npm run bench -- cluster-scale
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { createEngine } from '@taintmgr/core';
import { drive, HttpTransport, Loop, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { startEmbedded } from '@taintmgr/sim-cluster';
import { nodeObjects, podObject } from './cluster-objects.ts';
import { printTable, short } from './measure.ts';

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
  const server = spawn(process.execPath, [...flags, import.meta.filename, 'server'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { kubeconfig, loadMs, ...idle } = await nextLine<Loaded>(server);
  const client = spawnSync(
    process.execPath,
    [...flags, import.meta.filename, 'controller', kubeconfig],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (client.status !== 0) throw new Error('the controller failed');
  const synced: Synced = JSON.parse(client.stdout);
  server.stdin?.write('\n');
  const busy = await nextLine<Memory>(server);
  server.stdin?.end();
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
const mega = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

async function nextLine<T>(child: ChildProcess): Promise<T> {
  let text = '';
  while (!text.includes('\n')) {
    const [chunk] = await once(child.stdout ?? child, 'data');
    text += String(chunk);
  }
  return JSON.parse(text);
}

function memory(): Memory {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: rss };
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function runServer(): Promise<void> {
  const snapshot = [
    ...nodeObjects(pods),
    ...Array.from({ length: pods }, (_, index) => podObject(index)),
  ];
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
  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, 'taintmgr/bench');
  const engine = createEngine();
  let seen = 0;
  let onSeen = (): void => {};
  const machine = {
    handle: (now: number, event: Parameters<typeof engine.handle>[1]) => {
      if (event.kind === 'podUpsert' && ++seen === pods + writes) onSeen();
      return engine.handle(now, event);
    },
    nextWake: () => engine.nextWake(),
  };
  const loop = new Loop({ machine, random: Math.random });
  const stop = new AbortController();
  const start = performance.now();
  const synced = new Promise<void>((resolve) => {
    const onNotice = ({ kind }: { readonly kind: string }): void => {
      if (kind === 'synced') resolve();
    };
    void drive({ loop, transport, signal: stop.signal, onNotice });
  });
  await synced;
  const syncMs = performance.now() - start;
  const held = memory();
  const allSeen = new Promise<void>((resolve) => {
    onSeen = resolve;
  });
  const writeStart = performance.now();
  await write(access.server, writes);
  const written = performance.now();
  await allSeen;
  print({ syncMs, writeMs: written - writeStart, seenMs: performance.now() - written, ...held });
  stop.abort();
  transport.close();
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
  const name = `service-${index % 500}-7d9c5b8f6b-${index.toString(36).padStart(5, 'x')}`;
  const path = `/api/v1/namespaces/team-${index % 40}-production/pods/${name}/status`;
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

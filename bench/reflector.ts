// Following all pods of a cluster: our loop, in JSON and in protobuf, beside the informer of the
// stock client library. Each in a process of its own, against one that makes pods of about 10 kB.
// npm run bench -- reflector
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from '@kubernetes/client-node';
import { createEngine } from '@taintmgr/core';
import { drive, HttpTransport, Loop, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { printTable, short } from './measure.ts';
import { startPodServer } from './pod-server.ts';

const sizes = [5_000, 50_000, 150_000];
const events = 20_000;
/** Compiled before it counts. */
const warmUpEvents = 2_000;

/** Begins to follow. */
type Follow = (kubeconfig: string, followed: Followed) => Promise<void>;

/** What is told of it. */
interface Followed {
  /** Everything is there. */
  readonly onSynced: () => void;
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
}

const contenders: readonly (readonly [name: string, title: string, Follow])[] = [
  ['json', 'ours, JSON', (kubeconfig, followed) => ours(kubeconfig, followed, false)],
  ['protobuf', 'ours, protobuf', (kubeconfig, followed) => ours(kubeconfig, followed, true)],
  ['stock', 'stock informer', stock],
];

/** The loop with its engine: what a controller of ours does, and holds. */
async function ours(kubeconfig: string, followed: Followed, protobuf: boolean): Promise<void> {
  const { access } = await loadKubeconfig({ kubeconfig });
  const engine = createEngine();
  const loop = new Loop({
    machine: {
      nextWake: () => engine.nextWake(),
      handle: (now, event) => {
        const commands = engine.handle(now, event);
        if (event.kind === 'podUpsert') followed.onChange();
        return commands;
      },
    },
    random: Math.random,
    protobuf,
  });
  drive({
    loop,
    transport: new HttpTransport(access, 'taintmgr/bench'),
    signal: new AbortController().signal,
    onNotice: (notice) => {
      if (notice.kind === 'synced') followed.onSynced();
      if (notice.kind === 'reconnecting') followed.onFailure(notice.failure.message);
    },
  }).catch(followed.onFailure);
}

/** The informer as its documentation shows it. */
async function stock(kubeconfig: string, followed: Followed): Promise<void> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer<V1Pod>(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
  informer.on('update', followed.onChange);
  informer.on('error', followed.onFailure);
  informer.start().then(followed.onSynced, followed.onFailure);
}

interface Row {
  readonly syncMs: number;
  readonly syncCpuMs: number;
  /** Of the pods that are held; not of the program, which was there before. */
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly eventCpuMs: number;
}

type Message =
  | { readonly kind: 'ready'; readonly kubeconfig: string }
  | { readonly kind: 'synced' }
  | { readonly kind: 'warm' }
  | { readonly kind: 'done'; readonly row: Row }
  | { readonly kind: 'failed'; readonly reason: string };

async function compare(): Promise<void> {
  process.stdout.write(`reflector: following all pods; ${short(events)} changes of them\n`);
  const rows: (readonly string[])[] = [];
  for (const pods of sizes) {
    for (const [name, title] of contenders) {
      const measured = await measure(name, pods);
      const cells = typeof measured === 'string' ? ['fails', measured] : cellsOf(measured, pods);
      rows.push([`${title}, ${short(pods)} pods`, ...cells]);
    }
  }
  const head = ['held per pod', 'CPU per event', 'synced after', 'CPU per pod', 'resident'];
  printTable(['', ...head], rows);
}

function cellsOf({ heapBytes, eventCpuMs, syncMs, syncCpuMs, rssBytes }: Row, pods: number) {
  return [
    `${Math.round(heapBytes / pods)} B`,
    `${Math.round((1000 * eventCpuMs) / events)} us`,
    `${(syncMs / 1000).toFixed(1)} s`,
    `${Math.round((1000 * syncCpuMs) / pods)} us`,
    `${Math.round(rssBytes / 1e6)} MB`,
  ];
}

/** The reason why it fails, where it does. */
async function measure(name: string, pods: number): Promise<Row | string> {
  const server = start('serve', pods);
  const [{ kubeconfig }] = await once(server, 'message');
  const follower = start(name, kubeconfig);
  const result = new Promise<Row | string>((resolve) => {
    follower.on('message', (message: Message) => {
      if (message.kind === 'synced') server.send(warmUpEvents);
      else if (message.kind === 'warm') server.send(events);
      else if (message.kind === 'done') resolve(message.row);
      else if (message.kind === 'failed') resolve(message.reason);
    });
    follower.on('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
  const measured = await result;
  for (const child of [follower, server]) child.kill('SIGKILL');
  return measured;
}

function start(role: string, argument: string | number): ChildProcess {
  const execArgv = ['-C', '@taintmgr/source', '--expose-gc'];
  return fork(import.meta.filename, [role, String(argument)], { execArgv });
}

function tell(message: Message): void {
  process.send?.(message);
}

async function serve(pods: number): Promise<void> {
  const server = await startPodServer(pods);
  process.on('message', (count) => void server.touch(Number(count)));
  tell({ kind: 'ready', kubeconfig: server.kubeconfig });
}

async function follow(begin: Follow, kubeconfig: string): Promise<void> {
  const emptyBytes = heldBytes();
  const startedAt = performance.now();
  const before = cpuMs();
  let synced: Pick<Row, 'syncMs' | 'syncCpuMs' | 'heapBytes' | 'rssBytes'> | null = null;
  let eventsBegin = 0;
  let changes = 0;
  await begin(kubeconfig, {
    onFailure: (error) => tell({ kind: 'failed', reason: String(error) }),
    onSynced: () => {
      const [syncMs, syncCpuMs] = [performance.now() - startedAt, cpuMs() - before];
      const rssBytes = process.resourceUsage().maxRSS * 1024;
      // Once what came with the last chunk is over, and let go.
      setTimeout(() => {
        synced = { syncMs, syncCpuMs, rssBytes, heapBytes: heldBytes() - emptyBytes };
        tell({ kind: 'synced' });
      }, 1000);
    },
    onChange: () => {
      if (!synced) return;
      changes += 1;
      if (changes === warmUpEvents) {
        eventsBegin = cpuMs();
        tell({ kind: 'warm' });
      } else if (changes === warmUpEvents + events) {
        tell({ kind: 'done', row: { ...synced, eventCpuMs: cpuMs() - eventsBegin } });
      }
    },
  });
}

function heldBytes(): number {
  const collect = globalThis.gc;
  if (!collect) throw new Error('run with --expose-gc');
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const [role, argument = ''] = process.argv.slice(2);
const contender = contenders.find(([name]) => name === role);
if (contender) await follow(contender[2], argument);
else if (role === 'serve') await serve(Number(argument));
else await compare();

// Following all pods of a cluster: our loop, in JSON and in protobuf, beside the informer of the
// stock client library. Each in a process of its own, against one that makes pods of about 10 kB.
// npm run bench -- reflector; by hand it takes --pods 5000,50000,150000.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from '@kubernetes/client-node';
import { mega, printTable, short } from './measure.ts';
import { startOurLoop } from './our-loop.ts';
import { type Form, startPodServer } from './pod-server.ts';

const { values, positionals } = parseArgs({
  options: { pods: { type: 'string', default: '5000,50000,150000' } },
  allowPositionals: true,
});
const sizes = values.pods.split(',').map(Number);
const events = 20_000;
const rounds = 3;
/** Compiled before it counts: a small cluster is followed first, and some changes of the large one. */
const warmUpPods = 500;
const warmUpEvents = 2_000;

/** Then what came with the last chunk is over, and let go. */
const restMs = 1000;

/** Begins to follow. */
type Follow = (kubeconfig: string, followed: Followed) => Promise<void>;

/** What it reports. */
interface Followed {
  /** Everything is there. */
  readonly onSynced: () => void;
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
}

const contenders: readonly (readonly [form: Form, title: string, Follow])[] = [
  ['json', 'ours, JSON', (kubeconfig, followed) => ours(kubeconfig, followed, false)],
  ['protobuf', 'ours, protobuf', (kubeconfig, followed) => ours(kubeconfig, followed, true)],
  ['list', 'stock informer', stock],
];

/** The loop with its engine: what a controller of ours does, and holds. */
async function ours(kubeconfig: string, followed: Followed, protobuf: boolean): Promise<void> {
  const { onSynced, onChange: onPod, onFailure } = followed;
  startOurLoop(kubeconfig, {
    protobuf,
    onPod,
    onNotice: (notice) => {
      if (notice.kind === 'reconnecting') onFailure(notice.failure.message);
    },
  }).then(onSynced, onFailure);
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
  | { readonly kind: 'ready'; readonly kubeconfigs: readonly string[] }
  | { readonly kind: 'synced' }
  | { readonly kind: 'warm' }
  | { readonly kind: 'done'; readonly row: Row }
  | { readonly kind: 'failed'; readonly reason: string };

async function compare(): Promise<void> {
  process.stdout.write(
    `reflector: following all pods; ${short(events)} changes, the best of ${rounds}\n`,
  );
  const rows: (readonly string[])[] = [];
  const failures: string[] = [];
  for (const pods of sizes) {
    for (const [form, contender] of contenders) {
      const title = `${contender}, ${short(pods)} pods`;
      const measured = await measure(form, pods);
      const hasFailed = typeof measured === 'string';
      rows.push([title, ...(hasFailed ? ['fails'] : cellsOf(measured, pods))]);
      if (hasFailed) failures.push(`${title}: ${measured}\n`);
    }
  }
  const head = ['held per pod', 'CPU per event', 'synced after', 'CPU per pod', 'resident'];
  printTable(['', ...head], rows);
  process.stdout.write(failures.join(''));
}

function cellsOf({ heapBytes, eventCpuMs, syncMs, syncCpuMs, rssBytes }: Row, pods: number) {
  return [
    `${Math.round(heapBytes / pods)} B`,
    `${Math.round((1000 * eventCpuMs) / events)} us`,
    `${(syncMs / 1000).toFixed(1)} s`,
    `${Math.round((1000 * syncCpuMs) / pods)} us`,
    mega(rssBytes),
  ];
}

/** The reason why it fails, where it does. */
async function measure(form: Form, pods: number): Promise<Row | string> {
  const server = start('serve', form, pods);
  const [{ kubeconfigs }] = await once(server, 'message');
  const follower = start('follow', form, ...kubeconfigs);
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

function start(...args: readonly (string | number)[]): ChildProcess {
  const execArgv = ['-C', '@taintmgr/source', '--expose-gc'];
  return fork(import.meta.filename, args.map(String), { execArgv });
}

function report(message: Message): void {
  process.send?.(message);
}

async function serve(form: Form, pods: number): Promise<void> {
  const small = await startPodServer(warmUpPods, form);
  const large = await startPodServer(pods, form);
  process.on('message', (count) => void large.touch(Number(count)));
  report({ kind: 'ready', kubeconfigs: [small.kubeconfig, large.kubeconfig] });
}

async function warmUp(begin: Follow, kubeconfig: string): Promise<void> {
  await new Promise<void>((onSynced, onFailure) => {
    begin(kubeconfig, { onSynced, onFailure, onChange: () => {} }).catch(onFailure);
  });
  await setTimeout(restMs);
}

async function follow(begin: Follow, kubeconfig: string): Promise<void> {
  const emptyBytes = heldBytes();
  const startedAt = performance.now();
  const before = cpuMs();
  let synced: Pick<Row, 'syncMs' | 'syncCpuMs' | 'heapBytes' | 'rssBytes'> | null = null;
  let roundBegin = 0;
  let eventCpuMs = Number.POSITIVE_INFINITY;
  let changes = 0;
  let target = warmUpEvents;
  await begin(kubeconfig, {
    onFailure: (error) => report({ kind: 'failed', reason: String(error) }),
    onSynced: () => {
      const [syncMs, syncCpuMs] = [performance.now() - startedAt, cpuMs() - before];
      const rssBytes = process.resourceUsage().maxRSS * 1024;
      setTimeout(restMs).then(() => {
        synced = { syncMs, syncCpuMs, rssBytes, heapBytes: heldBytes() - emptyBytes };
        report({ kind: 'synced' });
      });
    },
    onChange: () => {
      if (!synced) return;
      changes += 1;
      if (changes < target) return;
      if (target > warmUpEvents) eventCpuMs = Math.min(eventCpuMs, cpuMs() - roundBegin);
      if (target === warmUpEvents + rounds * events) {
        report({ kind: 'done', row: { ...synced, eventCpuMs } });
        return;
      }
      target += events;
      roundBegin = cpuMs();
      report({ kind: 'warm' });
    },
  });
}

function heldBytes(): number {
  const collect = globalThis.gc;
  if (!collect) throw new Error('run with --expose-gc');
  collect();
  collect();
  // What is outside of the heap are buffers under way.
  return process.memoryUsage().heapUsed;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const [role, form, ...args] = positionals;
const contender = contenders.find(([name]) => name === form);
if (!contender) await compare();
else if (role === 'serve') await serve(contender[0], Number(args[0]));
else {
  const [small = '', large = ''] = args;
  await warmUp(contender[2], small);
  await follow(contender[2], large);
}

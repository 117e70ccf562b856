// Measures the harm that others can do to the controller: 1,000 connections that say nothing, 50
// connections with 900 pipelined requests with a token each, 300 with an endless body or empty
// lines, and a kubelet that answers with 230 MB. Prints the time that /livez takes meanwhile, and
// the greatest memory of the process. npm run bench -- floods; alone it takes --seconds 15
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '@taintmgr/controller/test/harness/free-port.ts';
import { node } from '@taintmgr/sim-cluster';
import { Child, measured, mega, printTable } from './measure.ts';
import { createApi, serveApi } from './served-api.ts';

const source = ['-C', '@taintmgr/source'];
const controller = `${import.meta.dirname}/../../../../apps/controller/src/main.ts`;
const probeMs = 100;
const answerMsMax = 20_000;
const megabyte = 1_000_000;
const summaryMegabytes = 230;

interface Ports {
  readonly secure: number;
  readonly health: number;
}

interface Measured {
  readonly rssBytes: number;
  /** The times of /livez, one for each request. */
  readonly health: readonly number[];
  readonly secure: readonly number[];
}

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '15' } } });
const seconds = Number(values.seconds);

const idle = await measure(async () => wait(2000));
const floods: Readonly<Record<string, Measured>> = {
  'left alone': idle,
  '1,000 idle connections': await measure((ports) => flood('idle', ports)),
  '50 connections with 900 requests': await measure((ports) => flood('pipelined', ports)),
  '300 endless bodies': await measure((ports) => flood('body', ports)),
  'empty lines on 300 connections': await measure((ports) => flood('lines', ports)),
};
process.stdout.write(`floods: ${seconds} s each\n`);
const heads = [
  '',
  '/livez: median, slowest',
  'over TLS',
  'unanswered',
  'over TLS',
  'resident at most',
];
printTable(
  heads,
  Object.entries(floods).map(([title, { health, secure, rssBytes }]) => [
    title,
    ...[times(health), times(secure), unanswered(health), unanswered(secure)],
    mega(rssBytes),
  ]),
);
const [with1, without] = [await kubelet(summaryMegabytes), await kubelet(0)];
process.stdout.write(
  `\nkubelet: ${mega(without)} at most beside one that answers nothing, ` +
    `${mega(with1)} beside one that answers with ${summaryMegabytes} MB\n`,
);

/** Runs the controller while something happens to it. */
async function measure(happen: (ports: Ports) => Promise<unknown>): Promise<Measured> {
  const api = createApi();
  const served = await serveApi(api);
  const ports = { secure: await freePort(), health: await freePort() };
  const flags = ['--bind-address=127.0.0.1', `--secure-port=${ports.secure}`];
  flags.push(`--healthz-port=${ports.health}`);
  const child = await startController(served.kubeconfig, flags);
  const health = probe((proceed) => getPlain(`http://127.0.0.1:${ports.health}/livez`, proceed));
  const where = { agent: false, rejectUnauthorized: false };
  const secure = probe((proceed) =>
    getSecure(`https://127.0.0.1:${ports.secure}/livez`, where, proceed),
  );
  await happen(ports);
  const [ofHealth, ofSecure] = await Promise.all([health(), secure()]);
  const { rssBytes } = await child.usage();
  await child.end();
  await served.close();
  return { rssBytes, health: ofHealth, secure: ofSecure };
}

async function flood(kind: string, { secure }: Ports): Promise<void> {
  const peer = new Child(
    `${import.meta.dirname}/flood-peer.ts`,
    kind,
    String(secure),
    String(seconds),
  );
  await peer.next();
  await peer.end();
}

/**
 * The memory of a controller that asks the kubelet of one node, which answers with so many
 * megabytes.
 */
async function kubelet(megabytes: number): Promise<number> {
  const api = createApi();
  api.create('nodes', node('hostile'));
  let asked = 0;
  const { exchange } = api;
  const served = await serveApi({
    exchange: (request, sink) => {
      if (!request.path.endsWith('/stats/summary')) return exchange(request, sink);
      asked += 1;
      sink.head(200, { 'content-type': 'application/json' });
      for (const part of summaryParts(megabytes)) sink.data(part);
      sink.end();
      return () => {};
    },
  });
  const flags = ['--secure-port=0', '--controllers=node-pressure-controller'];
  flags.push('--eviction-hard=memory.available<1Gi', '--summary-period=1s');
  const child = await startController(served.kubeconfig, flags);
  while (asked === 0) await wait(100);
  await wait(seconds * 1000);
  const { rssBytes } = await child.usage();
  await child.end();
  await served.close();
  return rssBytes;
}

function* summaryParts(megabytes: number): Iterable<string> {
  yield '{"node":{"nodeName":"hostile"},"pods":[{}';
  const part = ',{"podRef":{}}'.repeat(megabyte / 14);
  for (let count = 0; count < megabytes; count += 1) yield part;
  yield ']}';
}

async function startController(kubeconfig: string, flags: readonly string[]): Promise<Child> {
  const own = ['--kubeconfig', kubeconfig, '--leader-elect=false', '--allow-overlap'];
  const child = new Child(...source, ...measured, controller, ...own, ...flags);
  await child.said('synced');
  return child;
}

type Get = (proceed: (response: { resume(): unknown }) => void) => ReturnType<typeof getPlain>;

/** Asks repeatedly, over a new connection each time, until the returned function is called. */
function probe(get: Get): () => Promise<readonly number[]> {
  const taken: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      taken.push(await timeOf(get));
      await wait(probeMs);
    }
  })();
  return async () => {
    isOver = true;
    await asking;
    return taken;
  };
}

/** Infinity: no answer. */
function timeOf(get: Get): Promise<number> {
  const start = performance.now();
  return new Promise((resolve) => {
    const request = get((response) => {
      response.resume();
      resolve(performance.now() - start);
    });
    request.setTimeout(answerMsMax, () => request.destroy());
    request.once('error', () => resolve(Number.POSITIVE_INFINITY));
  });
}

/** The median, and the slowest. */
function times(taken: readonly number[]): string {
  const answered = taken.filter(Number.isFinite).toSorted((one, other) => one - other);
  const median = answered[Math.floor(answered.length / 2)] ?? 0;
  return `${Math.round(median)}, ${Math.round(answered.at(-1) ?? 0)} ms`;
}

function unanswered(taken: readonly number[]): string {
  return `${taken.filter((one) => one === Number.POSITIVE_INFINITY).length} of ${taken.length}`;
}

// The feeder: an API server for the largest clusters there are, in a process of its own. Nodes, pods
// and leases are made when they are asked for; the rest is the simulated API server's. Arguments:
// nodes, pods, nodes of the zone that fails, seconds that pods stay on a lost node.
import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { createInterface } from 'node:readline';
import { type ApiServer, createCertificate } from '@taintmgr/sim-cluster';
import { createApi, print, servedAt } from '../served-api.ts';
import { bodyOf, Collections, type Write } from './collections.ts';
import { Heart, type Rates } from './heart.ts';
import { namespaceNames, World } from './world.ts';

/** What the feeder is told, one line each. */
export type Order =
  /** So many changes each second from now on. */
  | ({ readonly kind: 'rates' } & Rates)
  /** The zone fails: its nodes are heard of no more. */
  | { readonly kind: 'fail' }
  | { readonly kind: 'report' };

/** What it answers to `report`. */
export interface Report {
  /** Changes that were sent since the last report. */
  readonly changes: number;
  /** Writes by kind since the zone failed, and when the first came, in milliseconds. */
  readonly writes: Readonly<Record<string, { readonly count: number; readonly firstMs: number }>>;
  /** When nodes got taints NoExecute since the zone failed, in milliseconds. */
  readonly taintedAt: readonly number[];
  readonly requests: number;
  readonly unread: number;
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** What waits in all streams of a connection; beyond it Node refuses new ones. */
const sessionMegabytes = 1000;

const [nodes = 0, pods = 0, failing = 0, tolerationSeconds = 0] = process.argv.slice(2).map(Number);
const world = new World({ nodes, pods, failing, tolerationSeconds });
const writes = new Map<string, { count: number; firstMs: number }>();
const taintedAt: number[] = [];
let failedAt = 0;
let requests = 0;

const collections = new Collections(world, (write: Write) => {
  const ms = performance.now() - failedAt;
  const isTaint = write.kind === 'nodeTaints' && write.noExecute;
  if (isTaint) taintedAt.push(ms);
  const kind = isTaint ? 'nodeNoExecute' : write.kind;
  const entry = writes.get(kind) ?? { count: 0, firstMs: ms };
  entry.count += 1;
  writes.set(kind, entry);
});
const heart = new Heart(world, collections);

const api = createApi();
const { unloaded } = api.load(
  namespaceNames().map((name) => {
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {} };
  }),
);
if (unloaded[0]) throw new Error(`namespace ${unloaded[0].name}: ${unloaded[0].reason}`);
const certificate = createCertificate(Date.now());
const server = createSecureServer({
  cert: certificate.certificate,
  key: certificate.key,
  maxSessionMemory: sessionMegabytes,
});
server.on('stream', (stream, headers) => {
  requests += 1;
  stream.on('error', () => {});
  if (!collections.serve(stream, headers)) void pass(api, stream, headers);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('no port');
const url = `https://127.0.0.1:${address.port}`;
const { kubeconfig } = servedAt(url, certificate.ca, async () => {});
print({ kubeconfig });
for await (const line of createInterface(process.stdin)) take(JSON.parse(line));
process.exit();

function take(order: Order): void {
  switch (order.kind) {
    case 'rates':
      heart.beat(order);
      break;
    case 'fail':
      failedAt = performance.now();
      writes.clear();
      taintedAt.length = 0;
      heart.fail();
      break;
    case 'report':
      print({
        changes: heart.takeChanges(),
        writes: Object.fromEntries(writes),
        taintedAt,
        requests,
        unread: collections.unread,
        rssBytes: process.memoryUsage.rss(),
        cpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1000,
      } satisfies Report);
  }
}

/** To the simulated API server, which has everything else. */
async function pass(
  { exchange }: ApiServer,
  stream: ServerHttp2Stream,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Promise<void> {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  const plain = Object.fromEntries(texts);
  const { ':method': method = 'GET', ':path': path = '/' } = plain;
  const body = await bodyOf(stream);
  if (body === null) return;
  const hangUp = exchange(
    { method, path, headers: plain, body: body === '' ? null : body },
    {
      head: (status, fields) => {
        if (!stream.destroyed) stream.respond({ ...fields, ':status': status });
      },
      data: (chunk) => {
        if (!stream.destroyed) stream.write(chunk);
      },
      end: () => stream.end(),
      reset: () => stream.close(),
    },
  );
  stream.once('close', hangUp);
}

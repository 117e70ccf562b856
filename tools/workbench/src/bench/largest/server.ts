// The feeder: an API server for the largest clusters there are, in a separate process. Nodes, pods
// and leases are made when they are asked for; the rest is the simulated API server's. Arguments:
// nodes, pods, nodes of the zone that fails, seconds that pods stay on a lost node.

import { once } from 'node:events';
import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type ApiServer, createCertificate } from '@taintmgr/api-server';
import { createApi, print, servedAt } from '../served-api.ts';
import { bytesOf, type Form, type Kind, namespaceNames, type ObjectRef, World } from './world.ts';

// The large collections of the feeder: lists in pages, watches, single objects and their writes,
// over HTTP/2.

interface Watch {
  readonly kind: Kind;
  readonly form: Form;
  /** The node of these pods; null: all nodes. */
  readonly node: number | null;
  readonly stream: ServerHttp2Stream;
}

/** A write of another program. */
type Write =
  | { readonly kind: 'nodeStatus' }
  | { readonly kind: 'nodeTaints'; readonly noExecute: boolean }
  | { readonly kind: 'podUnready' }
  | { readonly kind: 'podMarked' }
  | { readonly kind: 'podGone' };

const protobufType = 'application/vnd.kubernetes.protobuf';
const apiVersions = { nodes: 'v1', pods: 'v1', leases: 'coordination.k8s.io/v1' } as const;
const kindNames = { nodes: 'Node', pods: 'Pod', leases: 'Lease' } as const;
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const routes: readonly (readonly [path: RegExp, kind: Kind])[] = [
  [/^\/api\/v1\/(?:nodes|nodes\/ip-10-(\d+)-[^/]*(?:\/status)?)$/, 'nodes'],
  [/^\/api\/v1\/(?:pods|namespaces\/team-[^/]*\/pods\/[^/]*-([0-9a-z]{5})(?:\/\w+)?)$/, 'pods'],
  [new RegExp(`^${leasesPath}(?:/ip-10-(\\d+)-[^/]*)?$`), 'leases'],
];
/** Objects of a list under way are sent so many at once. */
const together = 16;
const bookmarkMs = 30_000;

/** Serves nodes, pods and the leases of nodes. */
class Collections {
  readonly #world: World;
  readonly #watches = new Set<Watch>();
  readonly #onWrite: (write: Write) => void;
  readonly #bookmarks: NodeJS.Timeout;

  constructor(world: World, onWrite: (write: Write) => void) {
    this.#world = world;
    this.#onWrite = onWrite;
    this.#bookmarks = setInterval(() => this.#bookmark(), bookmarkMs);
    this.#bookmarks.unref();
  }

  /** The number of bytes that wait for clients to read them. */
  get unread(): number {
    return Array.from(this.#watches, ({ stream }) => stream.writableLength).reduce(
      (sum, bytes) => sum + bytes,
      0,
    );
  }

  /** Sends an event to all watches. */
  emit(ref: ObjectRef, type = 'MODIFIED'): void {
    const node = ref.kind === 'pods' ? this.#world.nodeOf(ref.index) : null;
    for (const watch of this.#watches) {
      if (watch.kind !== ref.kind) continue;
      if (watch.node !== null && watch.node !== node) continue;
      watch.stream.write(this.#world.write(ref, watch.form, type));
    }
  }

  /** Answers the request if it is about these collections. */
  serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    const url = new URL(headers[':path'] ?? '', 'https://server');
    for (const [path, kind] of routes) {
      const match = path.exec(url.pathname);
      if (!match) continue;
      const name = match[1];
      if (name === undefined) this.#collection(stream, kind, url.searchParams, headers);
      else {
        const index = Number.parseInt(name, kind === 'pods' ? 36 : 10);
        void this.#object(stream, { kind, index }, url.pathname, headers);
      }
      return true;
    }
    return false;
  }

  #collection(
    stream: ServerHttp2Stream,
    kind: Kind,
    query: URLSearchParams,
    headers: IncomingHttpHeaders,
  ): void {
    const selected = /^spec\.nodeName=ip-10-(\d+)-/.exec(query.get('fieldSelector') ?? '')?.[1];
    const node = selected === undefined ? null : Number(selected);
    if (query.get('watch') !== 'true') {
      this.#list(stream, kind, node, query);
      return;
    }
    const form = headers.accept?.includes(protobufType) ? 'protobuf' : 'json';
    const type = form === 'protobuf' ? `${protobufType};stream=watch` : 'application/json';
    stream.respond({ ':status': 200, 'content-type': type });
    const watch: Watch = { kind, form, node, stream };
    this.#watches.add(watch);
    const timer = setTimeout(() => stream.end(), 1000 * Number(query.get('timeoutSeconds') ?? 600));
    stream.once('close', () => {
      clearTimeout(timer);
      this.#watches.delete(watch);
    });
    if (query.has('sendInitialEvents')) void this.#begin(watch);
  }

  async #begin(watch: Watch): Promise<void> {
    const { stream } = watch;
    const parts: Buffer[] = [];
    for (const index of this.#indexes(watch.kind, watch.node)) {
      const ref = { kind: watch.kind, index };
      if (this.#world.exists(ref)) parts.push(this.#world.write(ref, watch.form, 'ADDED'));
      if (parts.length < together) continue;
      if (stream.destroyed) return;
      if (!stream.write(Buffer.concat(parts.splice(0)))) await drained(stream);
    }
    stream.write(Buffer.concat(parts));
    this.#bookmarkOn(watch, { 'k8s.io/initial-events-end': 'true' });
  }

  *#indexes(kind: Kind, node: number | null): Iterable<number> {
    if (node !== null) yield* this.#world.podsOn(node);
    else for (let index = 0; index < this.#world.count(kind); index++) yield index;
  }

  #bookmark(): void {
    for (const watch of this.#watches) this.#bookmarkOn(watch);
  }

  #bookmarkOn({ kind, form, stream }: Watch, annotations: object = {}): void {
    const metadata = { resourceVersion: String(this.#world.version), annotations };
    const object = { kind: kindNames[kind], apiVersion: apiVersions[kind], metadata };
    stream.write(bytesOf(form, 'BOOKMARK', object));
  }

  #list(stream: ServerHttp2Stream, kind: Kind, node: number | null, query: URLSearchParams): void {
    const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
    const from = Number(query.get('continue') ?? 0);
    const all = node === null ? null : this.#world.podsOn(node);
    const count = all?.length ?? this.#world.count(kind);
    const end = Math.min(count, from + limit);
    const items: Buffer[] = [];
    for (let at = from; at < end; at++) {
      const ref = { kind, index: all?.[at] ?? at };
      if (this.#world.exists(ref)) items.push(this.#world.write(ref, 'object'));
    }
    const metadata = {
      resourceVersion: String(this.#world.version),
      ...(end < count && { continue: String(end), remainingItemCount: count - end }),
    };
    const head = { kind: `${kindNames[kind]}List`, apiVersion: apiVersions[kind], metadata };
    const parts = items.flatMap((item, at) => (at > 0 ? [Buffer.from(','), item] : [item]));
    const opening = `${JSON.stringify(head).slice(0, -1)},"items":[`;
    answer(stream, 200, Buffer.concat([Buffer.from(opening), ...parts, Buffer.from(']}')]));
  }

  async #object(
    stream: ServerHttp2Stream,
    ref: ObjectRef,
    path: string,
    headers: IncomingHttpHeaders,
  ): Promise<void> {
    const body = await bodyOf(stream);
    // After the client gives up, the body may be only a part.
    if (body === null || stream.aborted) return;
    if (!this.#world.exists(ref)) {
      answer(stream, 404, status(404, 'NotFound'));
      return;
    }
    const code = this.#write(ref, headers[':method'] ?? 'GET', path, body);
    const isRefused = code >= 400;
    answer(stream, code, isRefused ? status(code, 'Conflict') : this.#world.write(ref, 'object'));
  }

  /** The status code of the answer. */
  #write(ref: ObjectRef, method: string, path: string, body: string): number {
    const { kind, index } = ref;
    if (method === 'GET' || kind === 'leases') return 200;
    if (kind === 'nodes') return this.#writeNode(ref, JSON.parse(body));
    if (method === 'DELETE' || path.endsWith('/eviction')) {
      this.#world.remove(index);
      this.emit(ref, 'DELETED');
      this.#onWrite({ kind: 'podGone' });
      return method === 'DELETE' ? 200 : 201;
    }
    if (method === 'PATCH') this.#world.mark(index);
    else this.#world.unready(index);
    this.emit(ref);
    this.#onWrite({ kind: method === 'PATCH' ? 'podMarked' : 'podUnready' });
    return 200;
  }

  /** A status as a whole, or some of the taints, labels and annotations. */
  #writeNode(ref: ObjectRef, body: NodeBody): number {
    const { resourceVersion } = body.metadata ?? {};
    const isOld = resourceVersion !== undefined && resourceVersion !== this.#world.versionOf(ref);
    if (isOld) return 409;
    const before: NodeBody = JSON.parse(this.#world.write(ref, 'object').toString());
    const labels = { ...before.metadata?.labels, ...body.metadata?.labels };
    const annotations = { ...before.metadata?.annotations, ...body.metadata?.annotations };
    const metadata = { ...before.metadata, labels, annotations };
    const spec = { ...before.spec, ...body.spec };
    const taints = body.spec && 'taints' in body.spec ? (body.spec.taints ?? []) : null;
    this.#world.put(ref.index, { ...before, ...body, metadata, spec });
    this.emit(ref);
    if (body.status) this.#onWrite({ kind: 'nodeStatus' });
    else if (taints) {
      const noExecute = taints.some(({ effect }) => effect === 'NoExecute');
      this.#onWrite({ kind: 'nodeTaints', noExecute });
    }
    return 200;
  }
}

/** A node, or the fields of one that are to change. */
interface NodeBody {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly labels?: object;
    readonly annotations?: object;
  };
  readonly spec?: { readonly taints?: readonly { readonly effect: string }[] | null };
  readonly status?: object;
  readonly [field: string]: unknown;
}

/** All that a client sends; null: it hung up before. */
function bodyOf(stream: ServerHttp2Stream): Promise<string | null> {
  return text(stream).catch(() => null);
}

function answer(stream: ServerHttp2Stream, code: number, body: Buffer | string): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': code, 'content-type': 'application/json' });
  stream.end(body);
}

function status(code: number, reason: string): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason });
}

async function drained(stream: ServerHttp2Stream): Promise<void> {
  const gone = new AbortController();
  const closed = (): void => gone.abort();
  stream.once('close', closed);
  await once(stream, 'drain', { signal: gone.signal }).catch(() => {});
  stream.off('close', closed);
}

/** Changes each second. */
export type Rates = Readonly<Record<Kind, number>>;

const beatMs = 20;
/** More than a client may leave unread: then nothing changes, until it has caught up. */
const unreadMax = 8 * 1024 * 1024;

/** Changes objects of each kind evenly, one after the other. */
class Heart {
  readonly #world: World;
  readonly #collections: Collections;
  #rates: Rates = { nodes: 0, pods: 0, leases: 0 };
  readonly #next: Record<Kind, number> = { nodes: 0, pods: 0, leases: 0 };
  readonly #due: Record<Kind, number> = { nodes: 0, pods: 0, leases: 0 };
  #changes = 0;
  #failed = false;
  #beatAt: number = performance.now();

  constructor(world: World, collections: Collections) {
    this.#world = world;
    this.#collections = collections;
    setInterval(() => this.#once(), beatMs);
  }

  beat(rates: Rates): void {
    this.#rates = rates;
  }

  /** The first zone is heard of no more. */
  fail(): void {
    this.#failed = true;
  }

  takeChanges(): number {
    const changes = this.#changes;
    this.#changes = 0;
    return changes;
  }

  #once(): void {
    const now = performance.now();
    const seconds = (now - this.#beatAt) / 1000;
    this.#beatAt = now;
    if (this.#collections.unread > unreadMax) return;
    for (const kind of ['leases', 'nodes', 'pods'] as const) this.#change(kind, seconds);
  }

  #change(kind: Kind, seconds: number): void {
    this.#due[kind] += this.#rates[kind] * seconds;
    for (; this.#due[kind] >= 1; this.#due[kind] -= 1) {
      const index = this.#next[kind] % this.#world.count(kind);
      // A prime: pods that change do not all stand on neighbouring nodes.
      this.#next[kind] += kind === 'pods' ? 7919 : 1;
      const ref = { kind, index };
      if (!this.#world.exists(ref) || this.#isLost(kind, index)) continue;
      this.#world.change(ref);
      this.#collections.emit(ref);
      this.#changes += 1;
    }
  }

  #isLost(kind: Kind, index: number): boolean {
    const node = kind === 'pods' ? this.#world.nodeOf(index) : index;
    return this.#failed && node < this.#world.size.failing;
  }
}

/** The orders to the feeder, one line each. */
export type Order =
  /** Sets the number of changes per second from now on. */
  | ({ readonly kind: 'rates' } & Rates)
  /** The zone fails: its nodes are heard of no more. */
  | { readonly kind: 'fail' }
  | { readonly kind: 'report' };

/** The answer to `report`. */
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

/** The data waiting in all streams of a connection; beyond it Node refuses new ones. */
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

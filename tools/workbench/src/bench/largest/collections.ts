// The large collections of the feeder: lists in pages, watches, single objects and what is written
// to them, over HTTP/2.
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { text } from 'node:stream/consumers';
import { bytesOf, type Form } from './forms.ts';
import type { Kind, ObjectRef, World } from './world.ts';

interface Watch {
  readonly kind: Kind;
  readonly form: Form;
  /** Whose pods these are; null: of all. */
  readonly node: number | null;
  readonly stream: ServerHttp2Stream;
}

/** What somebody wrote. */
export type Write =
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
export class Collections {
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

  /** How many bytes wait for clients to read them. */
  get unread(): number {
    return Array.from(this.#watches, ({ stream }) => stream.writableLength).reduce(
      (sum, bytes) => sum + bytes,
      0,
    );
  }

  /** Tells all who watch it. */
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
    // Where the client gave up, a part of it may be all there is.
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
export function bodyOf(stream: ServerHttp2Stream): Promise<string | null> {
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

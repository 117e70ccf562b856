// The API server of controller.ts: it has pods, taints all nodes on a signal, and prints when the
// pods began to terminate and the requests meanwhile; on another signal it waits for the Events
// about them. Arguments: pods, milliseconds that each request takes.
import type { ApiServer } from '@taintmgr/api-server';
import { nodeObjects, noExecute, podObjects } from './cluster-objects.ts';
import { createApi, serveParent } from './served-api.ts';

/** The result of a taint on all nodes. */
export interface Served {
  /** When the first write about a pod came, after the nodes were tainted. */
  readonly askedMs: number;
  /** When the first and the last pod began to terminate. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The number of requests begun until then, by verb and resource, e.g. `patch pods`. */
  readonly requests: Readonly<Record<string, number>>;
}

/** The later results. */
export interface Recorded {
  /** The number of pods with an Event. */
  readonly events: number;
  /** When the last of these was written, after the last pod began to terminate. */
  readonly ms: number;
}

/** Events that are not there by then do not come in time. */
const recordingMsMax = 90_000;

/** The server serves others first for a while, as many as make V8 compile its code. */
const warmingPods = 500;

const [pods, serviceMs] = process.argv.slice(2).map(Number);
if (pods === undefined || serviceMs === undefined) throw new Error('want: PODS SERVICE-MS');

/** An API server with so many pods, and the evictions of them. */
class Evictions {
  readonly api: ApiServer;
  readonly #count: number;
  readonly #requests = new Map<string, number>();
  readonly #recorded = new Set<string>();
  #recordedAt = 0;
  #evictedAt = 0;
  #askedAt = 0;

  constructor(count: number, requestMs: number) {
    this.#count = count;
    this.api = createApi({
      protobuf: true,
      serviceMs: ({ verb, resource }) => {
        const what = `${verb} ${resource?.plural ?? 'others'}`;
        this.#requests.set(what, (this.#requests.get(what) ?? 0) + 1);
        const isWrite = !['get', 'list', 'watch'].includes(verb);
        if (this.#askedAt === 0 && isWrite && resource?.plural === 'pods') {
          this.#askedAt = performance.now();
        }
        return verb === 'watch' ? 0 : requestMs;
      },
    });
    this.api.load([...nodeObjects(count), ...podObjects(count)]);
    this.api.subscribe(({ resource, object }) => {
      const about: unknown = Reflect.get(object, 'involvedObject');
      if (resource !== 'events' || typeof about !== 'object' || about === null) return;
      if (Reflect.get(about, 'kind') !== 'Pod') return;
      this.#recorded.add(String(Reflect.get(about, 'uid')));
      this.#recordedAt = performance.now();
    });
  }

  async evictAll(): Promise<Served> {
    this.#requests.clear();
    this.#askedAt = 0;
    const start = performance.now();
    let firstMs = 0;
    let left = this.#count;
    return new Promise((resolve) => {
      this.api.subscribe(({ resource, object, previous }) => {
        const leaves = object.metadata.deletionTimestamp !== undefined;
        if (resource !== 'pods' || !leaves || previous?.metadata.deletionTimestamp) return;
        this.#evictedAt = performance.now();
        const now = this.#evictedAt - start;
        if (left === this.#count) firstMs = now;
        left -= 1;
        if (left > 0) return;
        const counts = Object.fromEntries(this.#requests);
        resolve({ askedMs: this.#askedAt - start, firstMs, lastMs: now, requests: counts });
      });
      const taints = [noExecute('maintenance')];
      for (const node of this.api.list('nodes')) {
        this.api.update('nodes', { ...node, spec: { taints } });
      }
    });
  }

  async awaitEvents(): Promise<Recorded> {
    const end = performance.now() + recordingMsMax;
    while (this.#recorded.size < this.#count && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return {
      events: this.#recorded.size,
      ms: Math.max(0, this.#recordedAt - this.#evictedAt),
    };
  }
}

const warming = new Evictions(warmingPods, serviceMs);
await serveParent(warming.api, () => warming.evictAll());
const evictions = new Evictions(pods, serviceMs);
await serveParent(
  evictions.api,
  () => evictions.evictAll(),
  () => evictions.awaitEvents(),
);

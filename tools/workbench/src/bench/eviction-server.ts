// The API server of controller.ts: it has pods, taints all nodes on a signal, and says when the
// pods began to terminate and what was asked of it meanwhile; on another signal it waits for the
// Events about them. Arguments: pods, milliseconds that each request takes.
import { nodeObjects, noExecute, podObjects } from './cluster-objects.ts';
import { createApi, serveParent } from './served-api.ts';

/** What came of a taint on all nodes. */
export interface Served {
  /** When the first write about a pod came, after the nodes were tainted. */
  readonly askedMs: number;
  /** When the first and the last pod began to terminate. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** How many requests began until then, by verb and resource, e.g. `patch pods`. */
  readonly requests: Readonly<Record<string, number>>;
}

/** What came afterwards. */
export interface Recorded {
  /** How many pods an Event stands about. */
  readonly events: number;
  /** When the last of these was written, after the last pod began to terminate. */
  readonly ms: number;
}

/** Events that are not there by then do not come in time. */
const recordingMsMax = 90_000;

const [pods, serviceMs] = process.argv.slice(2).map(Number);
if (pods === undefined || serviceMs === undefined) throw new Error('want: PODS SERVICE-MS');
const requests = new Map<string, number>();
const recorded = new Set<string>();
let recordedAt = 0;
let evictedAt = 0;
let askedAt = 0;
const api = createApi({
  protobuf: true,
  serviceMs: ({ verb, resource }) => {
    const what = `${verb} ${resource?.plural ?? 'others'}`;
    requests.set(what, (requests.get(what) ?? 0) + 1);
    const isWrite = !['get', 'list', 'watch'].includes(verb);
    if (askedAt === 0 && isWrite && resource?.plural === 'pods') askedAt = performance.now();
    return verb === 'watch' ? 0 : serviceMs;
  },
});
api.load([...nodeObjects(pods), ...podObjects(pods)]);
api.subscribe(({ resource, object }) => {
  const about: unknown = Reflect.get(object, 'involvedObject');
  if (resource !== 'events' || typeof about !== 'object' || about === null) return;
  if (Reflect.get(about, 'kind') !== 'Pod') return;
  recorded.add(String(Reflect.get(about, 'uid')));
  recordedAt = performance.now();
});
await serveParent(
  api,
  () => evictAll(pods),
  () => awaitEvents(pods),
);

async function evictAll(count: number): Promise<Served> {
  requests.clear();
  askedAt = 0;
  const start = performance.now();
  let firstMs = 0;
  let left = count;
  return new Promise((resolve) => {
    api.subscribe(({ resource, object, previous }) => {
      const leaves = object.metadata.deletionTimestamp !== undefined;
      if (resource !== 'pods' || !leaves || previous?.metadata.deletionTimestamp) return;
      evictedAt = performance.now();
      const now = evictedAt - start;
      if (left === count) firstMs = now;
      left -= 1;
      if (left > 0) return;
      const counts = Object.fromEntries(requests);
      resolve({ askedMs: askedAt - start, firstMs, lastMs: now, requests: counts });
    });
    const taints = [noExecute('maintenance')];
    for (const node of api.list('nodes')) api.update('nodes', { ...node, spec: { taints } });
  });
}

async function awaitEvents(count: number): Promise<Recorded> {
  const end = performance.now() + recordingMsMax;
  while (recorded.size < count && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { events: recorded.size, ms: Math.max(0, recordedAt - evictedAt) };
}

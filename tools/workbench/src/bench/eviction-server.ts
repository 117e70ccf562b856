// The API server of controller.ts: it has pods, taints all nodes on a signal, and says when the
// pods began to terminate. Arguments: pods, milliseconds that each request takes.
import { nodeObjects, noExecute, podObjects } from './cluster-objects.ts';
import { createApi, serveParent } from './served-api.ts';

/** When the first and the last pod began to terminate, after the nodes were tainted. */
export interface Served {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly requests: number;
}

const [pods, serviceMs] = process.argv.slice(2).map(Number);
if (pods === undefined || serviceMs === undefined) throw new Error('want: PODS SERVICE-MS');
let requests = 0;
const api = createApi({
  serviceMs: ({ verb }) => {
    requests += 1;
    return verb === 'watch' ? 0 : serviceMs;
  },
});
api.load([...nodeObjects(pods), ...podObjects(pods)]);
await serveParent(api, () => evictAll(pods));

async function evictAll(count: number): Promise<Served> {
  requests = 0;
  const start = performance.now();
  let firstMs = 0;
  let left = count;
  return new Promise((resolve) => {
    api.subscribe(({ resource, object, previous }) => {
      const leaves = object.metadata.deletionTimestamp !== undefined;
      if (resource !== 'pods' || !leaves || previous?.metadata.deletionTimestamp) return;
      const now = performance.now() - start;
      if (left === count) firstMs = now;
      left -= 1;
      if (left === 0) resolve({ firstMs, lastMs: now, requests });
    });
    const taints = [noExecute('maintenance')];
    for (const node of api.list('nodes')) api.update('nodes', { ...node, spec: { taints } });
  });
}

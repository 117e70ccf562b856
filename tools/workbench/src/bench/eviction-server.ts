// The API server of controller.ts: it has pods, taints all nodes on a signal, and says when the
// pods began to terminate. Arguments: pods, milliseconds that each request takes.
import { once } from 'node:events';
import { ApiServer, RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { nodeObjects, podObject } from './cluster-objects.ts';
import { serveApi, tokens } from './served-api.ts';

/** When the first and the last pod began to terminate, after the nodes were tainted. */
export interface Served {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly requests: number;
}

const [pods, serviceMs] = process.argv.slice(2).map(Number);
if (pods === undefined || serviceMs === undefined) throw new Error('want: PODS SERVICE-MS');
let requests = 0;
const api = new ApiServer({
  clock: new RealClock(),
  random: seededRandom(1),
  tokens,
  serviceMs: ({ verb }) => {
    requests += 1;
    return verb === 'watch' ? 0 : serviceMs;
  },
});
api.load([...nodeObjects(pods), ...Array.from({ length: pods }, (_, at) => podObject(at))]);
const { kubeconfig, close } = await serveApi(api);
print({ kubeconfig });
await once(process.stdin, 'data');
requests = 0;
print({ ...(await evictAll(pods)), requests });
await once(process.stdin, 'end');
await close();

async function evictAll(count: number): Promise<Pick<Served, 'firstMs' | 'lastMs'>> {
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
      if (left === 0) resolve({ firstMs, lastMs: now });
    });
    const timeAdded = `${new Date().toISOString().slice(0, 19)}Z`;
    const taints = [{ key: 'maintenance', effect: 'NoExecute', timeAdded }];
    for (const node of api.list('nodes')) api.update('nodes', { ...node, spec: { taints } });
  });
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

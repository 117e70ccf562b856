// The API server of pod-watch.ts. Argument: pods. It has three tainted nodes whose pods stay
// for five minutes; the first signal changes pods all over, the second taints a fourth node.
import { setTimeout } from 'node:timers/promises';
import { nodeObjects, noExecute, podObjects } from './cluster-objects.ts';
import { createApi, serveParent } from './served-api.ts';

/** What was changed. */
export interface Churned {
  readonly changes: number;
  readonly seconds: number;
}

const taintedNodes = 3;
const changesPerSecond = 500;
const churnSeconds = 10;
const burst = 25;

const count = Number(process.argv[2]);
const api = createApi();
api.load([...nodeObjects(count), ...podObjects(count)]);
const names = api.list('nodes').map(({ metadata }) => metadata.name);
for (const name of names.slice(0, taintedNodes)) taint(name, 'node.kubernetes.io/unreachable');
await serveParent(api, churn, firstEviction);

function taint(name: string, key: string): void {
  const node = api.get('nodes', '', name);
  if (!node) throw new Error(`no node ${name}`);
  api.update('nodes', { ...node, spec: { ...node.spec, taints: [noExecute(key)] } });
}

/** As kubelets and controllers write: pods all over the cluster, evenly in time. */
async function churn(): Promise<Churned> {
  const pods = api.list('pods').map(({ metadata }) => metadata);
  const changes = changesPerSecond * churnSeconds;
  const start = performance.now();
  for (let done = 0; done < changes; done++) {
    const { namespace = '', name } = pods[(done * 7919) % pods.length] ?? { name: '' };
    const pod = api.get('pods', namespace, name);
    if (!pod) throw new Error(`no pod ${name}`);
    const { metadata } = pod;
    const annotations = { ...metadata.annotations, turn: String(done) };
    api.update('pods', { ...pod, metadata: { ...metadata, annotations } });
    const ahead = (1000 * done) / changesPerSecond - (performance.now() - start);
    if (done % burst === 0 && ahead > 0) await setTimeout(ahead);
  }
  return { changes, seconds: (performance.now() - start) / 1000 };
}

async function firstEviction(): Promise<{ readonly ms: number }> {
  const start = performance.now();
  return new Promise((resolve) => {
    api.subscribe(({ resource, object }) => {
      if (resource !== 'pods' || object.metadata.deletionTimestamp === undefined) return;
      resolve({ ms: performance.now() - start });
    });
    taint(names[taintedNodes] ?? '', 'maintenance');
  });
}

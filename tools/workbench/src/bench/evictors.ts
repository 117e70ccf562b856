// The ways to evict that bench/controller.ts compares, each a separate process with the same two
// writes for each pod. Arguments: name, kubeconfig. It prints a line of JSON when it has read the
// cluster and waits for taints.
import http2 from 'node:http2';
import type { V1Node, V1Pod, V1PodList } from '@kubernetes/client-node';
import { createEngine, type Engine } from '@taintmgr/core';
import {
  drive,
  HttpTransport,
  Loop,
  type LoopOptions,
  loadKubeconfig,
  type Machine,
  type Notice,
  type Transport,
} from '@taintmgr/k8s-adapter';

interface OurLoopOptions extends Omit<LoopOptions, 'machine' | 'random'> {
  /** Left out: one without settings. */
  readonly engine?: Engine;
  /** Called for each pod that is heard of. */
  readonly onPod?: () => void;
  readonly onNotice?: (notice: Notice) => void;
  /** Puts something between the loop and its transport. */
  readonly through?: (transport: Transport) => Transport;
}

/** A loop at work. */
interface OurLoop {
  /** The URL of its API server. */
  readonly url: string;
  readonly stop: () => void;
}

/** Begins to follow a cluster and to evict; resolves when everything has been read. */
async function startOurLoop(
  kubeconfig: string,
  { engine = createEngine(), onPod, onNotice, through, ...options }: OurLoopOptions = {},
): Promise<OurLoop> {
  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, 'taintmgr/bench');
  const stopping = new AbortController();
  const loop = new Loop({ ...options, machine: heard(engine, onPod), random: Math.random });
  await new Promise<void>((resolve, reject) => {
    drive({
      loop,
      transport: through?.(transport) ?? transport,
      signal: stopping.signal,
      onNotice: (notice) => {
        onNotice?.(notice);
        if (notice.kind === 'synced') resolve();
      },
    }).catch(reject);
  });
  const stop = (): void => {
    stopping.abort();
    transport.close();
  };
  return { url: access.server, stop };
}

function heard(engine: Engine, onPod?: () => void): Machine {
  return {
    nextWake: () => engine.nextWake(),
    handle: (now, event) => {
      const commands = engine.handle(now, event);
      if (event.kind === 'podUpsert') onPod?.();
      return commands;
    },
  };
}

/** Begins to work; resolves when it has read the cluster and waits for taints. */
type Evictor = (kubeconfig: string) => Promise<void>;

/** The same as in the measurements on a real API server. */
const atOnce = 32;

/** With the usual 64 kB a watch of 667 nodes stopped in its midst for good, on a real server. */
const windowBytes = 16 * 1024 * 1024;

interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Our controller's loop, unchanged. */
async function loop(kubeconfig: string): Promise<void> {
  await startOurLoop(kubeconfig, { engine: createEngine() });
}

/** Nothing but requests: it reads the pods once and begins with the first taint it hears of. */
const bare: Evictor = (kubeconfig) => requestLoop(kubeconfig, null);

/** The same and a watch of pods, in protobuf, of which it reads nothing: what a controller makes a server do. */
const followed: Evictor = (kubeconfig) =>
  requestLoop(kubeconfig, 'application/vnd.kubernetes.protobuf;stream=watch');

/** `watched`: in which form it asks for a watch of pods; null: for none. */
async function requestLoop(kubeconfig: string, watched: string | null): Promise<void> {
  const { access } = await loadKubeconfig({ kubeconfig });
  const { headers, tls } = await access.authorize();
  const settings = { initialWindowSize: windowBytes };
  const connected = () => {
    const made = http2.connect(access.server, { ...tls, ALPNProtocols: ['h2'], settings });
    return made.once('connect', () => made.setLocalWindowSize(windowBytes));
  };
  const session = connected();
  const open = (method: string, path: string, type = 'application/json', through = session) => {
    const head = { ...headers, ':method': method, ':path': path, 'content-type': type };
    return through.request(head, { endStream: method === 'GET' }).setEncoding('utf8');
  };
  const send = async (method: string, path: string, type: string, body: object): Promise<void> => {
    const stream = open(method, path, type);
    stream.once('response', ({ ':status': status = 0 }) => {
      if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
    });
    stream.end(JSON.stringify(body));
    for await (const _ of stream);
  };
  let text = '';
  for await (const chunk of open('GET', '/api/v1/pods')) text += chunk;
  const { metadata, items }: V1PodList = JSON.parse(text);
  if (watched !== null) {
    const from = metadata?.resourceVersion ?? '';
    const path = `/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`;
    session.request({ ...headers, ':path': path, accept: watched }).resume();
  }
  const work = workers(async ({ namespace, name, uid }) => {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const patch = 'application/strategic-merge-patch+json';
    await send('PATCH', `${path}/status`, patch, markOf(uid));
    await send('DELETE', path, 'application/json', { preconditions: { uid } });
  });
  // Unread data of a closed watch may fill the window of its connection for good.
  const nodes = open('GET', '/api/v1/nodes?watch=true', undefined, connected());
  let heard = '';
  let hasBegun = false;
  nodes.on('data', (chunk: string) => {
    heard += chunk;
    // Data on its way when the watch was closed still arrives.
    if (hasBegun || !heard.includes('NoExecute')) return;
    hasBegun = true;
    nodes.close();
    for (const pod of items) work(targetOf(pod));
  });
}

/** The client library as its documentation shows it: informers, and a typed call for each write. */
async function stock(kubeconfig: string): Promise<void> {
  const { CoreV1Api, KubeConfig, makeInformer, PatchStrategy, setHeaderOptions } = await import(
    '@kubernetes/client-node'
  );
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const pods = makeInformer<V1Pod>(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
  const nodes = makeInformer<V1Node>(config, '/api/v1/nodes', () => api.listNode());
  const strategic = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
  const work = workers(async ({ namespace, name, uid }) => {
    await api.patchNamespacedPodStatus({ namespace, name, body: markOf(uid) }, strategic);
    await api.deleteNamespacedPod({ namespace, name, body: { preconditions: { uid } } });
  });
  nodes.on('update', ({ metadata, spec }) => {
    if (!spec?.taints?.some(({ effect }) => effect === 'NoExecute')) return;
    for (const pod of pods.list()) {
      if (pod.spec?.nodeName === metadata?.name) work(targetOf(pod));
    }
  });
  await Promise.all([pods.start(), nodes.start()]);
}

/** Processes its targets, so many at once. A request that fails ends the process. */
function workers(evict: (target: Target) => Promise<void>): (target: Target) => void {
  const queue: Target[] = [];
  let running = 0;
  const run = async (): Promise<void> => {
    running += 1;
    for (let next = queue.shift(); next; next = queue.shift()) await evict(next);
    running -= 1;
  };
  return (target) => {
    queue.push(target);
    if (running < atOnce) void run();
  };
}

function targetOf({ metadata: { namespace = '', name = '', uid = '' } = {} }: V1Pod): Target {
  return { namespace, name, uid };
}

function markOf(uid: string): object {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastProbeTime: null,
    lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
    observedGeneration: 1,
  };
  return { metadata: { uid }, status: { conditions: [condition] } };
}

const evictors: Readonly<Record<string, Evictor>> = { loop, bare, followed, stock };
const [name = '', kubeconfig = ''] = process.argv.slice(2);
const evictor = evictors[name];
if (!evictor) throw new Error(`${name}: no such evictor`);
await evictor(kubeconfig);
process.stdout.write('{}\n');

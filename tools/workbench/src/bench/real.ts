// The bench controller.ts on a real API server, which has to be empty and is emptied: nodes and
// pods are made, all nodes are tainted at once, and what is deleted stays, since no kubelet is there.
// node -C @taintmgr/source tools/workbench/src/bench/real.ts --kubeconfig FILE, --pods 2000,
// --rounds 1, --only 'bare request loop;...'; programs of others by --peer 'TITLE=COMMAND ...' with
// --peer-says, words that they write to stderr once they are ready, and --server PID of the API
// server on this machine. docs/kubernetes-tests.md says which one will do.
import http2 from 'node:http2';
import { loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { loadKubeconfig } from '@taintmgr/k8s-adapter';
import { nodeNames, nodeObjects, noExecute, podObject, podPath } from './cluster-objects.ts';
import {
  bare,
  buildController,
  controllerProgram,
  type Evictor,
  evictor,
  json,
  ours,
  peer,
  protobuf,
} from './evictor-processes.ts';
import { type Child, mega, printTable, short, usageOf } from './measure.ts';

// A real API server that bench/real.ts fills with nodes and pods, and the requests meanwhile. The
// server must have no nodes: the namespaces of the bench are emptied.

/** The result of a taint on all nodes. */
interface Gone {
  /** When the first and the last pod began to terminate, after the first node was tainted. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The number of requests answered until then, by verb and resource, e.g. `PATCH pods`. */
  readonly requests: Readonly<Record<string, number>>;
}

/** Metadata only: the server writes less, and this process reads less. */
const metadataOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const watchedMetadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
/** The number of concurrent requests that fill and empty the cluster. */
const atOnce = 16;
/** The time without another terminating pod after which the wait ends. */
const quietMsMax = 60_000;

interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Nodes and pods on a real API server without kubelets: a pod that is deleted stays, and terminates. */
class RealCluster {
  readonly #session: http2.ClientHttp2Session;
  readonly #headers: http2.OutgoingHttpHeaders;
  #nodes: readonly string[] = [];
  /** Their paths. */
  #namespaces: readonly string[] = [];

  private constructor(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders) {
    this.#session = session;
    this.#headers = headers;
  }

  /** Throws where the cluster has nodes already: it may be in use. */
  static async open(kubeconfig: string): Promise<RealCluster> {
    const { access } = await loadKubeconfig({ kubeconfig });
    const { headers, tls } = await access.authorize();
    const session = http2.connect(access.server, { ...tls, ALPNProtocols: ['h2'] });
    const cluster = new RealCluster(session, headers);
    const nodes = await cluster.#names('/api/v1/nodes');
    if (nodes.length === 0) return cluster;
    session.close();
    throw new Error(
      `${access.server} has nodes (${nodes[0]}, ...): this bench wants an empty cluster`,
    );
  }

  async fill(count: number): Promise<void> {
    const paths = Array.from({ length: count }, (_, index) => podPath(index));
    this.#nodes = nodeNames(count);
    this.#namespaces = [...new Set(paths.map(namespacePath))];
    await this.#each(this.#namespaces, async (path) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      await this.#create('/api/v1/namespaces', { metadata: { name } });
      await this.#create(`${path}/serviceaccounts`, { metadata: { name: 'default' } });
    });
    await this.#each(nodeObjects(count), (node) => this.#create('/api/v1/nodes', node));
    const type = 'application/strategic-merge-patch+json';
    await this.#each([...paths.entries()], async ([index, path]) => {
      const pod = podObject(index);
      await this.#create(`${namespacePath(path)}/pods`, pod);
      const body = { status: Reflect.get(pod, 'status') };
      await this.#send('PATCH', `${path}/status`, { type, body });
    });
  }

  /** Taints all nodes, and resolves when all pods terminate; throws where they do not. */
  async evictAll(count: number): Promise<Gone> {
    const { metadata } = JSON.parse(await this.#send('GET', '/api/v1/pods?limit=1'));
    const before = await this.#requests();
    const start = performance.now();
    const gone = this.#watchGone(metadata.resourceVersion, count, start);
    const body = { spec: { taints: [noExecute('maintenance')] } };
    const type = 'application/merge-patch+json';
    const tainted = this.#each(this.#nodes, (name) => {
      return this.#send('PATCH', `/api/v1/nodes/${name}`, { type, body });
    });
    const [[firstMs, lastMs]] = await Promise.all([gone, tainted]);
    const after = await this.#requests();
    const asked = [...after].map(([what, n]) => [what, n - (before.get(what) ?? 0)] as const);
    const requests = Object.fromEntries(
      asked.filter(([what, n]) => n > 0 && what !== 'PATCH nodes'),
    );
    return { firstMs, lastMs, requests };
  }

  /** Its nodes, pods and Events go; the namespaces stay. */
  async empty(): Promise<void> {
    await this.#each(this.#namespaces, async (path) => {
      for (const kind of ['pods', 'events']) {
        await this.#send('DELETE', `${path}/${kind}?gracePeriodSeconds=0`);
      }
    });
    await this.#each(this.#nodes, (name) => this.#send('DELETE', `/api/v1/nodes/${name}`));
  }

  close(): void {
    this.#session.close();
  }

  /**
   * When the first and the last of so many pods began to terminate. An API server ends the watch of
   * a client that is slower than it for a while, as this process may be: the next watch continues
   * at the same place.
   */
  async #watchGone(from: string, count: number, start: number): Promise<[number, number]> {
    const seen = new Set<string>();
    let [firstMs, lastMs, version] = [0, 0, from];
    while (seen.size < count) {
      const path = `/api/v1/pods?watch=true&resourceVersion=${version}`;
      const stream = this.#open('GET', path, { accept: watchedMetadata });
      stream.setTimeout(quietMsMax, () => stream.destroy(new Error(whatIsLeft(seen.size, count))));
      for await (const line of createInterface(stream)) {
        const { type, object } = JSON.parse(line);
        if (type === 'ERROR') throw new Error(`the watch of pods says: ${line}`);
        const { uid, deletionTimestamp, resourceVersion } = object.metadata;
        version = resourceVersion;
        if (!deletionTimestamp || seen.has(uid)) continue;
        seen.add(uid);
        lastMs = performance.now() - start;
        if (seen.size === 1) firstMs = lastMs;
        if (seen.size >= count) break;
      }
      stream.close();
    }
    return [firstMs, lastMs];
  }

  /** The requests as the server counts them; empty if it does not. */
  async #requests(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    const text = await this.#send('GET', '/metrics', { allowed: 404 });
    for (const line of text.split('\n')) {
      if (!line.startsWith('apiserver_request_total{')) continue;
      const [verb, resource] = ['verb', 'resource'].map(
        (label) => new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1],
      );
      const what = `${verb} ${resource}`;
      counts.set(what, (counts.get(what) ?? 0) + Number(line.slice(line.lastIndexOf(' '))));
    }
    return counts;
  }

  async #names(path: string): Promise<string[]> {
    const { items } = JSON.parse(await this.#send('GET', path, { accept: metadataOnly }));
    return (items ?? []).map(({ metadata }: Named) => metadata.name);
  }

  /** Existing objects stay as they are. */
  async #create(path: string, body: object): Promise<void> {
    await this.#send('POST', path, { body, allowed: 409 });
  }

  async #send(
    method: string,
    path: string,
    {
      type = 'application/json',
      accept = 'application/json',
      body,
      allowed = 0,
    }: { type?: string; accept?: string; body?: object | undefined; allowed?: number } = {},
  ): Promise<string> {
    const stream = this.#open(method, path, { 'content-type': type, accept }, body !== undefined);
    let [status, text] = [0, ''];
    stream.once('response', (head) => {
      status = Number(head[':status']);
    });
    if (body !== undefined) stream.end(JSON.stringify(body));
    for await (const chunk of stream) text += chunk;
    if (status >= 300 && status !== allowed)
      throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    return text;
  }

  #open(
    method: string,
    path: string,
    headers: http2.OutgoingHttpHeaders,
    hasBody = false,
  ): http2.ClientHttp2Stream {
    const head = { ...this.#headers, ...headers, ':method': method, ':path': path };
    return this.#session.request(head, { endStream: !hasBody }).setEncoding('utf8');
  }

  async #each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
    const rest = all.values();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (const one of rest) await work(one);
      }),
    );
  }
}

function whatIsLeft(gone: number, count: number): string {
  return `${gone} of ${count} pods are gone, and no more for a minute`;
}

/** The namespace in the path of a pod. */
function namespacePath(path: string): string {
  return path.slice(0, path.indexOf('/pods/'));
}

interface Row extends Gone {
  readonly cpuMs: number;
  /** Null: it is not known which process the API server is. */
  readonly serverCpuMs: number | null;
  readonly rssBytes: number;
  /** The memory of the idle process. */
  readonly idleBytes: number;
}

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string', default: '' },
    pods: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    peer: { type: 'string', multiple: true, default: [] },
    'peer-says': { type: 'string', default: '' },
    server: { type: 'string', default: '' },
  },
});
const kubeconfig = values.kubeconfig;
if (kubeconfig === '')
  end('--kubeconfig: name the file of an empty cluster; its pods, nodes and Events go');
for (const flag of ['pods', 'rounds'] as const) {
  if (!/^[1-9]\d*$/.test(values[flag]))
    end(`--${flag}: got "${values[flag]}", want a whole number from 1`);
}
if (values.peer.length > 0 && values['peer-says'] === '') {
  end('--peer-says: name words that a peer writes to stderr once it is ready');
}
const program = controllerProgram();
// No kubelet renews leases here, and no node may fail.
const steady = '--node-monitor-grace-period=1h';
const evictors = new Map<string, Evictor>([
  [bare, evictor('bare')],
  ['bare, and a watch of pods', evictor('followed')],
  ['ours, delete, JSON', ours(program, json, steady)],
  ['ours, delete, protobuf', ours(program, protobuf, steady)],
  ['ours, evict, protobuf', ours(program, protobuf, steady, '--mode=evict')],
  ...values.peer.map((text): [string, Evictor] => {
    const [title = '', ...command] = text.split('=');
    return [title, peer(command.join('=').split(' '), values['peer-says'])];
  }),
]);
const titles = values.only === '' ? [...evictors.keys()] : values.only.split(';');
const strange = titles.find((title) => !evictors.has(title));
if (strange !== undefined) {
  end(`--only: no evictor is called "${strange}"; there are: ${[...evictors.keys()].join('; ')}`);
}
if (titles.some((title) => title.startsWith('ours'))) buildController();
const cluster = await RealCluster.open(kubeconfig).catch(endBy);
const [pods, load] = [Number(values.pods), loadavg()[0] ?? 0];
const rows = new Map(titles.map((title) => [title, [] as Row[]]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [title, measuredRows] of rows) measuredRows.push(await measure(title).catch(endBy));
}
cluster.close();
print();

async function measure(title: string): Promise<Row> {
  let child: Child | undefined;
  try {
    await cluster.fill(pods);
    child = await evictors.get(title)?.start(kubeconfig);
    if (!child) throw new Error(title);
    const [before, serverBefore] = [await child.usage(), serverCpuMs()];
    const gone = await cluster.evictAll(pods);
    const { cpuMs, rssBytes } = await child.usage();
    const server = serverBefore === null ? null : (serverCpuMs() ?? 0) - serverBefore;
    const idleBytes = before.rssBytes;
    return { ...gone, cpuMs: cpuMs - before.cpuMs, rssBytes, idleBytes, serverCpuMs: server };
  } finally {
    await child?.end();
    await cluster.empty();
  }
}

function serverCpuMs(): number | null {
  return values.server === '' ? null : usageOf(Number(values.server)).cpuMs;
}

function print(): void {
  const after = (loadavg()[0] ?? 0).toFixed(1);
  process.stdout.write(
    `a real API server: ${short(pods)} pods fall due at once, means of ${values.rounds}; ` +
      `load of the machine ${load.toFixed(1)} before, ${after} after\n`,
  );
  const basis = rows.get(bare);
  const lines = [...rows].map(([title, measuredRows]) => {
    const of = (read: (row: Row) => number): number => mean(measuredRows.map(read));
    const [lastMs, cpuMs] = [of((row) => row.lastMs), of((row) => row.cpuMs)];
    const asked = of(({ requests }) => Object.values(requests).reduce((sum, n) => sum + n, 0));
    const server = of((row) => row.serverCpuMs ?? Number.NaN);
    return [
      title,
      `${short((1000 * pods) / lastMs)}/s`,
      basis ? `${Math.round((100 * mean(basis.map((row) => row.lastMs))) / lastMs)}%` : '',
      `${short(of((row) => row.firstMs))} ms`,
      `${(cpuMs / pods).toFixed(2)} ms`,
      basis ? (cpuMs / mean(basis.map((row) => row.cpuMs))).toFixed(2) : '',
      Number.isNaN(server) ? '' : `${(server / pods).toFixed(2)} ms`,
      // Some servers do not count requests.
      asked > 0 ? (asked / pods).toFixed(3) : '',
      mega(of((row) => row.idleBytes)),
      mega(of((row) => row.rssBytes)),
    ];
  });
  const head = ['evictions', 'of bare', 'first delete', 'CPU per pod', 'of bare'];
  printTable(['', ...head, 'of the server', 'requests per pod', 'waiting', 'peak RSS'], lines);
  for (const [title, [first]] of rows) {
    const counts = Object.entries(first?.requests ?? {}).toSorted(([, a], [, b]) => b - a);
    const texts = counts.map(([what, count]) => `${what} ${count}`);
    if (texts.length > 0) process.stdout.write(`  ${title}: ${texts.join(', ')}\n`);
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
}

function endBy(error: Error): never {
  return end(error.message);
}

function end(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}

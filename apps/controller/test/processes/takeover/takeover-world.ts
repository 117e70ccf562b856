import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  ApiServer,
  createCertificate,
  type HttpsServer,
  installDefinitions,
  startHttps,
  type Tokens,
  writeKubeconfig,
} from '@taintmgr/api-server';
import { loadKubeconfig, takeoverManifests, UpstreamManager } from '@taintmgr/k8s-adapter';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import {
  type ApiRequest,
  type Exchange,
  node,
  pod,
  RealClock,
  type ResponseSink,
  type Rule,
  seededRandom,
  type User,
} from '@taintmgr/sim-cluster';
import { freePort } from '../../harness/free-port.ts';

/** Who asks the API server in these tests, and by which token. */
export const users = {
  admin: 'admin',
  manager: 'system:serviceaccount:kube-system:node-controller',
  controller: 'system:serviceaccount:taintmgr-system:taintmgr-controller',
  /** Another replica, with a token of its own. */
  replica: 'system:serviceaccount:taintmgr-system:taintmgr-controller',
  kubelet: 'system:node:n1',
  scheduler: 'system:kube-scheduler',
} as const;

export type Who = keyof typeof users;

/** What each may do; left out: everything. */
type Rights = Readonly<Partial<Record<Who, readonly Rule[]>>>;

/** A request that was answered. */
export interface Asked {
  readonly user: string;
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

const label = { 'taintmgr.dev/takeover': 'enabled' };
const managers = '/apis/taintmgr.dev/v1alpha1/taintmanagers';
const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
const taint = { key: 'bad', effect: 'NoExecute' };

/** The clock of the control plane, which may be apart from ours. */
class PlaneClock extends RealClock {
  /** So far it is ahead of ours. */
  ahead = 0;

  override now(): number {
    return super.now() + this.ahead;
  }
}

/** What a restart of the API server finds stored. */
const kinds = [
  'customresourcedefinitions',
  ...['namespaces', 'nodes', 'pods', 'events', 'leases'],
  ...['taintmanagers.taintmgr.dev', 'evictionpauses.taintmgr.dev'],
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
];

/**
 * An API server over HTTPS with our kinds, a node `n1`, the namespaces `in`, which is opted in, and
 * `out`, and a kube-controller-manager that has not started.
 */
export class TakeoverWorld {
  readonly clock = new PlaneClock();
  api: ApiServer;
  readonly asked: Asked[] = [];
  url = '';
  /** As the API server answers over HTTPS. */
  readonly exchange: Exchange = (request, sink) => this.#answer(request, sink);
  #directory = '';
  #manager: UpstreamManager | null = null;
  #heard: (() => void)[] = [];
  #isRefused: (request: ApiRequest) => boolean = () => false;
  #change: (request: ApiRequest) => ApiRequest = (request) => request;
  #server: HttpsServer | null = null;
  readonly #tokens: Tokens;
  readonly #certificate = createCertificate(Date.now());

  private constructor(rights: Rights) {
    this.#tokens = new Map<string, User>(
      Object.entries(users).map(([token, name]) => [
        token,
        { name, groups: [], rules: rights[token as Who] ?? everything },
      ]),
    );
    this.api = this.#apiServer(1000);
  }

  /**
   * `ahead`: how far the clock of the control plane is ahead of ours. `watching`: whether
   * kube-controller-manager watches over nodes too, and how.
   */
  static async start(
    t: TestContext,
    rights: Rights = {},
    ahead = 0,
    watching: ConstructorParameters<typeof UpstreamManager>[1] = {},
  ): Promise<TakeoverWorld> {
    const world = new TakeoverWorld(rights);
    world.clock.ahead = ahead;
    const { api } = world;
    await world.installKinds();
    api.create('namespaces', { metadata: { name: 'in', labels: label } });
    api.create('namespaces', { metadata: { name: 'out' } });
    api.create('nodes', node('n1'));
    const server = await world.#serve(await freePort());
    world.url = server.url;
    world.#directory = mkdtempSync(join(tmpdir(), 'taintmgr-takeover-test-'));
    const { access } = await loadKubeconfig({ kubeconfig: world.kubeconfig('manager') });
    const manager = new UpstreamManager(access, watching);
    world.#manager = manager;
    t.after(async () => {
      await manager.stop();
      await world.#server?.close();
      rmSync(world.#directory, { recursive: true });
    });
    return world;
  }

  get manager(): UpstreamManager {
    if (!this.#manager) throw new Error('the world has not begun');
    return this.#manager;
  }

  #apiServer(startRv: number, paramsSyncMs = 0): ApiServer {
    const { clock } = this;
    const [random, tokens] = [seededRandom(startRv), this.#tokens];
    return new ApiServer({ clock, random, tokens, startRv, paramsSyncMs });
  }

  async #serve(port: number): Promise<HttpsServer> {
    this.#server = await startHttps({
      exchange: this.exchange,
      certificate: this.#certificate,
      port,
    });
    return this.#server;
  }

  /**
   * The API server ends; resolves when another one, which knows what was stored, has its port. It knows
   * heartbeats only so much later.
   */
  async restart(paramsSyncMs = 0): Promise<void> {
    const port = this.#server?.port ?? 0;
    await this.#server?.close();
    const stored = kinds.flatMap((kind) => this.api.list(kind));
    this.api = this.#apiServer(1_000_000, paramsSyncMs);
    this.api.load(structuredClone(stored));
    await this.#serve(port);
    const heard = this.#heard;
    this.#heard = [];
    for (const tell of heard) tell();
  }

  /** Installs those of our kinds that are not there. */
  async installKinds(): Promise<void> {
    const isThere = (name: string): boolean =>
      this.api.get('customresourcedefinitions', '', name) !== null;
    const missing = customResourceDefinitions().filter(({ metadata }) => !isThere(metadata.name));
    await installDefinitions(this.api, missing);
  }

  /** From now on requests come to the API server like this. */
  change(how: (request: ApiRequest) => ApiRequest): void {
    this.#change = how;
  }

  /** From now on such requests are answered with 500. */
  refuse(which: (request: ApiRequest) => boolean): void {
    this.#isRefused = which;
  }

  /** A file by which somebody gets in. */
  kubeconfig(who: Who): string {
    const file = join(this.#directory, who);
    writeKubeconfig(file, { server: this.url, ca: this.#certificate.ca, token: who });
    return file;
  }

  /** The policies and bindings, as the controller would install them. */
  installPolicies(): void {
    const manifests = takeoverManifests({ manager: 'taintmgr', users: [users.controller] });
    for (const manifest of manifests) {
      const { apiVersion, kind, metadata, spec } = structuredClone(manifest);
      this.api.create(pluralOf(kind), { apiVersion, kind, metadata, spec });
    }
  }

  removePolicies(): void {
    for (const plural of [pluralOf('Binding'), pluralOf('ValidatingAdmissionPolicy')]) {
      for (const { metadata } of this.api.list(plural)) this.api.delete(plural, '', metadata.name);
    }
  }

  /** What the leader writes every 10 s; it was written so long ago. */
  async beat(agoMs = 0): Promise<void> {
    const renewTime = new Date(this.clock.now() - agoMs).toISOString();
    const body = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' };
    const metadata = { name: 'taintmgr' };
    await this.ask('admin', 'POST', managers, { ...body, metadata });
    const value = { renewTime, takeover: { enabled: true } };
    const patch = [{ op: 'add', path: '/status', value }];
    await this.ask('admin', 'PATCH', `${managers}/taintmgr/status`, patch, 'json-patch');
  }

  pod(namespace: string, name: string, more: object = {}): void {
    this.api.create('pods', pod(namespace, name, { spec: { nodeName: 'n1', ...more } }));
  }

  /** Puts the taint on the node, or takes it off. */
  taint(isOn = true): void {
    const found = this.api.get('nodes', '', 'n1');
    if (!found) throw new Error('there is no node');
    const timeAdded = new Date(this.clock.now()).toISOString();
    const taints = isOn ? [{ ...taint, timeAdded }] : [];
    this.api.update('nodes', { ...found, spec: { ...found.spec, taints } });
  }

  /** Whether somebody has deleted it. */
  isDeleted(namespace: string, name: string): boolean {
    const found = this.api.get('pods', namespace, name);
    return found === null || found.metadata.deletionTimestamp !== undefined;
  }

  async deleted(namespace: string, name: string): Promise<void> {
    await this.until(() => this.isDeleted(namespace, name));
  }

  /** What the manager was answered when it wanted to mark this pod. */
  marks(namespace: string, name: string): readonly Asked[] {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    return this.asked.filter((one) => one.user === users.manager && one.path.startsWith(path));
  }

  /** Resolves when the manager has tried as often as it does, and was refused each time. */
  async refused(namespace: string, name: string, tries = 5): Promise<void> {
    const isRefused = ({ status }: Asked): boolean => status === 403;
    await this.until(() => this.marks(namespace, name).filter(isRefused).length >= tries);
  }

  /** Resolves when it holds; looks at each request that is answered, and at each change. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        const unsubscribe = this.api.subscribe(() => resolve());
        this.#heard.push(() => {
          unsubscribe();
          resolve();
        });
      });
    }
  }

  /** Sends what somebody asks; the status that it is answered with, and the body. */
  async ask(
    who: Who,
    method: string,
    path: string,
    body: object,
    kind = '',
  ): Promise<{ readonly status: number; readonly text: string }> {
    const headers = {
      authorization: `Bearer ${who}`,
      'content-type': kind === '' ? 'application/json' : `application/${kind}+json`,
    };
    const request = { method, path, headers, body: JSON.stringify(body) };
    return await new Promise((resolve, reject) => {
      let [status, text] = [0, ''];
      this.#answer(request, {
        head: (code) => {
          status = code;
        },
        data: (chunk) => {
          text += String(chunk);
        },
        end: () => resolve({ status, text }),
        reset: () => reject(new Error('reset')),
      });
    });
  }

  /** Lets so much time pass. */
  passed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.api.clock.after(ms, () => resolve());
    });
  }

  /** Waits until the policies refuse, or let pass, what they are there for: a dry run of it. */
  async untilPolicies(refuse: boolean, pod: string): Promise<void> {
    const path = `/api/v1/namespaces/in/pods/${pod}/status?dryRun=All`;
    for (;;) {
      const now = mark(undefined, this.clock.now());
      const { status } = await this.ask('admin', 'PATCH', path, now, 'strategic-merge-patch');
      if ((status === 403) === refuse) return;
      await new Promise((resolve) => this.api.clock.after(20, () => resolve(null)));
    }
  }

  #answer(request: ApiRequest, sink: ResponseSink): () => void {
    const { method, path } = request;
    const token = tokenOf(request);
    const seen: ResponseSink = {
      ...sink,
      head: (status, more) => {
        this.asked.push({ user: users[token] ?? '', token, method, path, status });
        sink.head(status, more);
        const heard = this.#heard;
        this.#heard = [];
        for (const tell of heard) tell();
      },
    };
    if (!this.#isRefused(request)) return this.api.exchange(this.#change(request), seen);
    seen.head(500, { 'content-type': 'application/json' });
    seen.data(JSON.stringify({ kind: 'Status', message: 'boom', code: 500 }));
    seen.end();
    return () => {};
  }
}

/** Who asks. */
export function tokenOf({ headers }: ApiRequest): Who {
  return String(headers.authorization ?? '').replace('Bearer ', '') as Who;
}

/** The patch by which a pod is marked before it is deleted. */
export function mark(reason = 'DeletionByTaintManager', at = Date.now()): object {
  const lastTransitionTime = new Date(at).toISOString();
  const condition = { type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime };
  return { status: { conditions: [condition] } };
}

function pluralOf(kind: string): string {
  const isPolicy = kind === 'ValidatingAdmissionPolicy';
  return isPolicy ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings';
}

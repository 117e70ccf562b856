// A cluster under load whose definitions and controllers change their version, and the judgement on what left it.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ApiServer } from '@taintmgr/api-server';
import {
  deployment,
  type Exchange,
  type KubeObject,
  pdb,
  pod,
  RealClock,
  seededRandom,
  type Topology,
  toleration,
} from '@taintmgr/sim-cluster';
import {
  type Program,
  servesNobody,
  startCluster,
  startWith,
  until,
  type WatchedCluster,
} from '../drain/programs.ts';

export type Version = '0.1.0' | '0.2.0';

const apiVersion = 'taintmgr.dev/v1alpha1';
const nextVersion = new URL('./next-version.ts', import.meta.url).href;

/** The pods of each namespace: those of `held` are on a node of another taint. */
const podsOf = { free: 120, held: 30, paused: 30, limited: 20 } as const;
export type Place = keyof typeof podsOf;
const secondsMax = 15;
const loadMs = 200;
const overdueMs = 3_000;
const [badNodes, holdNode] = [['a-1', 'a-2'], 'a-3'];

const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 6,
  workloads: [
    deployment('shop', 'web', { replicas: 12 }),
    deployment('shop', 'tight', { replicas: 12 }),
  ],
  budgets: [pdb('shop', 'tight', { minAvailable: 12 })],
};

const flags = [
  '--mode=evict',
  '--controllers=taint-eviction-controller,node-drain-controller',
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
  '-v=4',
  servesNobody,
];

interface Due {
  readonly place: Place;
  readonly name: string;
  /** In epoch milliseconds. */
  readonly deadline: number;
}

interface Removal {
  readonly uid: string;
  readonly at: number;
}

export class VersionsWorld {
  readonly #t: TestContext;
  readonly #clock = new RealClock();
  readonly #random = seededRandom(1);
  /** The pods that were told a time, by uid. */
  readonly #due = new Map<string, Due>();
  /** The removals that the API server carried out, in their order. */
  readonly #removals: Removal[] = [];
  #watched: WatchedCluster | null = null;
  #timeAdded = '';
  #isOver = false;
  #serial = 0;

  private constructor(t: TestContext) {
    this.#t = t;
  }

  /** Pods wait for their deadlines, and more come all the time. */
  static async start(t: TestContext): Promise<VersionsWorld> {
    const world = new VersionsWorld(t);
    const around = (exchange: Exchange): Exchange => world.#recording(exchange);
    world.#watched = await startCluster(t, topology, { around });
    t.after(() => {
      world.#isOver = true;
    });
    for (const name of Object.keys(podsOf)) {
      world.api.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    return world;
  }

  get api(): ApiServer {
    return (this.#watched ?? assert.fail()).cluster.api;
  }

  get removals(): number {
    return this.#removals.length;
  }

  create(kind: string, plural: string, name: string, spec: object): void {
    const object = { apiVersion, kind, metadata: { name }, spec };
    this.api.create(`${plural}.taintmgr.dev`, object);
  }

  object(plural: string, name: string): KubeObject {
    return this.api.get(`${plural}.taintmgr.dev`, '', name) ?? assert.fail(`no ${name}`);
  }

  /** Changes fields of its spec. */
  change(plural: string, name: string, fields: object): void {
    const one = this.object(plural, name);
    this.api.update(`${plural}.taintmgr.dev`, { ...one, spec: { ...one.spec, ...fields } });
  }

  /** Taints the nodes, and makes the pods: their times count from now. */
  begin(): void {
    this.#timeAdded = `${new Date().toISOString().slice(0, 19)}Z`;
    for (const [place, count] of Object.entries(podsOf)) {
      for (let at = 0; at < count; at++) this.#add(place as Place);
    }
    for (const name of badNodes) this.#taint(name, 'bad');
    this.#taint(holdNode, 'hold');
    this.#load();
  }

  controller(version: Version): Program {
    return this.#start(version, 'controller', ...flags);
  }

  plugin(version: Version, ...args: readonly string[]): Program {
    return this.#start(version, 'plugin', ...args);
  }

  /** Until the leader is of this version, and says so. */
  async led(version: Version): Promise<void> {
    await until(`a leader of ${version}`, () => {
      const status = this.api.get('taintmanagers.taintmgr.dev', '', 'taintmgr')?.status;
      const lease = this.api.get('leases', 'kube-system', 'taintmgr-controller');
      return status?.version === version && status.leader === lease?.spec?.holderIdentity;
    });
  }

  /** Until so many pods more have left. */
  async left(more: number): Promise<void> {
    const wanted = this.removals + more;
    await until(
      `${more} removals more`,
      () => this.removals >= wanted,
      () => this.#state(),
    );
  }

  /** Until so many pods of `free` have outstayed their time by so long that any leader had evicted them. */
  async overdue(count: number): Promise<void> {
    await until(`${count} overdue pods`, () => this.#overdue(overdueMs).length >= count);
  }

  /** Until each pod that had to leave has left. */
  async emptied(): Promise<void> {
    this.#isOver = true;
    await until(
      'all to be gone',
      () => this.#overdue(0).length + this.#waiting === 0,
      () => this.#state(),
    );
  }

  /** The budget that blocks the drain lets half of its pods go. */
  allowBudget(): void {
    const one = this.api.get('poddisruptionbudgets', 'shop', 'tight') ?? assert.fail();
    this.api.update('poddisruptionbudgets', { ...one, spec: { ...one.spec, minAvailable: 6 } });
  }

  /** The pods of a namespace that were removed. */
  goneOf(place: Place): number {
    return this.#removals.filter(({ uid }) => this.#due.get(uid)?.place === place).length;
  }

  /** Nothing twice, and nothing early. */
  assertHarmless(): void {
    const uids = this.#removals.map(({ uid }) => uid);
    assert.deepEqual(
      uids.filter((uid, at) => uids.indexOf(uid) !== at),
      [],
      'removed twice',
    );
    const early = this.#removals.flatMap(({ uid, at }) => {
      const due = this.#due.get(uid);
      return due && at < due.deadline ? [`${due.name} ${due.deadline - at} ms`] : [];
    });
    assert.deepEqual(early, [], 'removed early');
  }

  #start(version: Version, app: 'controller' | 'plugin', ...args: readonly string[]): Program {
    const { kubeconfig = '' } = this.#watched ?? {};
    const next = version === '0.2.0' && { NODE_OPTIONS: `--import=${nextVersion}` };
    return startWith(this.#t, app, { KUBECONFIG: kubeconfig, ...next }, ...args);
  }

  #add(place: Place, secondsOf = secondsMax): void {
    const [key, nodes] = place === 'held' ? ['hold', [holdNode]] : ['bad', badNodes];
    this.#serial += 1;
    const seconds = 1 + Math.floor(this.#random() * secondsOf);
    const spec = {
      nodeName: nodes[this.#serial % nodes.length] ?? '',
      tolerations: [{ ...toleration(`${key}:NoExecute`, seconds) }],
    };
    const { metadata } = this.api.create('pods', pod(place, `p${this.#serial}`, { spec }));
    // A pod that comes later than the taint has its time from its binding.
    const from = Math.max(Date.parse(this.#timeAdded), Math.floor(Date.now() / 1000) * 1000);
    const { uid = '', name } = metadata;
    this.#due.set(uid, { place, name, deadline: from + seconds * 1000 });
  }

  #load(): void {
    if (this.#isOver) return;
    this.#add('free', 3);
    this.#clock.after(loadMs, () => this.#load());
  }

  #taint(name: string, key: string): void {
    const one = this.api.get('nodes', '', name) ?? assert.fail();
    const taints = [{ key, effect: 'NoExecute', timeAdded: this.#timeAdded }];
    this.api.update('nodes', { ...one, spec: { ...one.spec, taints } });
  }

  /** The pods of `free` that have outstayed their time by so much. */
  #overdue(ms: number): readonly string[] {
    return [...this.#due].flatMap(([uid, { place, name, deadline }]) => {
      if (place !== 'free' || Date.now() < deadline + ms) return [];
      const there = this.api.get('pods', place, name);
      return there?.metadata.uid === uid && !there.metadata.deletionTimestamp ? [name] : [];
    });
  }

  /** The pods that have not left, of all namespaces. */
  get #waiting(): number {
    return [...this.#due.values()].filter(({ place, name }) => this.api.get('pods', place, name))
      .length;
  }

  #state(): string {
    const managers = this.api.list('taintmanagers.taintmgr.dev').map(({ status }) => status);
    return JSON.stringify({ waiting: this.#waiting, managers }, null, 1);
  }

  #recording(exchange: Exchange): Exchange {
    return (request, sink) => {
      const { method, path, body } = request;
      const isRemoval =
        (method === 'DELETE' && /\/pods\//.test(path)) ||
        (method === 'POST' && /\/eviction(\?|$)/.test(path));
      if (!isRemoval) return exchange(request, sink);
      const [, uid = ''] = /"uid":"([^"]+)"/.exec(String(body ?? '')) ?? [];
      return exchange(request, {
        ...sink,
        head: (status, headers) => {
          if (status < 300) this.#removals.push({ uid, at: Date.now() });
          sink.head(status, headers);
        },
      });
    };
  }
}

import { PlainServer, type PlainServerOptions } from './api/plain-server.ts';
import { populationDelayMs, type RestingCluster } from './at-rest/at-rest.ts';
import { AttachDetach, type AttachTiming } from './controllers/attach-detach.ts';
import { ConditionTaints } from './controllers/condition-taints.ts';
import type { Controller, ControllerContext } from './controllers/controller.ts';
import { EndpointSlices } from './controllers/endpoint-slices.ts';
import { GarbageCollector } from './controllers/garbage-collector.ts';
import { isIdle, isSettled } from './controllers/idle.ts';
import { Lookup } from './controllers/lookup.ts';
import { Namespaces } from './controllers/namespaces.ts';
import { PodCollector } from './controllers/pod-collector.ts';
import { PublishedObjects } from './controllers/published-objects.ts';
import { ResourceClaims } from './controllers/resource-claims.ts';
import { StandAside } from './controllers/stand-aside.ts';
import { DisruptionController } from './disruption/disruption-controller.ts';
import { StaleTargets } from './disruption/stale-targets.ts';
import type { Clock, Timer } from './kernel/clock.ts';
import { seedFor } from './kernel/hash.ts';
import { PodDice } from './kernel/pod-dice.ts';
import { seededRandom } from './kernel/prng.ts';
import { adoptedNodes } from './kubelet/adopted-nodes.ts';
import type { Kubelet, ReportRenewal } from './kubelet/kubelet.ts';
import { Kubelets } from './kubelet/kubelets.ts';
import type { NodeDescription } from './kubelet/node-status.ts';
import { defaultTiming, type KubeletTiming } from './kubelet/timing.ts';
import type { KubeObject } from './objects/kube-object.ts';
import { resources } from './resources/resources.ts';
import type { SelectsDevice } from './scheduler/device-pools.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import { VolumeBinder } from './scheduler/volume-binder.ts';
import { type Topology, topologyNodes, topologyObjects } from './topology.ts';
import type { Exchange } from './wire/exchange.ts';
import { Ownership } from './workloads/ownership.ts';
import { Workloads } from './workloads/workloads.ts';
import type { LoadReport } from './write/load.ts';

/** A part of the cluster that can be switched off. */
export type ClusterPart =
  | 'conditionTaints'
  | 'workloads'
  | 'scheduler'
  | 'disruption'
  | 'garbageCollection'
  | 'namespaces'
  | 'endpoints'
  | 'publishedObjects'
  | 'policyStatus'
  | 'volumes'
  | 'resourceClaims'
  | 'evictionRequests';

/** Makes the controllers of a part. */
type MakePart = (context: ControllerContext, options: ClusterOptions) => readonly Controller[];

/** The parts of the cluster beside the API server and the kubelets. */
const makeParts: Readonly<Record<ClusterPart, MakePart>> = {
  conditionTaints: (context) => [new ConditionTaints(context)],
  workloads: (context, { rolloutHistory = false }) => [
    new Ownership(context),
    new Workloads(context, 'replicasets', rolloutHistory),
    new Workloads(context, 'pods', rolloutHistory),
  ],
  scheduler: (context, { seed, resting, selectsDevice: selects }) => [
    new Scheduler(context, seedFor(seed, 'scheduler'), { next: resting?.nextPlace, selects }),
  ],
  disruption: (context) => [new DisruptionController(context), new StaleTargets(context)],
  garbageCollection: (context) => [new GarbageCollector(context), new PodCollector(context)],
  namespaces: (context) => [new Namespaces(context)],
  endpoints: (context) => [new EndpointSlices(context)],
  policyStatus: () => [],
  volumes: (context, { attachTiming }) => [
    new VolumeBinder(context),
    new AttachDetach(context, attachTiming),
  ],
  resourceClaims: (context) => [new ResourceClaims(context)],
  evictionRequests: () => [],
  publishedObjects: (context, { ca }) => (ca ? [new PublishedObjects(context, ca)] : []),
};

/** Under which names the parts write; most run within the controller manager. */
const controllerManager = 'kube-controller-manager';
const managers: Readonly<Partial<Record<ClusterPart, string>>> = {
  scheduler: 'kube-scheduler',
  policyStatus: 'validatingadmissionpolicy-status',
};

/** The parts whose work a kube-controller-manager does as well, and that must not run twice. */
const replaceable: readonly ClusterPart[] = [
  'conditionTaints',
  'workloads',
  'disruption',
  'garbageCollection',
  'namespaces',
  'endpoints',
  'policyStatus',
  'volumes',
  'resourceClaims',
];

/** The options of `Cluster`. */
export interface ClusterOptions {
  /** The clock of all parts: a `VirtualClock` in tests and simulations, else a `RealClock`. */
  readonly clock: Clock;
  /** Everything random is drawn from it: equal seeds on virtual clocks give equal histories. */
  readonly seed: number;
  /** Its nodes start with the cluster, its workloads follow. Without one the cluster is empty. */
  readonly topology?: Topology;
  /** The cluster to continue from, at the same instant or later; in place of a topology. */
  readonly resting?: RestingCluster;
  /**
   * Objects of a real cluster, lists or single ones as `kubectl get -o json` prints them or as
   * @kubernetes/client-node reads them, that are there from the start; `loadReport` says what could not be taken.
   */
  readonly snapshot?: readonly unknown[];
  /**
   * Keeps the snapshot alive: a node that was Ready, and has not fallen silent since, gets a
   * kubelet, which takes over its pods. Those whose containers were not ready stay so until they
   * are replaced. Left out, the loaded nodes have none and stay as they are.
   */
  readonly adopt?: boolean;
  /**
   * The parts that another program plays; all are on by default. A node lifecycle controller does
   * the work of `conditionTaints` as well.
   */
  readonly without?: readonly ClusterPart[];
  /** Reads the expressions that select devices; left out: those that name a driver, and no others. */
  readonly selectsDevice?: SelectsDevice;
  /** The times of kubelets and pods; left out: `defaultTiming`. */
  readonly timing?: Partial<KubeletTiming>;
  /** Milliseconds to attach and to detach a volume; left out: 500 and 1000. */
  readonly attachTiming?: AttachTiming;
  /**
   * Writes the objects that `kubectl rollout history`, `undo` and `status --revision` read: the
   * ControllerRevisions of DaemonSets and StatefulSets, and the annotations of Deployments and
   * their ReplicaSets. Default false: no part of the cluster reads them.
   */
  readonly rolloutHistory?: boolean;
  /**
   * The certificate, PEM, by which clients know the API server; each namespace gets it, and a
   * ServiceAccount. Left out: the cluster cannot be reached from outside, and namespaces are empty.
   */
  readonly ca?: string;
  /** The options of the API server that the cluster does not set itself. */
  readonly apiServer?: Omit<PlainServerOptions, 'clock' | 'random' | 'podDice' | 'front'>;
  /** Makes the API server; left out: one without a front. */
  readonly makeApi?: (options: PlainServerOptions) => PlainServer;
  /** Parts that need an API server with a front. */
  readonly parts?: Readonly<Partial<Record<ClusterPart, MakePart>>>;
}

/** A whole Kubernetes cluster on one clock and one seed. */
export class Cluster {
  /** The API server: its objects, its faults, and `exchange` for clients. */
  readonly api: PlainServer;
  /** The result of loading the snapshot. */
  readonly loadReport: LoadReport;
  readonly #objects: readonly KubeObject[];
  readonly #populationDelayMs: number;
  readonly #kubelets: Kubelets;
  readonly #controllers: readonly Controller[];
  readonly #aside: readonly StandAside[];
  #population: Timer | null = null;
  #isPopulated: boolean;

  constructor(options: ClusterOptions) {
    const { clock, seed, topology, resting, snapshot = [], without = [] } = options;
    const timing = { ...defaultTiming, ...options.timing };
    const random = seededRandom(seedFor(seed, 'api-server'), resting?.drawn);
    const from = resting ? { from: resting.store } : {};
    const { makeApi = (given) => new PlainServer(given) } = options;
    const podDice = new PodDice(seed, resting?.podsMade);
    this.api = makeApi({ ...options.apiServer, ...from, clock, random, podDice });
    this.#isPopulated = resting !== undefined;
    this.loadReport = this.api.load(snapshot);
    this.#objects = topology ? topologyObjects(topology) : [];
    this.#populationDelayMs = timing.startupMs[1] + populationDelayMs;
    const lookup = new Lookup(this.api);
    const named = (manager: string): ControllerContext => {
      return { api: this.api.as(manager), lookup };
    };
    const isBrief = options.apiServer?.brief ?? false;
    this.#kubelets = new Kubelets(named('kubelet'), seed, { timing, isBrief });
    this.api.connectNodes((name) => this.#kubelets.get(name)?.dial() ?? 'refused');
    const parts = Object.keys(makeParts) as readonly ClusterPart[];
    const made = parts
      .filter((part) => !without.includes(part))
      .map((part) => {
        const make = options.parts?.[part] ?? makeParts[part];
        const controllers = make(named(managers[part] ?? controllerManager), options);
        return { part, controllers };
      });
    this.#controllers = made.flatMap(({ controllers }) => controllers);
    const doneTwice = made.filter(({ part }) => replaceable.includes(part));
    const { watchers } = this.api;
    const replaced = doneTwice.flatMap(({ controllers }) => controllers);
    const published = made.filter(({ part }) => part === 'publishedObjects');
    this.#aside = [
      // All of its controllers together open this, and those of nodes and taints alone do not.
      new StandAside(clock, watchers, replaced, 'replicasets'),
      // A kube-controller-manager publishes its root CA, if it has one.
      new StandAside(
        clock,
        watchers,
        published.flatMap(({ controllers }) => controllers),
        'configmaps',
      ),
    ];
    const adopted = options.adopt ? adoptedNodes(this.api, timing.heartbeatMs) : [];
    for (const { node, progress } of resting?.machines ?? adopted) {
      this.#kubelets.add(node, progress);
    }
    for (const machine of topology ? topologyNodes(topology) : []) this.#kubelets.add(machine);
  }

  /** The API server's answer to HTTP requests given as values. */
  get exchange(): Exchange {
    return this.api.exchange;
  }

  /** Lets everything work; when the nodes are up, the topology's workloads are created, once. */
  start(): void {
    for (const aside of this.#aside) aside.start();
    for (const controller of this.#controllers) {
      if (!this.#aside.some((aside) => aside.holds(controller))) controller.start();
    }
    this.#kubelets.start();
    if (this.#isPopulated) return;
    this.#population ??= this.api.clock.after(this.#populationDelayMs, () => this.#populate());
  }

  /** Everything stops; the API server still answers. */
  stop(): void {
    this.#population?.cancel();
    this.#population = null;
    for (const aside of this.#aside) aside.stop();
    this.#kubelets.stop();
    for (const controller of this.#controllers) controller.stop();
  }

  /**
   * Lets kubelets report renewals of their leases instead of writing them, if `report` accepts
   * them: most renewals change nothing, yet they are most of the events in a cluster. The stored
   * leases fall behind until a kubelet stops, so this is for a simulation in which no other part
   * reads leases.
   */
  reportRenewals(report: ReportRenewal): void {
    this.#kubelets.reportRenewals(report);
  }

  /** Writes the renewals that were reported so far, before leases are read. */
  writeRenewals(): void {
    this.#kubelets.writeRenewals();
  }

  /** The kubelet of a node. Throws an Error for a node that has none. */
  node(name: string): Kubelet {
    const kubelet = this.#kubelets.get(name);
    if (!kubelet) throw new Error(`no kubelet for node ${name}`);
    return kubelet;
  }

  /**
   * True if a node has a kubelet, at work or stopped: in a snapshot only nodes that were alive have
   * one.
   */
  hasKubelet(name: string): boolean {
    return this.#kubelets.get(name) !== null;
  }

  /** The kubelets of a zone. Throws an Error for a zone that has none. */
  zone(name: string): readonly Kubelet[] {
    const kubelets = this.#kubelets.inZone(name);
    if (kubelets.length === 0) throw new Error(`no kubelet in zone ${name}`);
    return kubelets;
  }

  /** Adds a machine, which registers itself when the cluster runs. */
  addNode(node: NodeDescription): Kubelet {
    return this.#kubelets.add(node);
  }

  /** Takes the machine away and deletes its Node; its pods are collected later. */
  removeNode(name: string): void {
    this.#kubelets.remove(name);
    if (this.api.get('nodes', '', name)) this.api.delete('nodes', '', name);
  }

  /**
   * True if everything is as the specs ask for: nodes Ready, workloads complete, budgets counted,
   * no pod on its way in or out. Never true while a kubelet is stopped on a node that should have
   * reported, a pod fits nowhere, or one of a snapshot is not ready and stays so.
   */
  isIdle(): boolean {
    return (
      this.#isPopulated &&
      this.#controllers.every(({ isIdle }) => isIdle) &&
      this.#kubelets.areRegistered() &&
      isIdle(this.api)
    );
  }

  /** Tells whether an object waits for none of the cluster's own parts; absent ones never wait. */
  isSettled(resource: string, namespace: string, name: string): boolean {
    const object = this.api.get(resource, namespace, name);
    return object === null || isSettled(resource, object);
  }

  #populate(): void {
    this.#isPopulated = true;
    for (const object of this.#objects) this.#createMissing(object);
  }

  #createMissing(object: KubeObject): void {
    const { namespace = '', name } = object.metadata;
    const resource = resources.find(({ kind }) => kind === object.kind);
    if (!resource) throw new Error(`unknown kind ${object.kind}`);
    if (this.api.get(resource.plural, namespace, name)) return;
    this.api.create(resource.plural, object);
  }
}

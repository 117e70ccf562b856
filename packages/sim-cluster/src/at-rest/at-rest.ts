// A cluster at rest, made in one go from a description of its contents.
import { directApi } from '../api/direct-api.ts';
import { presetNamespaces } from '../api/preset-namespaces.ts';
import type { ControllerContext } from '../controllers/controller.ts';
import { Lookup } from '../controllers/lookup.ts';
import { DisruptionController } from '../disruption/disruption-controller.ts';
import { VirtualClock } from '../kernel/clock.ts';
import { seedFor } from '../kernel/hash.ts';
import { PodDice } from '../kernel/pod-dice.ts';
import { type CountedRandom, countedRandom } from '../kernel/prng.ts';
import type { KubeletProgress } from '../kubelet/kubelet.ts';
import { leaseNamespace, leaseOf } from '../kubelet/lease.ts';
import type { NodeDescription } from '../kubelet/node-status.ts';
import type { KubeletTiming } from '../kubelet/timing.ts';
import { freeze, sharing } from '../objects/json.ts';
import type { Json, KubeObject, ManagedFields, ObjectMeta } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';
import type { Taint } from '../objects/tolerations.ts';
import { resources, storedResource } from '../resources/resources.ts';
import { ServedResources } from '../resources/served.ts';
import { Placement } from '../scheduler/placement.ts';
import { isPending } from '../scheduler/scheduler.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import { Store } from '../store/store.ts';
import { Workloads } from '../workloads/workloads.ts';
import type { Backend } from '../write/backend.ts';
import { boundTo } from '../write/binding.ts';
import { BriefWrites, freezesBriefly } from '../write/brief.ts';
import { createObject, newMetadata } from '../write/create.ts';
import { Drafts } from './drafts.ts';
import { Machine } from './machine.ts';

// Nodes that are alike are made of the first of them.

const notReadyKey = 'node.kubernetes.io/not-ready';
const manager = { manager: 'kubelet' };

/** The first node of each description. */
class NodeMoulds {
  readonly #backend: Backend;
  readonly #moulds: { readonly like: NodeDescription; readonly node: KubeObject }[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** The node as the API server would store it, but for the taint that goes when it is ready. */
  node(description: NodeDescription, given: KubeObject): KubeObject {
    const nodes = storedResource('nodes');
    const mould = this.#moulds.find(({ like }) => isAlike(like, description))?.node;
    if (mould) {
      const { labels = {}, managedFields } = mould.metadata;
      const hostname = { 'kubernetes.io/hostname': description.name };
      const metadata = {
        ...newMetadata(this.#backend, nodes, given.metadata, ''),
        labels: 'kubernetes.io/hostname' in labels ? { ...labels, ...hostname } : labels,
        ...(managedFields ? { managedFields } : {}),
      };
      const { addresses, nodeInfo } = given.status;
      return { ...mould, metadata, status: { ...mould.status, addresses, nodeInfo } };
    }
    const created = createObject(this.#backend, nodes, given, '', { ...manager, dryRun: true });
    const node = freeze(withoutNotReady(created));
    this.#moulds.push({ like: description, node });
    return node;
  }
}

/** True if two nodes differ only in their names and other values of one node. */
function isAlike(a: NodeDescription, b: NodeDescription): boolean {
  return (
    a.region === b.region &&
    a.zone === b.zone &&
    a.labels === b.labels &&
    a.taints === b.taints &&
    a.capacity === b.capacity
  );
}

/** A component that looks after nodes removes that taint again. */
function withoutNotReady(node: KubeObject): KubeObject {
  const { taints, ...spec } = node.spec;
  const kept = (taints as readonly Taint[]).filter(({ key }) => key !== notReadyKey);
  if (kept.length > 0) return { ...node, spec: { ...spec, taints: kept } };
  const { managedFields = [] } = node.metadata;
  return {
    ...node,
    spec,
    metadata: { ...node.metadata, managedFields: managedFields.map(untainted) },
  };
}

function untainted({ fieldsV1, ...entry }: ManagedFields): ManagedFields {
  const { 'f:spec': _, ...fields } = fieldsV1 ?? {};
  return { ...entry, fieldsV1: fields };
}

/** The cluster that `bringToRest` starts. */
export interface SettleOptions {
  /** When the cluster is switched on, in milliseconds since the Unix epoch. */
  readonly startsAt: number;
  /** The seed of the cluster. */
  readonly seed: number;
  /** The times of kubelets and pods. */
  readonly timing: KubeletTiming;
  /** The machines, in the order in which they register. */
  readonly nodes: readonly NodeDescription[];
  /** Workloads and budgets, and the namespaces in which they are, in the order in which they come. */
  readonly objects: readonly KubeObject[];
}

/** A cluster at rest, from which any number of clusters go on: it does not change any more. */
export interface RestingCluster {
  /** When it came to rest, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The stored objects. */
  readonly store: Store;
  /** The number of random numbers that its API server has drawn. */
  readonly drawn: number;
  /** The number of pods made, by name and prefix. */
  readonly podsMade: ReadonlyMap<string, number>;
  /** The nodes, and the state of their kubelets, in the order in which they started. */
  readonly machines: readonly {
    /** The description of the node. */
    readonly node: NodeDescription;
    /** The state of its kubelet. */
    readonly progress: KubeletProgress;
  }[];
  /** The place at which the scheduler's next search begins. */
  readonly nextPlace: number;
}

/** The delay of the workloads after the latest time at which the last node becomes Ready. */
export const populationDelayMs = 500;
const startRv = 1000;
/** The number of instants before the generator yields. */
const instantsAtOnce = 20;

/**
 * Returns the cluster in which these nodes and workloads have started and nothing else has
 * happened: the same objects, at the same times and from the same random numbers, as if all parts
 * of a cluster had worked on them. Only the final states are stored. Pods that fit nowhere are left
 * pending. Yields now and then.
 */
export function* bringToRest(options: SettleOptions): Generator<null, RestingCluster> {
  const settling = new Settling(options);
  for (let instants = 1; settling.next(); instants++) {
    if (instants % instantsAtOnce === 0) yield null;
  }
  return settling.result();
}

class Settling {
  readonly #clock: VirtualClock;
  readonly #random: CountedRandom;
  readonly #backend: Backend;
  readonly #api: ClusterApi;
  readonly #drafts: Drafts;
  readonly #workloads: readonly Workloads[];
  readonly #placement: Placement;
  readonly #moulds: NodeMoulds;
  readonly #leases = new Map<string, ObjectMeta>();
  readonly #machines = new Map<string, Machine>();
  #pending: string[] = [];
  #lastStatus: Json | null = null;

  constructor({ startsAt, seed, timing, nodes, objects }: SettleOptions) {
    this.#clock = new VirtualClock(startsAt);
    this.#random = countedRandom(seedFor(seed, 'api-server'));
    this.#backend = {
      store: new Store({ startRv, historyLength: 0, freezes: freezesBriefly }),
      served: new ServedResources(),
      clock: this.#clock,
      random: this.#random.random,
      podDice: new PodDice(seed),
      admission: { judge: () => {} },
      isBrief: true,
    };
    this.#moulds = new NodeMoulds(this.#backend);
    const brief = new BriefWrites(this.#backend);
    const manager = 'kube-controller-manager';
    this.#api = directApi(this.#backend, manager, brief);
    this.#drafts = new Drafts(this.#api, (given) => {
      const { namespace = '' } = given.metadata;
      return brief.draftPod(storedResource('pods'), given, namespace, { manager });
    });
    this.#placement = new Placement({
      objects: this.#drafts,
      seed: seedFor(seed, 'scheduler'),
      ignoresClaims: true,
    });
    const context = contextOf(this.#drafts);
    this.#workloads = [new Workloads(context, 'replicasets'), new Workloads(context, 'pods')];
    this.#drafts.subscribe(
      ({ type, key }) => {
        if (type === 'ADDED') this.#await(key);
      },
      new Set(['pods']),
    );
    for (const name of presetNamespaces) this.#api.create('namespaces', { metadata: { name } });
    const common = { seed, timing, now: startsAt };
    for (const node of nodes) this.#add(new Machine(node, this.#machines.size + 1, common));
    this.#clock.after(timing.startupMs[1] + populationDelayMs, () => this.#populate(objects));
  }

  /** Advances to the next instant; false: everything is at rest. */
  next(): boolean {
    const next = this.#clock.nextWake();
    if (next !== null) this.#clock.advanceTo(next);
    return next !== null;
  }

  result(): RestingCluster {
    for (const one of this.#workloads) one.stop();
    this.#store();
    const at = this.#clock.now();
    const budgets = new DisruptionController(contextOf(this.#api));
    budgets.start();
    this.#clock.advanceTo(at);
    budgets.stop();
    return {
      at,
      store: this.#backend.store,
      drawn: this.#random.drawn(),
      podsMade: this.#backend.podDice.made,
      machines: Array.from(this.#machines.values(), (machine) => {
        return { node: machine.description, progress: machine.progress(at) };
      }),
      nextPlace: this.#placement.next,
    };
  }

  #add(machine: Machine): void {
    const { description } = machine;
    const node = this.#moulds.node(description, machine.register());
    this.#machines.set(description.name, machine);
    this.#clock.after(machine.readyAt - this.#clock.now(), () => {
      this.#backend.store.put('nodes', machine.reported(node, machine.readyAt), null);
      this.#leases.set(description.name, this.#newLease(node));
    });
  }

  /** Its metadata: the rest is known when all is at rest. */
  #newLease(node: KubeObject): ObjectMeta {
    const { metadata } = leaseOf(node, '');
    const leases = storedResource('leases');
    return newMetadata(this.#backend, leases, metadata, leaseNamespace);
  }

  #populate(objects: readonly KubeObject[]): void {
    for (const node of this.#api.list('nodes')) this.#placement.setNode(node);
    for (const one of this.#workloads) one.start();
    for (const object of objects) {
      const { namespace = '', name } = object.metadata;
      const resource = resources.find(({ kind }) => kind === object.kind);
      if (!resource) throw new Error(`unknown kind ${object.kind}`);
      if (!this.#api.get(resource.plural, namespace, name)) {
        this.#drafts.create(resource.plural, object);
      }
    }
  }

  /** New pods are placed together, as by a scheduler that hears of them. */
  #await(key: string): void {
    if (this.#pending.length === 0) this.#clock.after(0, () => this.#placeAll());
    this.#pending.push(key);
  }

  #placeAll(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const key of pending) {
      const pod = this.#drafts.find('pods', key);
      const place = pod && isPending(pod) ? this.#placement.best(pod) : null;
      const machine = this.#machines.get(place?.name ?? '');
      if (pod && machine) this.#bind(key, pod, machine);
    }
  }

  #bind(key: string, pod: KubeObject, machine: Machine): void {
    const at = formatTime(this.#clock.now());
    const bound = boundTo(pod, machine.description.name, at);
    this.#placement.setPod(key, bound);
    this.#drafts.update('pods', bound);
    this.#clock.after(machine.startMs(bound), () => {
      const started = machine.started(bound, at, formatTime(this.#clock.now()));
      // Pods that start within a second share most of their status.
      const status = sharing(started, this.#lastStatus ?? started);
      this.#lastStatus = status;
      // The time of a kubelet's write: after all other work due by then.
      this.#clock.after(0, () => this.#drafts.update('pods', { ...bound, status }));
    });
  }

  /** Stores the final states of drafts, and the current states of nodes. */
  #store(): void {
    const { store } = this.#backend;
    const now = this.#clock.now();
    for (const [name, machine] of this.#machines) {
      const node = store.get('nodes', '', name);
      const metadata = this.#leases.get(name);
      if (!node || !metadata) continue;
      const reported = sharing(machine.reported(node, now), node);
      if (reported !== node) store.put('nodes', reported, node);
      store.put('leases', { ...machine.lease(node, now), metadata }, null);
    }
    for (const { storeKey } of this.#drafts.stored()) {
      const drafts = Array.from(this.#drafts.drafts(storeKey)).sort(byKey);
      for (const [key, draft] of drafts) {
        store.put(storeKey, draft, store.collection(storeKey).get(key));
      }
    }
  }
}

function contextOf(api: ClusterApi): ControllerContext {
  return { api, lookup: new Lookup(api) };
}

type Keyed = readonly [key: string, draft: KubeObject];

function byKey([a]: Keyed, [b]: Keyed): number {
  return a < b ? -1 : 1;
}

// The stage of a simulation: a cluster, its clock, its controllers and its drains.

import {
  type Config,
  createEngine,
  type Engine,
  type Event,
  type Explanation,
  type Outcome,
  type Subject,
} from '@taintmgr/core';
import type { ZoneStatus } from '@taintmgr/core/lifecycle';
import type { Instant, Millis } from '@taintmgr/core/time';
import { DeviceSight, Loop, type Notice, VirtualDriver } from '@taintmgr/k8s-adapter';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import { policyEvent } from '@taintmgr/k8s-adapter/manifests';
import { type Condition, zoneLabel } from '@taintmgr/k8s-adapter/survey';
import type {
  Cluster,
  Kubelet,
  KubeObject,
  NodeConditionType,
  NodeDescription,
  Random,
  VirtualClock,
} from '@taintmgr/sim-cluster';

/** A demand of an event that the cluster cannot meet. */
export class StageFault extends Error {
  override readonly name = 'StageFault';
}

/** The reason why a node is disconnected. */
export type DisconnectCause = 'kubelet' | 'network';

/** Receives events that the cluster itself does not report. */
interface StageEvents {
  /** A machine dies, or is back. */
  readonly onMachine: (node: string, runs: boolean) => void;
  /** A drain has asked for a pod to be evicted. */
  readonly onDrainAttempt: OnAttempt;
}

/** The longest a kubelet takes to come back after the API server was away. */
const kubeletsBackMs = 2_001;

/** The cluster of a simulation, as its script acts on it. Keeps the state that the events undo or repeat. */
export class Stage {
  readonly cluster: Cluster;
  /** Of ours; what else acts on the cluster does so by itself. */
  readonly controller: Controller;
  readonly #hears: StageEvents;
  readonly #drains = new Map<string, NodeDrain>();
  /** Nodes that events have disconnected, and how often for each cause. */
  readonly #disconnected = new Map<string, Map<DisconnectCause, number>>();
  /** Conditions that events have set, by node. */
  readonly #conditions = new Map<string, Map<NodeConditionType, boolean>>();
  readonly #slow: { readonly ms: Millis; readonly end: () => void }[] = [];
  #outages = 0;

  constructor(cluster: Cluster, controller: Controller, hears: StageEvents) {
    this.cluster = cluster;
    this.controller = controller;
    this.#hears = hears;
    for (const name of silentNodes(cluster)) this.disconnect(name, 'kubelet');
  }

  /** The API for writers from outside. Throws StageFault while the API server is out of reach. */
  get api(): Cluster['api'] {
    if (this.#outages > 0) throw new StageFault('the API server is out of reach at this time');
    return this.cluster.api;
  }

  node(name: string): KubeObject {
    const node = this.cluster.api.get('nodes', '', name);
    if (!node) throw new StageFault(`there is no node ${name} at this time`);
    return node;
  }

  /** The pods of a workload that are on nodes and not on their way out, by name. */
  podsOf(namespace: string, workload: string): readonly KubeObject[] {
    const { api } = this.cluster;
    const sets = api.list('replicasets', namespace).filter((set) => isOwnedBy(set, [workload]));
    const owners = [workload, ...sets.map(({ metadata }) => metadata.name)];
    return api
      .list('pods', namespace)
      .filter((pod) => pod.spec.nodeName && isOwnedBy(pod, owners))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  changeSpec(name: string, change: (spec: KubeObject['spec']) => object): void {
    const node = this.node(name);
    this.api.update('nodes', { ...node, spec: change(node.spec ?? {}) });
  }

  disconnect(name: string, cause: DisconnectCause): void {
    this.node(name);
    if (this.cluster.hasKubelet(name)) this.cluster.node(name).stop();
    const causes = this.#disconnected.get(name) ?? new Map<DisconnectCause, number>();
    this.#disconnected.set(name, causes.set(cause, (causes.get(cause) ?? 0) + 1));
    if (cause === 'kubelet') this.#hears.onMachine(name, false);
  }

  /** Ends one disconnection for a cause, or (`all`) every one; the node is back when none is left. */
  reconnect(name: string, cause: DisconnectCause, all: boolean): void {
    const causes = this.#disconnected.get(name);
    const left = all ? 0 : (causes?.get(cause) ?? 1) - 1;
    if (left > 0) causes?.set(cause, left);
    else causes?.delete(cause);
    if (cause === 'kubelet' && left <= 0) this.#hears.onMachine(name, true);
    if (causes && causes.size > 0) return;
    this.#disconnected.delete(name);
    this.#resume(name);
  }

  #resume(name: string): void {
    const { labels = {} } = this.node(name).metadata;
    const zone = labels[zoneLabel];
    // A node that was not ready in the snapshot has no kubelet yet.
    const kubelet = this.cluster.addNode({ name, ...(zone === undefined ? {} : { zone }) });
    if (this.#outages > 0) return;
    kubelet.resume();
    this.#restoreConditions(name);
  }

  /** As kubectl drain: cordons a node, and evicts its pods. */
  drain(name: string): void {
    this.changeSpec(name, cordoned);
    this.#drains.get(name)?.stop();
    this.#drains.set(name, new NodeDrain(this.cluster, name, this.#hears.onDrainAttempt));
  }

  /** Stops asking for evictions, and pods may be scheduled to the node again. */
  endDrain(name: string): void {
    this.#drains.get(name)?.stop();
    this.#drains.delete(name);
    this.changeSpec(name, uncordoned);
  }

  /** Sets the clock of a machine; later writes of its kubelet are off by this. */
  setClock(name: string, byMs: Millis): void {
    this.#kubelet(name).setClockSkew(byMs);
  }

  setCondition(name: string, type: NodeConditionType, status: boolean): void {
    const conditions = this.#conditions.get(name) ?? new Map<NodeConditionType, boolean>();
    this.#conditions.set(name, conditions.set(type, status));
    this.#kubelet(name).setCondition(type, status);
  }

  remove(name: string): void {
    const { api } = this;
    if (!api.get('nodes', '', name)) throw new StageFault(`there is no node ${name} at this time`);
    this.#disconnected.delete(name);
    this.#conditions.delete(name);
    this.cluster.removeNode(name);
    this.#hears.onMachine(name, false);
  }

  /** Adds a machine. */
  add(node: NodeDescription): void {
    const { name } = node;
    if (this.cluster.api.get('nodes', '', name)) {
      throw new StageFault(`node ${name} is there already`);
    }
    this.cluster.addNode(node);
    this.#hears.onMachine(name, true);
  }

  /** Cuts all clients off from the API server, or reconnects all. */
  setOutage(isOut: boolean): void {
    this.#outages += isOut ? 1 : -1;
    const { cluster } = this;
    if (isOut && this.#outages === 1) {
      cluster.api.faults.down = true;
      cluster.stop();
    } else if (!isOut && this.#outages === 0) {
      cluster.api.faults.down = false;
      cluster.start();
      for (const name of this.#disconnected.keys()) {
        if (cluster.hasKubelet(name)) cluster.node(name).stop();
      }
      // A kubelet that comes back reports that it is ready; the conditions that were set count.
      cluster.api.clock.after(kubeletsBackMs, () => {
        for (const name of this.#conditions.keys()) this.#restoreConditions(name);
      });
    }
  }

  /** Delays requests by this time, until `speedUp` was called as often with the same time. */
  slowDown(ms: Millis): void {
    const end = this.cluster.api.faults.add({ fault: { kind: 'delay', ms } });
    this.#slow.push({ ms, end });
  }

  speedUp(ms: Millis): void {
    const at = this.#slow.findIndex((one) => one.ms === ms);
    for (const { end } of at < 0 ? [] : this.#slow.splice(at, 1)) end();
  }

  #restoreConditions(name: string): void {
    for (const [type, status] of this.#conditions.get(name) ?? []) {
      this.#kubelet(name).setCondition(type, status);
    }
  }

  #kubelet(name: string): Kubelet {
    this.node(name);
    if (this.cluster.hasKubelet(name)) return this.cluster.node(name);
    throw new StageFault(`node ${name} has no kubelet: it was not alive in the snapshot`);
  }
}

/** The nodes of a snapshot that are Ready and have fallen silent since. */
export function silentNodes(cluster: Cluster): readonly string[] {
  const names = cluster.api
    .list('nodes')
    .filter(isReady)
    .map(({ metadata }) => metadata.name);
  return names.filter((name) => !cluster.hasKubelet(name));
}

/** Tells whether a node or pod is ready, as its conditions say. */
export function isReady({ status }: KubeObject): boolean {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
}

export function cordoned(spec: KubeObject['spec']): object {
  return { ...spec, unschedulable: true };
}

export function uncordoned({ unschedulable: _, ...spec }: KubeObject['spec']): object {
  return spec;
}

function isOwnedBy({ metadata }: KubeObject, names: readonly string[]): boolean {
  return metadata.ownerReferences?.some(({ name }) => names.includes(name)) ?? false;
}

export interface ControllerOptions {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Of what chance decides in kube-controller-manager; null: nothing does. */
  readonly seed: number | null;
  readonly config: Partial<Config>;
  readonly policies: readonly PolicyObject[];
  /**
   * The time since which it has acted, as kube-controller-manager has in the cluster; null: it begins now.
   */
  readonly upstreamSince: Instant | null;
  /** True where it is stopped at some time, so that the counts of limits must be written down. */
  readonly restarts: boolean;
  readonly onNotice: (notice: Notice) => void;
  /** Called when it stops or begins again; left out: not needed. */
  readonly onLead?: (held: boolean) => void;
}

/** A process of the controller. */
interface Process {
  readonly engine: Engine;
  readonly loop: Loop;
  readonly driver: VirtualDriver;
  /** The lead of its clock at the beginning: its own time includes it. */
  readonly aheadMs: Millis;
}

const deviceKinds = '/apis/resource.k8s.io/v1';

/** Where the cluster of a simulation serves devices. */
export const devicePaths = {
  resourceslices: `${deviceKinds}/resourceslices`,
  resourceclaims: `${deviceKinds}/resourceclaims`,
  devicetaintrules: `${deviceKinds}/devicetaintrules`,
} as const;

/** The lease for the counts of the controller's limits. */
const limitsLease = { namespace: 'kube-system', name: 'taintmgr-limits' };

/** The controller, of which one process at a time acts. */
export class Controller {
  readonly #options: ControllerOptions;
  #policies: readonly PolicyObject[];
  #process: Process;
  /** Stopped processes with requests under way. */
  #ending: readonly Process[] = [];
  #aheadMs: Millis = 0;
  #isStopped = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#policies = options.policies;
    this.#process = this.#make();
    this.#lead(options.upstreamSince);
    // The engine hears of them at once, by a shorter way than over writes, watches and readers.
    options.cluster.reportRenewals((nodeName, renewedAt) => {
      const { loop, driver } = this.#process;
      if (this.#isStopped || !loop.synced || loop.cutOffSince !== null) return false;
      const lease = { nodeName, renewedAt };
      driver.hear({ kind: 'leaseUpsert', lease });
      return true;
    });
  }

  /** All processes to drive: those that work, and those that are ending. */
  get processes(): readonly Process[] {
    this.#ending = this.#ending.filter(({ loop }) => !loop.closed);
    return this.#isStopped ? this.#ending : [...this.#ending, this.#process];
  }

  /** True while there are pauses. */
  get hasPauses(): boolean {
    return this.#policies.some(({ kind }) => kind === 'EvictionPause');
  }

  /** Returns its explanation of a node or pod; null also while it is stopped. */
  explain(subject: Subject): Explanation {
    return this.#isStopped ? null : this.#process.engine.explain(this.#now, subject);
  }

  /** The state of zones, as far as it knows. */
  zones(): readonly ZoneStatus[] {
    return this.#isStopped ? [] : this.#process.engine.zones(this.#now);
  }

  start(): void {
    this.#process.driver.feed({ kind: 'start' });
  }

  /** Stops the process; requests that it had sent finish. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#options.cluster.writeRenewals();
    this.#process.driver.feed({ kind: 'stop' });
    this.#ending = [...this.#ending, this.#process];
    this.#options.onLead?.(false);
  }

  /** Starts another process, which knows only the objects of the cluster. */
  restart(): void {
    if (!this.#isStopped) return;
    this.#process = this.#make();
    this.#isStopped = false;
    this.#lead(null);
    this.start();
    this.#options.onLead?.(true);
  }

  /** Puts a policy or a pause in force. */
  apply(object: PolicyObject): void {
    this.#policies = [...this.#policies.filter((one) => !isSame(one, object)), object];
    const event = policyEvent(object);
    if (event) this.#hear(event);
  }

  /** Takes a pause away; false: there is none of that name. */
  endPause(name: string): boolean {
    const left = this.#policies.filter((one) => {
      return one.kind !== 'EvictionPause' || one.value.name !== name;
    });
    if (left.length === this.#policies.length) return false;
    this.#policies = left;
    this.#hear({ kind: 'pauseDelete', name });
    return true;
  }

  /** Limits that have tripped go on: those of these names, or (null) all. */
  resume(limits: readonly string[] | null): void {
    this.#hear({ kind: 'resumeEvictions', ...(limits && { limits }) });
  }

  /** Sets the clock of its machine forward or back. */
  stepClock(byMs: Millis): void {
    this.#aheadMs += byMs;
  }

  /** Takes the lead; `since`: it has acted since then; null: it begins now. */
  #lead(since: Instant | null): void {
    const { clock, config, seed } = this.#options;
    if (config.semantics !== 'upstream-1.36' && since === null) return;
    const known = { ...(since !== null && { since }), ...(seed !== null && { seed }) };
    this.#process.engine.handle(clock.now(), { kind: 'leadership', held: true, ...known });
  }

  #hear(event: Event): void {
    if (!this.#isStopped) this.#process.driver.feed({ kind: 'event', event });
  }

  get #now(): Instant {
    return this.#options.clock.now() + this.#process.aheadMs;
  }

  #make(): Process {
    const { cluster, clock, random, config, restarts, onNotice } = this.#options;
    const keeps = restarts && config.semantics !== 'upstream-1.36';
    const engine = createEngine({ lifecycle: {}, ...(keeps && { keepLimits: true }), ...config });
    const loop = new Loop({
      machine: engine,
      random,
      policies: this.#policies,
      leases: true,
      ...(keeps && { limitsLease }),
      ...(config.deviceTaints && { devices: new DeviceSight(devicePaths) }),
      // No events are under way between this API server and the engine.
      viewAgeMsMax: Number.POSITIVE_INFINITY,
      daemonSets: config.lifecycle?.enforcement === 'pods',
    });
    const clocks = { monotonic: () => clock.now(), wall: () => clock.now() + this.#aheadMs };
    const { exchange } = cluster;
    const driver = new VirtualDriver({ loop, exchange, clock, onNotice, clocks, values: true });
    return { engine, loop, driver, aheadMs: this.#aheadMs };
  }
}

function isSame(one: PolicyObject, other: PolicyObject): boolean {
  return one.kind === other.kind && one.value.name === other.value.name;
}

/** Hears what came of each attempt. */
type OnAttempt = (pod: KubeObject, outcome: Outcome) => void;

/** As long kubectl waits after a budget has said no. */
const retryMs = 5_000;
const tooManyRequests = 429;
const notFound = 404;

/** The pods that are on the node at the beginning, each until it is evicted; budgets are asked again and again. */
class NodeDrain {
  readonly #cluster: Cluster;
  readonly #onAttempt: OnAttempt;
  #isOver = false;

  constructor(cluster: Cluster, node: string, onAttempt: OnAttempt) {
    this.#cluster = cluster;
    this.#onAttempt = onAttempt;
    const pods = cluster.api.list('pods').filter((pod) => pod.spec.nodeName === node);
    for (const pod of pods.filter(isEvicted)) this.#evict(pod);
  }

  /** No pod is asked for any more. */
  stop(): void {
    this.#isOver = true;
  }

  #evict(pod: KubeObject): void {
    if (this.#isOver) return;
    const { name, namespace = '', uid = '' } = pod.metadata;
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions: { preconditions: { uid } },
    };
    let [status, answer] = [0, ''];
    this.#cluster.exchange(
      {
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/pods/${name}/eviction`,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
      },
      {
        head: (code) => (status = code),
        data: (chunk) => (answer += chunk.toString()),
        end: () => this.#answered(pod, status, answer),
        reset: () => this.#failed(pod, null, 'the connection broke'),
      },
    );
  }

  #answered(pod: KubeObject, status: number, answer: string): void {
    // Another client was sooner: the pod is gone, or another pod has its name.
    if (status === notFound) return;
    if (status < 300) {
      this.#onAttempt(pod, { kind: 'done' });
      return;
    }
    const { message = `status ${status}`, details } = JSON.parse(answer) as Refusal;
    if (status !== tooManyRequests) {
      this.#failed(pod, status, message);
      return;
    }
    const causes = (details?.causes ?? []).map((cause) => cause.message);
    const words = [message, ...causes].join(' ');
    this.#onAttempt(pod, { kind: 'blocked', message: words, retryAfter: null });
    this.#cluster.api.clock.after(retryMs, () => this.#evict(pod));
  }

  /** As kubectl does: what fails otherwise is not tried again. */
  #failed(pod: KubeObject, status: number | null, message: string): void {
    this.#onAttempt(pod, { kind: 'failed', status, message, retryAfter: null });
  }
}

interface Refusal {
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly message: string }[] };
}

const mirror = 'kubernetes.io/config.mirror';

/** Pods of DaemonSets and of the kubelet itself stay; ended pods leave, too. */
function isEvicted({ metadata }: KubeObject): boolean {
  const { annotations = {}, ownerReferences = [], deletionTimestamp } = metadata;
  const isOfDaemonSet = ownerReferences.some(
    (owner) => owner.controller && owner.kind === 'DaemonSet',
  );
  return !isOfDaemonSet && annotations[mirror] === undefined && deletionTimestamp === undefined;
}

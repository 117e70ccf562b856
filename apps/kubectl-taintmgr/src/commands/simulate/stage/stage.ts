import type { Millis } from '@taintmgr/core/time';
import type {
  Cluster,
  Kubelet,
  KubeObject,
  NodeConditionType,
  NodeDescription,
} from '@taintmgr/sim-cluster';
import { zoneLabel } from '../../../cluster/facts.ts';
import type { Controller } from './controller.ts';
import { NodeDrain, type OnAttempt } from './node-drain.ts';

/** What an event wants of the cluster and cannot have. */
export class StageFault extends Error {
  override readonly name = 'StageFault';
}

/** Why a node is disconnected. */
export type DisconnectCause = 'kubelet' | 'network';

/** Who hears of what the cluster itself does not say. */
export interface StageEvents {
  /** A machine dies, or is back. */
  readonly onMachine: (node: string, runs: boolean) => void;
  /** A drain has asked for a pod to be evicted. */
  readonly onDrainAttempt: OnAttempt;
}

/** The longest a kubelet takes to come back after the API server was away. */
const kubeletsBackMs = 2_001;

/**
 * The cluster of a simulation, as its script acts on it. What they undo or repeat themselves is
 * kept here.
 */
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
  }

  /** The API for whoever writes to it from outside. Throws StageFault while nobody can. */
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
    this.#kubelet(name).stop();
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

  /** As kubectl drain: cordons a node, and evicts what is on it. */
  drain(name: string): void {
    this.changeSpec(name, cordoned);
    this.#drains.get(name)?.stop();
    this.#drains.set(name, new NodeDrain(this.cluster, name, this.#hears.onDrainAttempt));
  }

  /** Nobody is asked for any more, and pods may come to the node again. */
  endDrain(name: string): void {
    this.#drains.get(name)?.stop();
    this.#drains.delete(name);
    this.changeSpec(name, uncordoned);
  }

  /** Sets the clock of a machine; what its kubelet writes from now on is off by so much. */
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

  /** Nothing and nobody gets through to the API server, or everybody does again. */
  setOutage(isOut: boolean): void {
    this.#outages += isOut ? 1 : -1;
    const { cluster } = this;
    if (isOut && this.#outages === 1) {
      cluster.api.faults.down = true;
      cluster.stop();
    } else if (!isOut && this.#outages === 0) {
      cluster.api.faults.down = false;
      cluster.start();
      for (const name of this.#disconnected.keys()) this.#kubelet(name).stop();
      // A kubelet that comes back reports that it is ready; the conditions that were set count.
      cluster.api.clock.after(kubeletsBackMs, () => {
        for (const name of this.#conditions.keys()) this.#restoreConditions(name);
      });
    }
  }

  /** Requests arrive late by so much, until as often `speedUp` by the same was called. */
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
    try {
      return this.cluster.node(name);
    } catch {
      throw new StageFault(`node ${name} has no kubelet: it was not ready in the snapshot`);
    }
  }
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

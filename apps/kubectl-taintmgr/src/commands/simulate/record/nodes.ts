// What became of each node in a run: its states, and how many pods were on it.
import { formatTaint, zoneName } from '@taintmgr/core';
import { nodeFromJson } from '@taintmgr/k8s-adapter';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { type Step, type Timeline, Timelines } from './timelines.ts';

interface NodeId {
  readonly name: string;
  /** `region/zone`, or what there is of it. */
  readonly zone: string;
}

/** How a node is doing. */
interface NodeState {
  readonly ready: 'True' | 'False' | 'Unknown' | 'Gone';
  readonly cordoned: boolean;
  /** `key=value:effect` */
  readonly taints: readonly string[];
}

/** A node and what became of it. */
export interface NodeTrack extends Timeline<NodeId, NodeState> {
  /** Pods bound to it that have not ended. */
  readonly pods: readonly Step<{ readonly count: number }>[];
}

/** Records how each node is doing and how many pods it has. */
export class NodeTimelines {
  readonly #states = new Timelines<NodeId, NodeState>();
  readonly #pods = new Timelines<object, { readonly count: number }>();
  readonly #keys = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  record(at: number, object: KubeObject): void {
    const node = nodeFromJson(object);
    const { name, labels = {} } = node;
    const zone = zoneName(labels);
    const key = this.#keys.get(name) ?? `${zone}\0${name}`;
    this.#keys.set(name, key);
    if (this.#states.add(key, { name, zone })) {
      this.#pods.add(key, {});
      this.#pods.push(0, key, { count: 0 });
    }
    const ready = node.conditions?.find(({ type }) => type === 'Ready')?.status;
    this.#states.push(at, key, {
      ready: ready === 'True' || ready === 'False' ? ready : 'Unknown',
      cordoned: object.spec?.unschedulable === true,
      taints: node.taints.map(formatTaint),
    });
  }

  gone(at: number, name: string): void {
    const key = this.#keys.get(name) ?? '';
    this.#states.push(at, key, { ready: 'Gone', cordoned: false, taints: [] });
  }

  /** A pod has come to the node (1) or left it (-1). */
  countPod(at: number, name: string, change: 1 | -1): void {
    const key = this.#keys.get(name);
    if (key === undefined) return;
    const count = (this.#counts.get(name) ?? 0) + change;
    this.#counts.set(name, count);
    this.#pods.push(at, key, { count });
  }

  tracks(): readonly NodeTrack[] {
    const pods = this.#pods.inOrder();
    return this.#states.inOrder().map((node, index) => {
      return { ...node, pods: pods[index]?.states ?? [] };
    });
  }
}

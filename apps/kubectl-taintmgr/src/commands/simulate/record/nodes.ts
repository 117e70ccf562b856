// What became of each node in a run: its states, and how many pods were on it.
import { formatTaint, zoneName } from '@taintmgr/core';
import { nodeFromJson } from '@taintmgr/k8s-adapter';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { pushState, type Step, type Timeline, Timelines } from './timelines.ts';

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

/** A node that is written about. */
interface Node {
  readonly states: Step<NodeState>[];
  readonly pods: Step<{ readonly count: number }>[];
  count: number;
}

/** Records how each node is doing and how many pods it has. */
export class NodeTimelines {
  readonly #states = new Timelines<NodeId, NodeState>();
  readonly #pods = new Timelines<object, { readonly count: number }>();
  readonly #byName = new Map<string, Node>();

  record(at: number, object: KubeObject): void {
    const node = nodeFromJson(object);
    const { name, labels = {} } = node;
    const { states } = this.#byName.get(name) ?? this.#begin({ name, zone: zoneName(labels) });
    const ready = node.conditions?.find(({ type }) => type === 'Ready')?.status;
    pushState(states, at, {
      ready: ready === 'True' || ready === 'False' ? ready : 'Unknown',
      cordoned: object.spec?.unschedulable === true,
      taints: node.taints.map(formatTaint),
    });
  }

  gone(at: number, name: string): void {
    const states = this.#byName.get(name)?.states;
    if (states) pushState(states, at, { ready: 'Gone', cordoned: false, taints: [] });
  }

  /** A pod has come to the node (1) or left it (-1). */
  countPod(at: number, name: string, change: 1 | -1): void {
    const node = this.#byName.get(name);
    if (!node) return;
    node.count += change;
    pushState(node.pods, at, { count: node.count });
  }

  #begin(id: NodeId): Node {
    const key = `${id.zone}\0${id.name}`;
    const pods = this.#pods.of(key, () => ({}));
    pushState(pods, 0, { count: 0 });
    const node = { states: this.#states.of(key, () => id), pods, count: 0 };
    this.#byName.set(id.name, node);
    return node;
  }

  tracks(): readonly NodeTrack[] {
    const pods = this.#pods.inOrder();
    return this.#states.inOrder().map((node, index) => {
      return { ...node, pods: pods[index]?.states ?? [] };
    });
  }
}

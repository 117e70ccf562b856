import { formatTaint, type Node, zoneName } from '@taintmgr/core';
import { nodeFromJson } from '@taintmgr/k8s-adapter';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { type Step, Steps } from './steps.ts';

/** How a node is doing. */
interface NodeState {
  readonly ready: 'True' | 'False' | 'Unknown' | 'Gone';
  readonly cordoned: boolean;
  /** `key=value:effect` */
  readonly taints: readonly string[];
}

/** A node and what became of it. */
export interface NodeTrack {
  readonly name: string;
  /** `region/zone`, or what there is of it. */
  readonly zone: string;
  readonly states: readonly Step<NodeState>[];
  /** Pods bound to it that have not ended. */
  readonly pods: readonly Step<{ readonly count: number }>[];
}

interface Entry {
  readonly name: string;
  readonly zone: string;
  readonly states: Steps<NodeState>;
  readonly pods: Steps<{ readonly count: number }>;
  count: number;
}

/** Records how each node is doing and how many pods it has during a run. */
export class NodeBook {
  readonly #nodes = new Map<string, Entry>();

  notice(at: number, object: KubeObject): void {
    const node = nodeFromJson(object);
    const ready = node.conditions?.find(({ type }) => type === 'Ready')?.status;
    this.#entry(node).states.push(at, {
      ready: ready === 'True' || ready === 'False' ? ready : 'Unknown',
      cordoned: object.spec?.unschedulable === true,
      taints: node.taints.map(formatTaint),
    });
  }

  gone(at: number, name: string): void {
    this.#nodes.get(name)?.states.push(at, { ready: 'Gone', cordoned: false, taints: [] });
  }

  /** A pod has come to the node (1) or left it (-1). */
  countPod(at: number, name: string, change: 1 | -1): void {
    const entry = this.#nodes.get(name);
    if (!entry) return;
    entry.count += change;
    entry.pods.push(at, { count: entry.count });
  }

  tracks(): readonly NodeTrack[] {
    return Array.from(this.#nodes.values(), ({ name, zone, states, pods }) => {
      return { name, zone, states: states.all, pods: pods.all };
    }).sort(byName);
  }

  #entry({ name, labels = {} }: Node): Entry {
    const known = this.#nodes.get(name);
    if (known) return known;
    const tracks = {
      states: new Steps<NodeState>(),
      pods: new Steps<{ readonly count: number }>(),
    };
    const entry = { name, zone: zoneName(labels), ...tracks, count: 0 };
    entry.pods.push(0, { count: 0 });
    this.#nodes.set(name, entry);
    return entry;
  }
}

function byName(one: NodeTrack, other: NodeTrack): number {
  const [a, b] = [`${one.zone}\0${one.name}`, `${other.zone}\0${other.name}`];
  return natural(a, b);
}

const digits = /(\d+)/;

/** Names in an order in which node-2 comes before node-10. */
export function natural(one: string, other: string): number {
  const [a, b] = [one.split(digits), other.split(digits)];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const [left = '', right = ''] = [a[index], b[index]];
    if (left === right) continue;
    const difference = index % 2 === 1 ? Number(left) - Number(right) : 0;
    if (difference !== 0) return difference;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

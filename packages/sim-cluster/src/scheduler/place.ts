// A node as the scheduler sees it, with the pods that count on it.
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Taint } from '../objects/tolerations.ts';
import type { ReportedImage } from './images.ts';
import type { Labels } from './pod-selector.ts';
import { type Amounts, amountsOf } from './resources.ts';
import type { SchedulingPod } from './scheduling-pod.ts';

/** The offer of a node, read once for many pods. */
export interface Offer {
  readonly node: KubeObject;
  readonly labels: Labels;
  /** Region and zone, by which nodes take turns. */
  readonly zone: string;
  readonly taints: readonly Taint[];
  /** True if the node lets in every pod that asks for no certain node. */
  readonly isOpen: boolean;
  /** True if the node asks pods to prefer others. */
  readonly isShy: boolean;
  readonly isCordoned: boolean;
  readonly allocatable: Amounts;
  readonly images: readonly ReportedImage[];
}

const noLabels: Labels = {};
const noImages: readonly ReportedImage[] = [];

/** Reads a node. */
export function offerOf(node: KubeObject): Offer {
  const labels = node.metadata.labels ?? noLabels;
  const taints: readonly Taint[] = node.spec?.taints ?? [];
  const region = labels['topology.kubernetes.io/region'] ?? '';
  const isCordoned: boolean = node.spec?.unschedulable === true;
  return {
    ...{ node, labels, taints, isCordoned },
    zone: `${region}/${labels['topology.kubernetes.io/zone'] ?? ''}`,
    isOpen: !isCordoned && !taints.some(({ effect }) => effect !== 'PreferNoSchedule'),
    isShy: taints.some(({ effect }) => effect === 'PreferNoSchedule'),
    allocatable: amountsOf(node.status?.allocatable),
    images: node.status?.images ?? noImages,
  };
}

/** Heartbeats leave all of this as it was. */
export function looksAlike({ node: one, ...a }: Offer, other: KubeObject): boolean {
  const { labels } = other.metadata;
  return (
    (one.metadata.labels === labels || equal(a.labels, labels ?? noLabels)) &&
    (one.spec === other.spec ||
      (a.isCordoned === (other.spec?.unschedulable === true) &&
        equal(a.taints, other.spec?.taints ?? []))) &&
    equal(one.status?.allocatable, other.status?.allocatable) &&
    equal(a.images, other.status?.images ?? noImages)
  );
}

/** A node and its used amounts. Pods are counted as well while their node is missing. */
export class Place {
  readonly name: string;
  /** Null: there is no such node. */
  offer: Offer | null = null;
  /** The index in the order of the pool; -1: none. */
  index = -1;
  /** By key, in the order in which they came. */
  readonly pods: Map<string, SchedulingPod> = new Map();
  /** Pods that made room here for themselves and are not bound yet. */
  readonly nominated: Map<string, SchedulingPod> = new Map();
  cpu = 0;
  memory = 0;
  /** The used amounts as scores count them. */
  scoredCpu = 0;
  scoredMemory = 0;
  /** The used amounts of all other resources. */
  readonly others: Map<string, number> = new Map();
  /** The number of its pods with ports of the node, and with volumes. */
  #withPorts = 0;
  #withVolumes = 0;

  constructor(name: string) {
    this.name = name;
  }

  get hasPorts(): boolean {
    return this.#withPorts > 0;
  }

  get hasVolumes(): boolean {
    return this.#withVolumes > 0;
  }

  /** The allocatable amount of a resource. */
  allocatable(resource: string): number {
    return this.offer?.allocatable.get(resource) ?? 0;
  }

  add(pod: SchedulingPod): void {
    this.pods.set(pod.key, pod);
    this.#take(pod, 1);
  }

  delete(pod: SchedulingPod): void {
    this.pods.delete(pod.key);
    this.#take(pod, -1);
  }

  #take({ requests, ports, claims, disks }: SchedulingPod, sign: 1 | -1): void {
    this.cpu += sign * requests.cpu;
    this.memory += sign * requests.memory;
    this.scoredCpu += sign * requests.scored.cpu;
    this.scoredMemory += sign * requests.scored.memory;
    for (const [name, amount] of requests.others) {
      this.others.set(name, (this.others.get(name) ?? 0) + sign * amount);
    }
    if (ports.length > 0) this.#withPorts += sign;
    if (claims.length + disks.length > 0) this.#withVolumes += sign;
  }
}

// The order in which the pods of a node are evicted under pressure.
import type { FilesystemLayout } from './observation/filesystems.ts';
import type { PodUsage } from './observation/observation.ts';
import { usageOf } from './observation/usage.ts';
import { type Demand, qosClasses } from './pods/demand.ts';
import type { PressurePod } from './pods/pressure-pod.ts';
import { type PressureResource, type Signal, signals } from './signals.ts';

/** A pod of the node with its known state. */
export interface ActivePod {
  readonly pod: PressurePod;
  /** Null: unreadable. */
  readonly demand: Demand | null;
  /** Null: not seen. */
  readonly usage: PodUsage | null;
}

/** A pod as one signal sees it. */
export interface PressureCandidate extends ActivePod {
  /** Its usage by the signal; null: not known. */
  readonly used: number | null;
  /** The amount it asked for of that. */
  readonly requested: number;
  /** The amount that the last comparison subtracts from the usage. */
  readonly subtracted: number;
}

/** A candidate in its place. */
export interface RankedPod extends PressureCandidate {
  /** The comparison that puts it before the next one; null: none, or it is the last. */
  readonly decidedBy: ComparatorName | null;
}

/** The rules by which decisions under node pressure are made. */
export type PressureSemantics =
  /** As Kubernetes documents it; nothing is done on a doubt. */
  | 'precise'
  /** The kubelet 1.36.2 to the letter. */
  | 'kubelet-1.36'
  /** The kubelet of 2017, which went by QoS class first. */
  | 'kubelet-1.6';

/** The comparisons of two pods. */
export type ComparatorName =
  | 'unmeasuredFirst'
  | 'measuredFirst'
  | 'exceedsRequest'
  | 'priority'
  | 'usageOverRequest'
  | 'usage'
  | 'qosClass'
  | 'name';

/** By resource: the first comparison that distinguishes two pods decides. */
export type EvictionOrder = Readonly<Record<PressureResource, readonly ComparatorName[]>>;

/** The orders of the semantics. */
export const evictionOrders: Readonly<Record<PressureSemantics, EvictionOrder>> = {
  precise: {
    memory: ['measuredFirst', 'exceedsRequest', 'priority', 'usageOverRequest', 'name'],
    'ephemeral-storage': [
      'measuredFirst',
      'exceedsRequest',
      'priority',
      'usageOverRequest',
      'name',
    ],
    inodes: ['measuredFirst', 'priority', 'usage', 'name'],
    pids: ['measuredFirst', 'priority', 'usage', 'name'],
  },
  'kubelet-1.36': {
    memory: ['unmeasuredFirst', 'exceedsRequest', 'priority', 'usageOverRequest'],
    'ephemeral-storage': ['unmeasuredFirst', 'exceedsRequest', 'priority', 'usageOverRequest'],
    inodes: ['unmeasuredFirst', 'exceedsRequest', 'priority', 'usageOverRequest'],
    pids: ['priority', 'unmeasuredFirst', 'usage'],
  },
  'kubelet-1.6': {
    memory: ['qosClass', 'unmeasuredFirst', 'usageOverRequest'],
    'ephemeral-storage': ['qosClass', 'unmeasuredFirst', 'usage'],
    inodes: ['qosClass', 'unmeasuredFirst', 'usage'],
    pids: ['qosClass', 'unmeasuredFirst', 'usage'],
  },
};

/** The requests of a pod that count in comparisons. */
export interface CountedRequests {
  /** The requests of containers count where spec.resources cannot say them. */
  readonly countsContainers: boolean;
  /** Inodes are compared as they are; otherwise bytes asked for are subtracted from them. */
  readonly plainInodes: boolean;
}

type Comparator = (a: PressureCandidate, b: PressureCandidate) => number;

/** Negative: the first pod goes earlier. Where nothing is known of both, usage decides nothing. */
const comparators: Readonly<Record<ComparatorName, Comparator>> = {
  unmeasuredFirst: (a, b) => Number(a.usage !== null) - Number(b.usage !== null),
  measuredFirst: (a, b) => Number(a.used === null) - Number(b.used === null),
  exceedsRequest: byUsage((pod) => Number(usedBy(pod) > pod.requested)),
  priority: (a, b) => a.pod.priority - b.pod.priority,
  usageOverRequest: byUsage((pod) => usedBy(pod) - pod.subtracted),
  usage: byUsage(usedBy),
  qosClass: (a, b) => qosRank(a) - qosRank(b),
  name: (a, b) => (rankedName(a) < rankedName(b) ? -1 : Number(rankedName(a) > rankedName(b))),
};

/** The pods as the signal sees them. */
export function candidatesFor(
  pods: readonly ActivePod[],
  signal: Signal,
  layout: FilesystemLayout,
  behaviour: CountedRequests,
): readonly PressureCandidate[] {
  return pods.map((active): PressureCandidate => {
    const { pod, demand, usage } = active;
    const used = usage && usageOf(pod, usage, signal, layout);
    return { ...active, used, ...asked(demand, signal, behaviour) };
  });
}

/** Pods request no inodes or processes. */
function asked(
  demand: Demand | null,
  signal: Signal,
  behaviour: CountedRequests,
): Pick<PressureCandidate, 'requested' | 'subtracted'> {
  const storage = (behaviour.countsContainers ? demand?.containersStorage : demand?.storage) ?? 0;
  const memory = demand?.memory ?? 0;
  switch (signals[signal].resource) {
    case 'memory':
      return { requested: memory, subtracted: memory };
    case 'ephemeral-storage':
      return { requested: storage, subtracted: storage };
    case 'inodes':
      return { requested: 0, subtracted: behaviour.plainInodes ? 0 : storage };
    case 'pids':
      return { requested: 0, subtracted: 0 };
  }
}

/**
 * Puts the pods of a node in the order of their eviction. Pods that no comparator distinguishes
 * keep the order in which they are given.
 */
export function rank(
  candidates: readonly PressureCandidate[],
  order: readonly ComparatorName[],
): readonly RankedPod[] {
  const compare = (a: PressureCandidate, b: PressureCandidate): number => {
    for (const name of order) {
      const difference = comparators[name](a, b);
      if (difference !== 0) return difference;
    }
    return 0;
  };
  const sorted = candidates.toSorted(compare);
  return sorted.map((candidate, index) => {
    const next = sorted[index + 1];
    const decidedBy = next && order.find((name) => comparators[name](candidate, next) !== 0);
    return { ...candidate, decidedBy: decidedBy ?? null };
  });
}

function byUsage(amount: (candidate: PressureCandidate) => number): Comparator {
  return (a, b) => (a.usage === null && b.usage === null ? 0 : amount(b) - amount(a));
}

function usedBy({ used }: PressureCandidate): number {
  return used ?? 0;
}

function qosRank({ demand }: PressureCandidate): number {
  return qosClasses.indexOf(demand?.qosClass ?? 'Burstable');
}

function rankedName({ pod }: PressureCandidate): string {
  return `${pod.namespace}/${pod.name}`;
}

// In which order the pods of one node go.
import type { Pod } from '../model/pod.ts';
import { isInGroup, type PodGroup } from '../policy/pod-group.ts';

/** Pods of one rank go together, and are gone before those of the next rank begin. */
export interface PodOrder {
  /** Those of a lower priority first. */
  readonly byPriority: boolean;
  /** After all others, one group after the other: what the others may need to the end. */
  readonly last: readonly PodGroup[];
}

/** All at once, as kubectl drain does. */
export const together: PodOrder = { byPriority: false, last: [] };

/** The place among the groups that go last (0: it is in none), and the priority that counts. */
export type PodRank = readonly [group: number, priority: number];

export function rankOf(
  pod: Pick<Pod, 'namespace' | 'labels' | 'priority'>,
  { byPriority, last }: PodOrder,
): PodRank {
  const group = last.findLastIndex((one) => isInGroup(one, pod)) + 1;
  return [group, byPriority ? (pod.priority ?? 0) : 0];
}

/** Negative: the first goes before the second. */
export function compareRanks(one: PodRank, other: PodRank): number {
  return one[0] - other[0] || one[1] - other[1];
}

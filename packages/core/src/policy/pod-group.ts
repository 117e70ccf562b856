// Groups of pods by namespace and labels, as drains name them.
import type { Pod } from '../model/pod.ts';
import { type LabelSelector, selects } from '../model/selector.ts';
import { matchesSome } from './pattern.ts';

/** Everything given must match. */
export interface PodGroup {
  /** Patterns, of which one must match; none: every namespace. */
  readonly namespaces?: readonly string[];
  /** Left out: all pods. */
  readonly podSelector?: LabelSelector;
}

export function isInGroup(
  { namespaces = [], podSelector }: PodGroup,
  { namespace, labels = {} }: Pick<Pod, 'namespace' | 'labels'>,
): boolean {
  return matchesSome(namespaces, namespace) && (!podSelector || selects(podSelector, labels));
}

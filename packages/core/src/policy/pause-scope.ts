// The scope of a pause: nodes, and pods and taints on them.
import type { Node } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import { matchesSome } from './pattern.ts';
import type { EvictionPause, EvictionPauseScope } from './values.ts';

/** True when the pause is for anything on this node. */
export function coversNode({ zones, nodes }: EvictionPauseScope, node: Node): boolean {
  if (zones.length > 0 && !zones.includes(node.zone ?? '')) return false;
  return nodes === null || selects(nodes, node.labels ?? {});
}

/** True when it is for this taint, on a node that it is for. */
export function coversTaint({ taintKeys }: EvictionPauseScope, key: string): boolean {
  return matchesSome(taintKeys, key);
}

/** True when it is for pods of this namespace, on a node that it is for. */
export function coversNamespace({ namespaces }: EvictionPauseScope, name: string): boolean {
  return matchesSome(namespaces, name);
}

/** True when a pause holds every eviction, wherever and whatever for. */
export function holdsAll({
  deadlines,
  scope: { zones, nodes, taintKeys, namespaces },
}: Pick<EvictionPause, 'deadlines' | 'scope'>): boolean {
  const lists = [zones, taintKeys, namespaces];
  return deadlines && nodes === null && lists.every((list) => list.length === 0);
}

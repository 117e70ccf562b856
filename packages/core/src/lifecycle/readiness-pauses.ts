// Which pauses keep nodes from being tainted by their health, and pods from being marked not ready.

import { unreachableKey } from '../model/lifecycle-taints.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { coversNamespace, coversNode, coversTaint } from '../policy/pause-scope.ts';
import type { EvictionPause } from '../policy/values.ts';
import type { StoreView } from '../store.ts';

/**
 * The pause that keeps such a taint from a node that has none of its kind; null: none does. Taints that
 * are there stay and go as ever, and so do those with NoSchedule: without them the scheduler would send
 * pods to a node that is down. A pause of some namespaces only is none of nodes.
 */
export function taintPause(store: StoreView, node: Node, key: string): EvictionPause | null {
  return find(store, node, (pause) => keepsTaint(pause, node, key));
}

/** Whether a pause that is not over keeps such a taint from a node. */
export function keepsTaint({ readiness, scope }: EvictionPause, node: Node, key: string): boolean {
  const isForNodes = readiness && scope.namespaces.length === 0;
  return isForNodes && coversNode(scope, node) && coversTaint(scope, key);
}

/** The pause that keeps a pod of an unreachable node from being marked not ready; null: none does. */
export function markPause(store: StoreView, pod: Pod): EvictionPause | null {
  const node = store.node(pod.nodeName);
  return (
    node &&
    find(
      store,
      node,
      ({ scope }) => coversTaint(scope, unreachableKey) && coversNamespace(scope, pod.namespace),
    )
  );
}

function find(
  store: StoreView,
  node: Node,
  holds: (pause: EvictionPause) => boolean,
): EvictionPause | null {
  for (const { pause, isOver } of store.pauses()) {
    if (!isOver && pause.readiness && coversNode(pause.scope, node) && holds(pause)) return pause;
  }
  return null;
}

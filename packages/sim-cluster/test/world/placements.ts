import type { KubeObject } from '../../src/objects/kube-object.ts';
import { Placement } from '../../src/scheduler/placement.ts';

/** Finds places on these nodes; nothing else is stored. */
export function placementOf(...nodes: readonly KubeObject[]): Placement {
  const placement = new Placement({ objects: { get: () => null, list: () => [] }, seed: 1 });
  for (const node of nodes) placement.setNode(node);
  return placement;
}

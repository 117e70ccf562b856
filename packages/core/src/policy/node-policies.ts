// Which policies are for a node and a taint at all: asked for each of its pods, found out once.
import type { Node } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';
import { matchesTaint } from './choice.ts';
import type { EvictionPolicy } from './values.ts';

interface Known {
  readonly policies: readonly EvictionPolicy[];
  readonly byTaint: Map<Taint, readonly EvictionPolicy[]>;
}

/** Remembers the answer for as long as node, taint and policies are the same objects. */
export class NodePolicies {
  readonly #known = new WeakMap<Node, Known>();

  /** Those of `policies` that may be for a pod on this node with this taint, in their order. */
  of(policies: readonly EvictionPolicy[], node: Node, taint: Taint): readonly EvictionPolicy[] {
    const known = this.#known.get(node);
    const current = known?.policies === policies ? known : { policies, byTaint: new Map() };
    if (current !== known) this.#known.set(node, current);
    const found = current.byTaint.get(taint);
    if (found) return found;
    const labels = node.labels ?? {};
    const matching = policies.filter(
      ({ match }) =>
        matchesTaint(match, taint) && (match.nodes === null || selects(match.nodes, labels)),
    );
    current.byTaint.set(taint, matching);
    return matching;
  }
}

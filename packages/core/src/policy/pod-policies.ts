// Which policy counts for a pod and a taint: asked by whoever decides or explains, found out once.
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';
import { chooseAmong, choosePolicy, type PolicyChoice } from './choice.ts';
import { NodePolicies } from './node-policies.ts';
import type { EvictionPolicy } from './values.ts';

/** What a choice goes by beside pod and taint. */
interface Site {
  readonly policies: readonly EvictionPolicy[];
  readonly node: Node | null;
  /** Null: not known. */
  readonly namespaceLabels: Labels | null;
}

interface Known extends Site {
  readonly byTaint: Map<Taint, PolicyChoice>;
}

/** Remembers the answer for as long as all that it goes by are the same objects. */
export class PodPolicies {
  readonly #nodePolicies = new NodePolicies();
  readonly #known = new WeakMap<Pod, Known>();

  choose(pod: Pod, taint: Taint, site: Site): PolicyChoice {
    const { policies, node, namespaceLabels } = site;
    const known = this.#known.get(pod);
    const isSame =
      known?.policies === policies &&
      known.node === node &&
      known.namespaceLabels === namespaceLabels;
    const current = isSame ? known : { ...site, byTaint: new Map<Taint, PolicyChoice>() };
    if (!isSame) this.#known.set(pod, current);
    const found = current.byTaint.get(taint);
    if (found) return found;
    const subject = { pod, node, namespaceLabels };
    const choice = node
      ? chooseAmong(this.#nodePolicies.of(policies, node, taint), subject)
      : choosePolicy(policies, taint, subject);
    current.byTaint.set(taint, choice);
    return choice;
  }
}

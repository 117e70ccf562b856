import type { Node } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import { selects } from '../../model/selector.ts';
import { isWindowed, type LimitRule, scopeName } from '../../policy/limit.ts';
import type { StoreView } from '../../store.ts';
import type { Availability, Gate } from './scope-limit.ts';

/** The gates of all rules, by the rule's number and the name of the scope. */
export interface Gates {
  /** It is made when it is first needed. */
  of(rule: number, name: string): Gate;
  /** Forgets the gate if nothing is lost with it. */
  tidy(rule: number, name: string): void;
}

/**
 * How each pod counts in the limits that have a window: as available, as unavailable, or not at all. One
 * change of a pod touches one gate of each rule. A node is kept as it was counted, so that what is taken
 * out of a count is what was put in.
 */
export class PodCounts {
  readonly #rules: readonly LimitRule[];
  readonly #store: StoreView;
  readonly #gates: Gates;
  readonly #windowed: readonly number[];
  readonly #nodes = new Map<string, Node>();
  readonly #availability = new Map<string, Availability>();

  constructor(rules: readonly LimitRule[], store: StoreView, gates: Gates) {
    this.#rules = rules;
    this.#store = store;
    this.#gates = gates;
    this.#windowed = rules.flatMap((rule, index) => (isWindowed(rule) ? [index] : []));
  }

  /** Whether any rule has a window; nothing is counted otherwise. */
  get isNeeded(): boolean {
    return this.#windowed.length > 0;
  }

  /** Null: the pod does not count, or is not known. */
  of(uid: string): Availability | null {
    return this.#availability.get(uid) ?? null;
  }

  /** Takes in how a pod counts now; whether that may have made room. */
  put(pod: Pod, availability: Availability | null): boolean {
    const before = this.of(pod.uid);
    if (before === availability) return false;
    if (before) this.#adjust(pod, before, -1);
    if (availability) {
      this.#adjust(pod, availability, 1);
      this.#availability.set(pod.uid, availability);
    } else this.#availability.delete(pod.uid);
    return before === 'unavailable' || before === null;
  }

  /** Takes in a node as it is now; its pods move to where it counts now. */
  move(name: string, node: Node | null): void {
    const before = this.#nodes.get(name) ?? null;
    if (before && node && this.#isCountedAlike(before, node)) return;
    const pods = Array.from(this.#store.podsOn(name), (pod) => [pod, this.of(pod.uid)] as const);
    for (const [pod, availability] of pods) if (availability) this.#adjust(pod, availability, -1);
    if (node) this.#nodes.set(name, node);
    else this.#nodes.delete(name);
    for (const [pod, availability] of pods) if (availability) this.#adjust(pod, availability, 1);
  }

  #adjust(pod: Pod, availability: Availability, change: 1 | -1): void {
    const node = this.#nodes.get(pod.nodeName) ?? null;
    for (const index of this.#windowed) {
      const rule = this.#rules[index];
      if (!rule || !appliesTo(rule, node)) continue;
      for (const name of namesOf(rule, pod, node)) {
        this.#gates.of(index, name).adjust(pod.uid, availability, change);
        if (change < 0) this.#gates.tidy(index, name);
      }
    }
  }

  #isCountedAlike(one: Node, other: Node): boolean {
    if (one.zone !== other.zone || one.uid !== other.uid) return false;
    return this.#windowed.every((index) => {
      const rule = this.#rules[index];
      if (!rule) return true;
      if (appliesTo(rule, one) !== appliesTo(rule, other)) return false;
      return rule.per !== 'taint' || taintKeys(one).join() === taintKeys(other).join();
    });
  }
}

/** How a pod counts, wherever it does. Readiness that nobody reported is not held against it. */
export function availabilityOf(pod: Pod, late: boolean): Availability | null {
  const isFinished = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  if (pod.nodeName === '' || isFinished || late) return null;
  const isDown = pod.ready === 'False' || pod.ready === 'Unknown';
  return pod.deletionTimestamp !== null || isDown ? 'unavailable' : 'available';
}

/** Whether a rule is for the pods of a node. */
export function appliesTo({ nodes }: LimitRule, node: Node | null): boolean {
  return nodes === undefined || selects(nodes, node?.labels ?? {});
}

function namesOf(rule: LimitRule, pod: Pod, node: Node | null): readonly string[] {
  const name = scopeName(rule.per, pod, node);
  const names = rule.per === 'taint' ? taintKeys(node) : name === null ? [] : [name];
  return names.filter((one) => rule.name === undefined || rule.name === one);
}

function taintKeys(node: Node | null): readonly string[] {
  const taints = node?.taints.filter(({ effect }) => effect === 'NoExecute') ?? [];
  return [...new Set(taints.map(({ key }) => key))];
}

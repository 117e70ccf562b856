// The nodes of each condition rule: those that it is for, those that carry its taint, and those its limit keeps from it.
import { type ConditionRule, poolLimit } from '../policy/condition-rule.ts';

/** What a rule has come to. */
export interface RuleStatus {
  readonly name: string;
  /** Nodes that it is for. */
  readonly selected: number;
  /** The nodes that carry its taint, by name. */
  readonly tainted: readonly string[];
  /** Nodes that would get the taint if fewer nodes had it. */
  readonly waiting: number;
}

interface RulePool {
  readonly nodes: Set<string>;
  readonly carriers: Set<string>;
  /** Nodes that its limit keeps from the taint. */
  readonly waiting: Set<string>;
}

/** Where a node stands with a rule. */
type Place = keyof RulePool;

/** Counts the nodes of each rule, and holds it to its limit. */
export class RulePools {
  readonly #pools = new Map<string, RulePool>();

  /** A rule is new, or another by its name: what is on nodes stays there. */
  set(name: string): void {
    this.#pools.set(name, { ...newPool(), ...this.#pools.get(name), waiting: new Set() });
  }

  /** Nobody tells a rule that is gone of nodes that go: one of its name begins with none. */
  drop(name: string): void {
    this.#pools.delete(name);
  }

  /** The node is gone. */
  forget(nodeName: string): void {
    for (const pool of this.#pools.values()) {
      for (const nodes of [pool.nodes, pool.carriers, pool.waiting]) nodes.delete(nodeName);
    }
  }

  /** Notes whether a node is in a place of a rule. */
  put(rule: string, place: Place, nodeName: string, isThere: boolean): void {
    const nodes = this.#pools.get(rule)?.[place];
    if (isThere) nodes?.add(nodeName);
    else nodes?.delete(nodeName);
  }

  /** Whether one more node of its pool may carry its taint. */
  hasRoom({ name, nodesMax }: ConditionRule): boolean {
    const { nodes, carriers } = this.#pools.get(name) ?? {};
    const max = poolLimit(nodesMax ?? Number.MAX_SAFE_INTEGER, nodes?.size ?? 0) ?? 0;
    return (carriers?.size ?? 0) < max;
  }

  /** What a rule has come to. */
  status(name: string): RuleStatus {
    const { nodes, carriers, waiting } = this.#pools.get(name) ?? {};
    const tainted = [...(carriers ?? [])].sort();
    return { name, selected: nodes?.size ?? 0, tainted, waiting: waiting?.size ?? 0 };
  }
}

function newPool(): RulePool {
  return { nodes: new Set(), carriers: new Set(), waiting: new Set() };
}

// Since when the condition of each rule holds on each node, or is over there, and what was told of it.
import type { ClusterTime } from '../kernel/cluster-clock.ts';
import { finite, type Instant } from '../kernel/time.ts';
import { type Node, type NodeCondition, readyOf } from '../model/node.ts';
import type { ConditionRule } from '../policy/condition-rule.ts';
import type { LifecycleReport } from './reason.ts';

/** Since when the condition of a rule holds on a node, or is over there. */
interface Observation {
  readonly holds: boolean;
  readonly since: Instant;
  /** As the condition itself said. */
  readonly transitionAt: Instant | null;
}

type RuleReport = Extract<LifecycleReport, { kind: 'ruleDryRun' | 'ruleLimit' }>;

/** What is seen of the conditions that rules are about. */
export class RuleObservations {
  readonly #clock: ClusterTime;
  /** By rule and node. */
  readonly #observed = new Map<string, Observation>();
  readonly #reported = new Set<string>();

  constructor(clock: ClusterTime) {
    this.#clock = clock;
  }

  /** Takes in the node as it is. */
  observe(now: Instant, rule: ConditionRule, node: Node): Observation {
    const key = `${rule.name}/${node.name}`;
    const condition = node.conditions?.find(({ type }) => type === rule.condition);
    const counts = !rule.onlyUnreachable || isSinceUnreachable(condition, node);
    const holds = condition?.status === rule.status && counts;
    const known = this.#observed.get(key);
    const transitionAt = finite(condition?.transitionAt);
    const isBack =
      holds && transitionAt !== null && transitionAt > (known?.transitionAt ?? Infinity);
    if (known?.holds === holds && !isBack) return known;
    // When first seen, or over and back while nobody looked, the condition's own time counts: a restart does
    // not begin anew.
    const isSeen = known !== undefined && known.holds !== holds;
    const since = isSeen ? now : this.#clock.since(now, condition?.transitionAt);
    const observation = { holds, since, transitionAt };
    this.#observed.set(key, observation);
    this.#reported.delete(key);
    return observation;
  }

  /** Each is told once for as long as the condition stays as it is. */
  report(rule: ConditionRule, { name, uid }: Node, report: RuleReport): LifecycleReport | null {
    const key = `${rule.name}/${name}`;
    if (this.#reported.has(key)) return null;
    this.#reported.add(key);
    return { ...report, node: { name, uid } };
  }

  /** The rule is another one, or gone. */
  forgetRule(name: string): void {
    for (const key of this.#observed.keys()) {
      if (key.startsWith(`${name}/`)) this.#observed.delete(key);
    }
    for (const key of this.#reported) if (key.startsWith(`${name}/`)) this.#reported.delete(key);
  }

  /** The node is gone. */
  forget(rule: string, nodeName: string): void {
    this.#observed.delete(`${rule}/${nodeName}`);
    this.#reported.delete(`${rule}/${nodeName}`);
  }
}

/** Whether the node is unreachable, and the condition is from since it is. */
function isSinceUnreachable(condition: NodeCondition | undefined, { conditions }: Node): boolean {
  const ready = readyOf(conditions);
  if (ready?.status !== 'Unknown') return false;
  const [since, unreachableSince] = [condition?.transitionAt ?? null, ready.transitionAt];
  return since !== null && unreachableSince !== null && since >= unreachableSince;
}

// Applies condition rules: which taints they put on nodes or take off, within their limits.
import { type ClusterTime, earliest, finite, type Instant } from '../kernel/time.ts';
import { type Node, type NodeCondition, readyOf } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import { hasTaint, isSameTaint, type Taint, type TaintName } from '../model/taint.ts';
import { type ConditionRule, poolLimit, type RetiredRule } from '../policy/condition-rule.ts';
import type { LifecycleReason, LifecycleReport } from './reason.ts';

/** Wait before a limit that was reached is looked at again. */
const limitWaitMs = 10_000;

/** The changes that the rules want of one node. */
export interface RuleChange {
  readonly add: readonly Taint[];
  readonly remove: readonly TaintName[];
  /** The node's note of what rules put on it, as it should read then; null: none. */
  readonly owned: Readonly<Record<string, string>> | null;
  readonly because: readonly LifecycleReason[];
}

interface RuleDecision {
  /** Null: all is as it should be. */
  readonly change: RuleChange | null;
  /** When to decide again, if nothing happens before; null: never. */
  readonly until: Instant | null;
  readonly reports: readonly LifecycleReport[];
}

/**
 * Taints for conditions of any type. A condition has to hold for a while, and to be over for a
 * while. The taints of a rule are noted on the node, and only noted taints are taken off again. So
 * neither a restart nor another program's taint of the same name confuses them.
 */
export class ConditionRules {
  readonly #configured: readonly ConditionRule[];
  readonly #rules = new Map<string, ConditionRule>();
  /** Taints that rules put on that do not want them any more. */
  #retired: readonly RetiredRule[];
  readonly #clock: ClusterTime;
  readonly #observations: RuleObservations;
  readonly #pools = new RulePools();

  /** `retired`: of earlier runs; what of it the rules want as it is stays. */
  constructor(
    rules: readonly ConditionRule[],
    retired: readonly RetiredRule[],
    clock: ClusterTime,
  ) {
    this.#configured = rules;
    this.#retired = retired;
    this.#clock = clock;
    this.#observations = new RuleObservations(clock);
    for (const rule of rules) this.#set(rule);
  }

  /**
   * Takes in a rule of the cluster as it is now; null: it is gone, and one of the configuration
   * with its name counts again. Taints that the rule put on nodes, and would not put on now, are
   * removed. Every node has to be decided about again.
   */
  put(name: string, rule: ConditionRule | null): void {
    const before = this.#rules.get(name);
    const next = rule ?? this.#configured.find((one) => one.name === name) ?? null;
    if (before && !(next && isEqualRuleTaint(before.taint, next.taint))) {
      this.#retired = [...this.#retired, { name, taint: before.taint }];
    }
    if (next) this.#set(next);
    else {
      this.#rules.delete(name);
      this.#pools.drop(name);
    }
    this.#observations.forgetRule(name);
  }

  /** The status of each rule. */
  status(): readonly RuleStatus[] {
    return Array.from(this.#rules.keys(), (name) => this.#pools.status(name));
  }

  forget(nodeName: string): void {
    this.#pools.forget(nodeName);
    for (const name of this.#rules.keys()) this.#observations.forget(name, nodeName);
  }

  /**
   * Takes in a node before anything is decided about one of them: the bound of a rule counts all of its
   * pool, also right after a start.
   */
  notice(node: Node): void {
    if (this.#rules.size === 0) return;
    const { owned } = ownedOn(node, this.#rules, this.#retired);
    for (const { name, nodes, taint } of this.#rules.values()) {
      this.#pools.put(name, 'nodes', node.name, selects(nodes, node.labels ?? {}));
      // A node that is about to get the taint does not show it yet, and stays counted.
      if (owned[markOf(taint)] === name) this.#pools.put(name, 'carriers', node.name, true);
    }
  }

  /** Takes in a node and says what has to change on it. */
  decide(now: Instant, node: Node): RuleDecision {
    const [add, remove, because, reports]: [
      Taint[],
      TaintName[],
      LifecycleReason[],
      LifecycleReport[],
    ] = [[], [], [], []];
    const { owned, retired } = ownedOn(node, this.#rules, this.#retired);
    for (const taint of retired) {
      if (!this.#inherit(now, taint, node, owned)) remove.push(taintName(taint));
    }
    let until: Instant | null = null;
    for (const rule of this.#rules.values()) {
      const verdict = this.#judge(now, rule, node, owned);
      until = earliest([until, verdict.until]);
      if (verdict.report) reports.push(verdict.report);
      const { key, value, effect } = rule.taint;
      const mark = markOf(rule.taint);
      if (verdict.kind === 'add') {
        add.push({ key, value, effect, timeAdded: this.#clock.wall(now) });
        owned[mark] = rule.name;
        because.push(verdict.because);
      } else if (verdict.kind === 'remove') {
        delete owned[mark];
        if (this.#inherit(now, rule.taint, node, owned)) continue;
        if (hasTaint(node.taints, rule.taint)) remove.push(taintName(rule.taint));
      }
    }
    const isSame =
      add.length === 0 && remove.length === 0 && isSameNote(owned, node.ownedTaints ?? {});
    const note = Object.keys(owned).length === 0 ? null : owned;
    return { change: isSame ? null : { add, remove, owned: note, because }, until, reports };
  }

  #set(rule: ConditionRule): void {
    const { name, taint } = rule;
    this.#rules.set(name, rule);
    this.#pools.set(name);
    this.#retired = this.#retired.filter(
      (one) => one.name !== name || !isEqualRuleTaint(one.taint, taint),
    );
  }

  /** Hands a taint that one rule does not want any more to another that would put it on now: it stays. */
  #inherit(now: Instant, taint: RuleTaint, node: Node, owned: Record<string, string>): boolean {
    if (!hasTaint(node.taints, taint)) return false;
    for (const rule of this.#rules.values()) {
      if (!isEqualRuleTaint(rule.taint, taint) || !selects(rule.nodes, node.labels ?? {})) continue;
      const { holds, since } = this.#observations.observe(now, rule, node);
      if (!holds || since + rule.holdsMs > now || rule.dryRun || !this.#pools.hasRoom(rule))
        continue;
      owned[markOf(taint)] = rule.name;
      this.#pools.put(rule.name, 'carriers', node.name, true);
      return true;
    }
    return false;
  }

  #judge(
    now: Instant,
    rule: ConditionRule,
    node: Node,
    owned: Record<string, string>,
  ): RuleVerdict {
    const isMember = selects(rule.nodes, node.labels ?? {});
    const isOurs = owned[markOf(rule.taint)] === rule.name;
    this.#pools.put(rule.name, 'nodes', node.name, isMember);
    this.#pools.put(rule.name, 'carriers', node.name, isOurs);
    this.#pools.put(rule.name, 'waiting', node.name, false);
    const { holds, since } = this.#observations.observe(now, rule, node);
    const wanted = isMember && holds;
    const due = since + (wanted ? rule.holdsMs : isMember ? rule.clearMs : 0);
    if (wanted === isOurs) return stay;
    if (due > now) return { ...stay, until: due };
    if (wanted) return this.#add(now, rule, node, owned, since);
    return this.#isDry(rule, node, 'remove') ?? { kind: 'remove', until: null, report: null };
  }

  #add(
    now: Instant,
    rule: ConditionRule,
    node: Node,
    owned: Record<string, string>,
    since: Instant,
  ): RuleVerdict {
    const isTaken = owned[markOf(rule.taint)] !== undefined;
    if (isTaken || node.taints.some((taint) => isSameTaint(taint, rule.taint))) return stay;
    if (!this.#pools.hasRoom(rule)) {
      this.#pools.put(rule.name, 'waiting', node.name, true);
      const limit = { kind: 'ruleLimit', node, rule: rule.name } as const;
      const report = this.#observations.report(rule, node, limit);
      return { kind: 'stay', until: now + limitWaitMs, report };
    }
    const dry = this.#isDry(rule, node, 'add');
    if (dry) return dry;
    this.#pools.put(rule.name, 'carriers', node.name, true);
    const because = {
      code: 'ConditionRule',
      rule: rule.name,
      condition: rule.condition,
      since: this.#clock.wall(since),
    } as const;
    return { kind: 'add', until: null, report: null, because };
  }

  #isDry(rule: ConditionRule, node: Node, change: 'add' | 'remove'): RuleVerdict | null {
    if (!rule.dryRun) return null;
    const report = { kind: 'ruleDryRun', node, rule: rule.name, change } as const;
    return { ...stay, report: this.#observations.report(rule, node, report) };
  }
}

type RuleVerdict = { readonly until: Instant | null; readonly report: LifecycleReport | null } & (
  | { readonly kind: 'stay' | 'remove' }
  | { readonly kind: 'add'; readonly because: LifecycleReason }
);

const stay = { kind: 'stay', until: null, report: null } as const;

function taintName({ key, effect }: TaintName): TaintName {
  return { key, effect };
}

/** The taint of a rule. */
type RuleTaint = ConditionRule['taint'];

/** True when two rules put on the same taint. */
function isEqualRuleTaint(one: RuleTaint, other: RuleTaint): boolean {
  return isSameTaint(one, other) && one.value === other.value;
}

/** Names a taint as the node's note does. */
function markOf({ key, effect }: TaintName): string {
  return `${key}:${effect}`;
}

/**
 * The taints that rules put on by the note, without those it cannot be right about. A kubelet may
 * write the note of its node, but no taint: ours has the rule's value and says since when it is
 * there, which `kubectl taint` never does. Any other taint of the name belongs to another program.
 * `retired`: ours, and no longer wanted by any rule.
 */
function ownedOn(
  node: Node,
  rules: ReadonlyMap<string, ConditionRule>,
  retiredRules: readonly RetiredRule[],
): { readonly owned: Record<string, string>; readonly retired: readonly RuleTaint[] } {
  const owned: Record<string, string> = { ...node.ownedTaints };
  const retired: RuleTaint[] = [];
  for (const { name, taint } of retiredRules) {
    const wanted = rules.get(name)?.taint;
    if (owned[markOf(taint)] !== name || (wanted && isEqualRuleTaint(wanted, taint))) continue;
    const there = node.taints.find((other) => isSameTaint(other, taint));
    const isOurs = there?.value === taint.value && finite(there.timeAdded) !== null;
    // Where the rule wants the taint with another value, the missing taint is that one.
    const isOff = !there && !(wanted && isSameTaint(wanted, taint));
    if (isOff || isOurs) delete owned[markOf(taint)];
    if (isOurs) retired.push(taint);
  }
  for (const { name, taint } of rules.values()) {
    const there = node.taints.find((other) => isSameTaint(other, taint));
    const isOurs = !there || (there.value === taint.value && finite(there.timeAdded) !== null);
    if (owned[markOf(taint)] === name && !isOurs) delete owned[markOf(taint)];
  }
  return { owned, retired };
}

/** True when two notes say the same. */
function isSameNote(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
  );
}

/** Since when the condition of a rule holds on a node, or is over there. */
interface RuleObservation {
  readonly holds: boolean;
  readonly since: Instant;
  /** As the condition itself said. */
  readonly transitionAt: Instant | null;
}

type RuleReport = Extract<LifecycleReport, { kind: 'ruleDryRun' | 'ruleLimit' }>;

/** Observes the conditions that rules are about. */
class RuleObservations {
  readonly #clock: ClusterTime;
  /** By rule and node. */
  readonly #observed = new Map<string, RuleObservation>();
  readonly #reported = new Set<string>();

  constructor(clock: ClusterTime) {
    this.#clock = clock;
  }

  /** Takes in the node as it is. */
  observe(now: Instant, rule: ConditionRule, node: Node): RuleObservation {
    const key = `${rule.name}/${node.name}`;
    const condition = node.conditions?.find(({ type }) => type === rule.condition);
    const counts = !rule.onlyUnreachable || isSinceUnreachable(condition, node);
    const holds = condition?.status === rule.status && counts;
    const known = this.#observed.get(key);
    const transitionAt = finite(condition?.transitionAt);
    const isBack =
      holds && transitionAt !== null && transitionAt > (known?.transitionAt ?? Infinity);
    if (known?.holds === holds && !isBack) return known;
    // When first seen, or over and back while no process watched, the condition's own time counts:
    // a restart does not reset it.
    const isSeen = known !== undefined && known.holds !== holds;
    const since = isSeen ? now : this.#clock.since(now, condition?.transitionAt);
    const observation = { holds, since, transitionAt };
    this.#observed.set(key, observation);
    this.#reported.delete(key);
    return observation;
  }

  /** Each report is made once for as long as the condition stays as it is. */
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

/** True when the node is unreachable, and the condition is from since it is. */
function isSinceUnreachable(condition: NodeCondition | undefined, { conditions }: Node): boolean {
  const ready = readyOf(conditions);
  if (ready?.status !== 'Unknown') return false;
  const [since, unreachableSince] = [condition?.transitionAt ?? null, ready.transitionAt];
  return since !== null && unreachableSince !== null && since >= unreachableSince;
}

/** The status of a rule. */
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
class RulePools {
  readonly #pools = new Map<string, RulePool>();

  /** A rule is new, or another by its name: its taints on nodes stay there. */
  set(name: string): void {
    this.#pools.set(name, { ...newPool(), ...this.#pools.get(name), waiting: new Set() });
  }

  /** Nodes that go are not reported to a deleted rule: a rule of the same name begins with none. */
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

  /** True when one more node of its pool may carry its taint. */
  hasRoom({ name, nodesMax }: ConditionRule): boolean {
    const { nodes, carriers } = this.#pools.get(name) ?? {};
    const max = poolLimit(nodesMax ?? Number.MAX_SAFE_INTEGER, nodes?.size ?? 0) ?? 0;
    return (carriers?.size ?? 0) < max;
  }

  /** The status of a rule. */
  status(name: string): RuleStatus {
    const { nodes, carriers, waiting } = this.#pools.get(name) ?? {};
    const tainted = [...(carriers ?? [])].sort();
    return { name, selected: nodes?.size ?? 0, tainted, waiting: waiting?.size ?? 0 };
  }
}

function newPool(): RulePool {
  return { nodes: new Set(), carriers: new Set(), waiting: new Set() };
}

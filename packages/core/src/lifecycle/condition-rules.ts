// Applies condition rules: which taints they put on nodes or take off, within their limits.
import type { ClusterTime } from '../kernel/cluster-clock.ts';
import { earliest, finite, type Instant } from '../kernel/time.ts';
import { type Node, type NodeCondition, readyOf } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import { hasTaint, isSameTaint, type Taint, type TaintName } from '../model/taint.ts';
import { type ConditionRule, poolLimit, type RetiredRule } from '../policy/condition-rule.ts';
import type { LifecycleReason, LifecycleReport } from './reason.ts';

/** Wait before a limit that was reached is looked at again. */
const limitWaitMs = 10_000;

/** What the rules want of one node. */
export interface RuleChange {
  readonly add: readonly Taint[];
  readonly remove: readonly TaintName[];
  /** The node's note of what rules put on it, as it should read then; null: none. */
  readonly owned: Readonly<Record<string, string>> | null;
  readonly because: readonly LifecycleReason[];
}

export interface RuleDecision {
  /** Null: all is as it should be. */
  readonly change: RuleChange | null;
  /** When to decide again, if nothing happens before; null: never. */
  readonly until: Instant | null;
  readonly reports: readonly LifecycleReport[];
}

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

/** Since when the condition of a rule holds on a node, or is over there. */
interface Observation {
  readonly holds: boolean;
  readonly since: Instant;
}

/**
 * Taints for conditions of any type. A condition has to hold for a while, and to be over for a
 * while. What a rule put on is noted on the node; only that is taken off again, so that neither a
 * restart nor somebody else's taint of the same name confuses them.
 */
export class ConditionRules {
  readonly #configured: readonly ConditionRule[];
  readonly #rules = new Map<string, ConditionRule>();
  /** Taints that rules put on that do not want them any more. */
  #retired: readonly RetiredRule[];
  readonly #clock: ClusterTime;
  readonly #observed = new Map<string, Observation>();
  /** For each rule, the nodes of its pool, and those that carry its taint. */
  readonly #pools = new Map<string, Set<string>>();
  readonly #carriers = new Map<string, Set<string>>();
  /** For each rule, the nodes that its limit keeps from the taint. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #reported = new Set<string>();

  /** `retired`: of earlier runs; what of it the rules want as it is stays. */
  constructor(
    rules: readonly ConditionRule[],
    retired: readonly RetiredRule[],
    clock: ClusterTime,
  ) {
    this.#configured = rules;
    this.#retired = retired;
    this.#clock = clock;
    for (const rule of rules) this.#set(rule);
  }

  /**
   * Takes in a rule of the cluster as it is now; null: it is gone, and one of the configuration with its
   * name counts again. What it put on nodes, and would not put on now, goes. Every node has to be
   * decided about anew.
   */
  put(name: string, rule: ConditionRule | null): void {
    const before = this.#rules.get(name);
    const next = rule ?? this.#configured.find((one) => one.name === name) ?? null;
    if (before && !(next && isEqualRuleTaint(before.taint, next.taint))) {
      this.#retired = [...this.#retired, { name, taint: before.taint }];
    }
    if (next) this.#set(next);
    else this.#drop(name);
    for (const key of this.#observed.keys()) {
      if (key.startsWith(`${name}/`)) this.#observed.delete(key);
    }
    for (const key of this.#reported) if (key.startsWith(`${name}/`)) this.#reported.delete(key);
  }

  /** What each rule has come to. */
  status(): readonly RuleStatus[] {
    return Array.from(this.#rules.keys(), (name) => ({
      name,
      selected: this.#pools.get(name)?.size ?? 0,
      tainted: [...(this.#carriers.get(name) ?? [])].sort(),
      waiting: this.#waiting.get(name)?.size ?? 0,
    }));
  }

  forget(nodeName: string): void {
    for (const name of this.#rules.keys()) {
      for (const nodes of [this.#pools, this.#carriers, this.#waiting])
        nodes.get(name)?.delete(nodeName);
      this.#observed.delete(`${name}/${nodeName}`);
    }
  }

  /**
   * Takes in a node before anything is decided about one of them: the bound of a rule counts all of its
   * pool, also right after a start.
   */
  notice(node: Node): void {
    if (this.#rules.size === 0) return;
    const { owned } = this.#ownedOn(node);
    for (const rule of this.#rules.values()) {
      setMember(this.#pools.get(rule.name), node.name, selects(rule.nodes, node.labels ?? {}));
      // One that is about to get the taint does not show it yet, and stays counted.
      if (owned[markOf(rule.taint)] === rule.name) this.#carriers.get(rule.name)?.add(node.name);
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
    const { owned, retired } = this.#ownedOn(node);
    for (const taint of retired) {
      if (!this.#inherit(now, taint, node, owned)) remove.push(nameOf(taint));
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
        if (hasTaint(node.taints, rule.taint)) remove.push(nameOf(rule.taint));
      }
    }
    const isSame =
      add.length === 0 && remove.length === 0 && sameNote(owned, node.ownedTaints ?? {});
    const note = Object.keys(owned).length === 0 ? null : owned;
    return { change: isSame ? null : { add, remove, owned: note, because }, until, reports };
  }

  /**
   * What the note says that rules put on, without what it cannot be right about. A kubelet may write
   * the note of its node, but no taint: ours has the rule's value and says since when it is there,
   * which `kubectl taint` never does. Any other taint of the name is somebody else's. `retired`: ours,
   * and to go, as no rule wants them any more.
   */
  #ownedOn(node: Node): {
    readonly owned: Record<string, string>;
    readonly retired: readonly RuleTaint[];
  } {
    const owned: Record<string, string> = { ...node.ownedTaints };
    const retired: RuleTaint[] = [];
    for (const { name, taint } of this.#retired) {
      if (owned[markOf(taint)] !== name || isWanted(this.#rules.get(name), taint)) continue;
      const there = node.taints.find((other) => isSameTaint(other, taint));
      const isOurs = there?.value === taint.value && finite(there.timeAdded) !== null;
      // Where the rule wants the taint with another value, what people took off is that one.
      const isOff = !there && !isSameName(this.#rules.get(name), taint);
      if (isOff || isOurs) delete owned[markOf(taint)];
      if (isOurs) retired.push(taint);
    }
    for (const { name, taint } of this.#rules.values()) {
      const there = node.taints.find((other) => isSameTaint(other, taint));
      const isOurs = !there || (there.value === taint.value && finite(there.timeAdded) !== null);
      if (owned[markOf(taint)] === name && !isOurs) delete owned[markOf(taint)];
    }
    return { owned, retired };
  }

  /** Nobody tells a rule that is gone of nodes that go: one of its name begins with none. */
  #drop(name: string): void {
    this.#rules.delete(name);
    for (const nodes of [this.#pools, this.#carriers, this.#waiting]) nodes.delete(name);
  }

  #set(rule: ConditionRule): void {
    const { name, taint } = rule;
    this.#rules.set(name, rule);
    this.#pools.set(name, this.#pools.get(name) ?? new Set());
    this.#carriers.set(name, this.#carriers.get(name) ?? new Set());
    this.#waiting.set(name, new Set());
    this.#retired = this.#retired.filter(
      (one) => one.name !== name || !isEqualRuleTaint(one.taint, taint),
    );
  }

  /** Hands a taint that one rule does not want any more to another that would put it on now: it stays. */
  #inherit(now: Instant, taint: RuleTaint, node: Node, owned: Record<string, string>): boolean {
    if (!hasTaint(node.taints, taint)) return false;
    for (const rule of this.#rules.values()) {
      if (!isEqualRuleTaint(rule.taint, taint) || !selects(rule.nodes, node.labels ?? {})) continue;
      const { holds, since } = this.#observe(now, rule, node);
      if (!holds || since + rule.holdsMs > now || rule.dryRun || !this.#hasRoom(rule)) continue;
      owned[markOf(taint)] = rule.name;
      this.#carriers.get(rule.name)?.add(node.name);
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
    setMember(this.#pools.get(rule.name), node.name, isMember);
    setMember(this.#carriers.get(rule.name), node.name, isOurs);
    setMember(this.#waiting.get(rule.name), node.name, false);
    const { holds, since } = this.#observe(now, rule, node);
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
    if (!this.#hasRoom(rule)) {
      setMember(this.#waiting.get(rule.name), node.name, true);
      const report = this.#report(rule, node, { kind: 'ruleLimit', node, rule: rule.name });
      return { kind: 'stay', until: now + limitWaitMs, report };
    }
    const dry = this.#isDry(rule, node, 'add');
    if (dry) return dry;
    this.#carriers.get(rule.name)?.add(node.name);
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
    return { ...stay, report: this.#report(rule, node, report) };
  }

  /** Each is told once for as long as the condition stays as it is. */
  #report(rule: ConditionRule, { name, uid }: Node, report: RuleReport): LifecycleReport | null {
    const key = `${rule.name}/${name}`;
    if (this.#reported.has(key)) return null;
    this.#reported.add(key);
    return { ...report, node: { name, uid } };
  }

  #observe(now: Instant, rule: ConditionRule, node: Node): Observation {
    const key = `${rule.name}/${node.name}`;
    const condition = node.conditions?.find(({ type }) => type === rule.condition);
    const counts = !rule.onlyUnreachable || isSinceUnreachable(condition, node);
    const holds = condition?.status === rule.status && counts;
    const known = this.#observed.get(key);
    if (known?.holds === holds) return known;
    // When first seen, the condition's own time counts, so that a restart does not begin anew.
    const since = known ? now : this.#clock.since(now, condition?.transitionAt);
    const observation = { holds, since };
    this.#observed.set(key, observation);
    this.#reported.delete(key);
    return observation;
  }

  /** Whether one more node of its pool may carry its taint. */
  #hasRoom({ name, nodesMax }: ConditionRule): boolean {
    const [pool = 0, carriers = 0] = [this.#pools.get(name)?.size, this.#carriers.get(name)?.size];
    return carriers < (poolLimit(nodesMax ?? Number.MAX_SAFE_INTEGER, pool) ?? 0);
  }
}

/** Whether the node is unreachable, and the condition is from since it is. */
function isSinceUnreachable(condition: NodeCondition | undefined, { conditions }: Node): boolean {
  const ready = readyOf(conditions);
  if (ready?.status !== 'Unknown') return false;
  const [since, unreachableSince] = [condition?.transitionAt ?? null, ready.transitionAt];
  return since !== null && unreachableSince !== null && since >= unreachableSince;
}

type RuleTaint = ConditionRule['taint'];

function isEqualRuleTaint(one: RuleTaint, other: RuleTaint): boolean {
  return isSameTaint(one, other) && one.value === other.value;
}

function isWanted(rule: ConditionRule | undefined, taint: RuleTaint): boolean {
  return rule !== undefined && isEqualRuleTaint(rule.taint, taint);
}

function isSameName(rule: ConditionRule | undefined, taint: RuleTaint): boolean {
  return rule !== undefined && isSameTaint(rule.taint, taint);
}

type RuleReport = Extract<LifecycleReport, { kind: 'ruleDryRun' | 'ruleLimit' }>;

type RuleVerdict = { readonly until: Instant | null; readonly report: LifecycleReport | null } & (
  | { readonly kind: 'stay' | 'remove' }
  | { readonly kind: 'add'; readonly because: LifecycleReason }
);

const stay = { kind: 'stay', until: null, report: null } as const;

function nameOf({ key, effect }: TaintName): TaintName {
  return { key, effect };
}

/** How a taint is named in the node's note. */
function markOf({ key, effect }: TaintName): string {
  return `${key}:${effect}`;
}

function setMember(set: Set<string> | undefined, name: string, isMember: boolean): void {
  if (isMember) set?.add(name);
  else set?.delete(name);
}

function sameNote(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
  );
}

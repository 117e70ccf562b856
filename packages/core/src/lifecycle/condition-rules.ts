// Applies condition rules: which taints they put on nodes or take off, within their limits.
import type { ClusterTime } from '../kernel/cluster-clock.ts';
import { earliest, type Instant } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import { hasTaint, isSameTaint, type Taint, type TaintName } from '../model/taint.ts';
import type { ConditionRule, RetiredRule } from '../policy/condition-rule.ts';
import type { LifecycleReason, LifecycleReport } from './reason.ts';
import { isEqualRuleTaint, isSameNote, markOf, ownedOn, type RuleTaint } from './rule-note.ts';
import { RuleObservations } from './rule-observations.ts';
import { RulePools, type RuleStatus } from './rule-pools.ts';

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
    else {
      this.#rules.delete(name);
      this.#pools.drop(name);
    }
    this.#observations.forgetRule(name);
  }

  /** What each rule has come to. */
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
      // One that is about to get the taint does not show it yet, and stays counted.
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

function nameOf({ key, effect }: TaintName): TaintName {
  return { key, effect };
}

// The checkers of taint rules: their taints come and go as the rules say, nothing else does, and nothing is left undone.
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Call } from '../call.ts';
import { Checker } from '../evidence.ts';
import type { ObservedChange, State } from '../object-history.ts';
import { clockTime } from '../terms.ts';
import type { LifecycleEvidence } from './lifecycle-evidence.ts';
import { isLifecycleTaint, taintsOf } from './node-rule.ts';
import {
  holdsOn,
  isSameTaint,
  isSelected,
  markOf,
  marksOn,
  nodesMaxOf,
  type RuleTaint,
  type StoredRule,
  saidSince,
  waitOf,
} from './rule-history.ts';

/** A write of the client that changes the taints of a node. */
interface Write {
  readonly run: number;
  /** When the client began it. */
  readonly decidedAt: number;
  readonly at: number;
  readonly nodeName: string;
  /** The node in each state that the client may have known. */
  readonly known: readonly State[];
}

/**
 * The client adds a rule's taint when its condition has held for the rule's time, on a selected
 * node, on no more nodes than the rule allows, and not again after another program has removed the
 * taint. The client removes it when the condition has been over for the rule's time, or the rule no
 * longer selects the node. Taints that no rule has added stay. Judged by the client's possible
 * knowledge when it began to write.
 */
export class RuleTaintChecker extends Checker<LifecycleEvidence> {
  observe({ at, change: { type, resource, object, previous }, by }: ObservedChange): void {
    if (!by || !previous || resource !== 'nodes' || type === 'DELETED') return;
    // Without rules, taints are checked as foreign fields.
    if (!this.evidence.rules.areUsed) return;
    const [before, after] = [ruleTaints(previous), ruleTaints(object)];
    const added = after.filter((taint) => !before.some((one) => isSameTaint(one, taint)));
    const removed = before.filter((taint) => !after.some((one) => isSameTaint(one, taint)));
    if (added.length === 0 && removed.length === 0) return;
    const write = this.#writeOf(at, object, by);
    for (const taint of added) this.#judgeAdded(write, taint, marksOn(object)[markOf(taint)]);
    for (const taint of removed) this.#judgeRemoved(write, taint);
  }

  #writeOf(at: number, node: KubeObject, by: Call): Write {
    const { apiHistory, history } = this.evidence;
    const nodeName = node.metadata.name;
    const decidedAt = apiHistory.calls.begunAt(by);
    const from = apiHistory.known.inTurnUpTo(by.run, 'nodes', decidedAt);
    const states = history.node(nodeName).filter((state) => state.object !== node);
    const known = history.during(states, from, at);
    return { run: by.run, decidedAt, at, nodeName, known };
  }

  #judgeAdded(write: Write, taint: RuleTaint, name: string | undefined): void {
    const wanting = this.#knownRules(write, name).filter((rule) => {
      return rule !== null && rule.spec.dryRun !== true && isSameTaint(rule.spec.taint, taint);
    });
    const isFree = ({ object }: State): boolean =>
      marksOn(object)[markOf(taint)] === undefined &&
      !ruleTaints(object).some((one) => markOf(one) === markOf(taint));
    const free = write.known.filter(isFree);
    const due = wanting.flatMap((rule) =>
      rule && free.some((state) => this.#isDue(write, rule, state, true)) ? [rule] : [],
    );
    if (wanting.length === 0) this.#report('taint without a rule', write, taint, 'no rule says so');
    else if (free.length === 0)
      this.#report('rule taint put on again', write, taint, `it was taken off, or another's`);
    else if (due.length === 0)
      this.#report('rule taint too early', write, taint, `rule ${name} does not ask for it yet`);
    else if (due.every((rule) => !this.#hasRoom(write, rule)))
      this.#report('rule taint on too many', write, taint, `rule ${name} has no room`);
  }

  #judgeRemoved(write: Write, taint: RuleTaint): void {
    const owners = write.known.map(({ object }) => marksOn(object)[markOf(taint)]);
    const rules = owners.flatMap((name) => (name === undefined ? [] : [name]));
    if (rules.length === 0 || taint.timeAdded === undefined) {
      this.#report('foreign taint taken', write, taint, 'no rule had put it on');
      return;
    }
    const isJustified = rules
      .flatMap((name) => this.#knownRules(write, name))
      .some((rule) => {
        if (rule === null || !isSameTaint(rule.spec.taint, taint)) return true;
        if (rule.spec.dryRun) return false;
        return write.known.some((state) => this.#isDue(write, rule, state, false));
      });
    if (!isJustified)
      this.#report('rule taint gone too early', write, taint, `${rules[0]} asks for it`);
  }

  #knownRules({ run, decidedAt }: Write, name: string | undefined): readonly (StoredRule | null)[] {
    return name === undefined ? [] : this.evidence.rules.known(run, decidedAt, name);
  }

  /** True if the rule wants its taint on the node in that state; or no longer wants it. */
  #isDue(
    { run, decidedAt, nodeName }: Write,
    rule: StoredRule,
    state: State,
    wants: boolean,
  ): boolean {
    const { object: node } = state;
    if (!isSelected(rule, node)) return !wants;
    if (holdsOn(rule, node) !== wants) return false;
    const since = this.#since(run, nodeName, rule, state);
    return Math.min(since, saidSince(rule, node)) + waitOf(rule, wants) <= decidedAt;
  }

  /** Since when its condition is as in that state, for a run that need not have seen it be otherwise. */
  #since(run: number, nodeName: string, rule: StoredRule, state: State): number {
    const { history, apiHistory } = this.evidence;
    const states = history.node(nodeName);
    const holds = holdsOn(rule, state.object);
    const index = states.indexOf(state);
    const other = states.findLastIndex(({ at, object }, place) => {
      if (place >= index || (holdsOn(rule, object) === holds && object !== null)) return false;
      const end = states[place + 1]?.at ?? Number.POSITIVE_INFINITY;
      return apiHistory.known.within(run, 'nodes', at, end);
    });
    return states[other + 1]?.at ?? state.at;
  }

  /**
   * True if fewer nodes than allowed carried its taint, by the knowledge that the client surely
   * had.
   */
  #hasRoom({ run, decidedAt, at, nodeName }: Write, rule: StoredRule): boolean {
    const { history, apiHistory } = this.evidence;
    const from = apiHistory.known.inTurnUpTo(run, 'nodes', decidedAt);
    const mark = markOf(rule.spec.taint);
    let [carriers, pool] = [0, 0];
    for (const name of history.nodeNames) {
      const states = history.during(history.node(name), from, at);
      if (states.some(({ object }) => isSelected(rule, object))) pool += 1;
      const carries = states.every(({ object }) => marksOn(object)[mark] === rule.name);
      if (name !== nodeName && states.length > 0 && carries) carriers += 1;
    }
    return carriers < nodesMaxOf(rule, pool);
  }

  #report(
    invariant: string,
    { run, decidedAt, at, nodeName }: Write,
    taint: RuleTaint,
    why: string,
  ): void {
    const evidence = `node ${nodeName}, taint ${JSON.stringify(taint)}, decided at ${clockTime(decidedAt)}: ${why}; run ${run}`;
    this.evidence.report({ invariant, at, evidence });
  }
}

/** The taints of a node that no state of health asks for. */
function ruleTaints(node: KubeObject | null): readonly RuleTaint[] {
  return taintsOf(node).filter((taint) => !isLifecycleTaint(taint));
}

/** The time after which a due taint must be added or removed; rules without room look again. */
const lateMs = 60_000;
/** The time without a request after which a run is gone. */
const recentMs = 60_000;

/**
 * In quiet times each rule's taint is on every node whose condition has held for long enough, as
 * far as the rule has room, and on no node where it has been over for long enough. A rule's taints
 * go when the rule is deleted or changed while the client runs.
 */
export class LastingRuleChecker extends Checker<LifecycleEvidence> {
  /** Judges the undisturbed time from `calmSince` to `now`. */
  atRest(calmSince: number, now: number): void {
    const { history, rules } = this.evidence;
    const nodes = history.nodeNames.flatMap((name) => history.node(name).at(-1)?.object ?? []);
    for (const { name, isReadable } of rules.all) {
      const current = rules.current(name);
      if (!current || !isReadable || current.rule.spec.dryRun) continue;
      const since = Math.max(calmSince, current.since);
      for (const node of nodes) this.#judgeMissing(node, nodes, current.rule, since, now);
    }
    for (const node of nodes) this.#judgeStaying(node, calmSince, now);
  }

  #judgeMissing(
    node: KubeObject,
    nodes: readonly KubeObject[],
    rule: StoredRule,
    calmSince: number,
    now: number,
  ): void {
    const mark = markOf(rule.spec.taint);
    const isThere =
      marksOn(node)[mark] !== undefined || ruleTaints(node).some((one) => markOf(one) === mark);
    if (isThere || !this.#isDue(node, rule, true, calmSince, now)) return;
    const carriers = nodes.filter((one) => marksOn(one)[mark] === rule.name).length;
    const pool = nodes.filter((one) => isSelected(rule, one)).length;
    if (carriers >= nodesMaxOf(rule, pool)) return;
    this.#report('rule taint missing', now, node, rule.name, rule.spec.taint);
  }

  #judgeStaying(node: KubeObject, calmSince: number, now: number): void {
    for (const taint of ruleTaints(node)) {
      const name = marksOn(node)[markOf(taint)];
      if (name === undefined || taint.timeAdded === undefined) continue;
      if (this.#isOver(node, name, taint, calmSince, now))
        this.#report('rule taint stays', now, node, name, taint);
    }
  }

  /** True if the rule has long wanted its taint off the node. */
  #isOver(
    node: KubeObject,
    name: string,
    taint: RuleTaint,
    calmSince: number,
    now: number,
  ): boolean {
    const { rules } = this.evidence;
    const current = rules.current(name);
    if (current && !current.rule.isReadable) return false;
    if (current && isSameTaint(current.rule.spec.taint, taint)) {
      const since = Math.max(calmSince, current.since);
      return !current.rule.spec.dryRun && this.#isDue(node, current.rule, false, since, now);
    }
    const ends = this.#runs(now).map((run) => rules.endedFor(run, name, taint));
    return ends.every((end) => end !== null && Math.max(end, calmSince) + lateMs <= now);
  }

  #isDue(
    node: KubeObject,
    rule: StoredRule,
    wants: boolean,
    calmSince: number,
    now: number,
  ): boolean {
    const { history } = this.evidence;
    const states = history.node(node.metadata.name);
    const isWanted = (one: KubeObject | null): boolean =>
      isSelected(rule, one) && holdsOn(rule, one);
    if (isWanted(node) !== wants) return false;
    const other = states.findLastIndex(
      ({ object }) => object === null || isWanted(object) !== wants,
    );
    const since = Math.max(calmSince, states[other + 1]?.at ?? now);
    return since + waitOf(rule, wants) + lateMs <= now;
  }

  /** The lives of the client that are not over, as far as their requests show. */
  #runs(now: number): readonly number[] {
    const recent = this.evidence.apiHistory.calls.all.filter(
      ({ sentAt }) => sentAt > now - recentMs,
    );
    return [...new Set(recent.map(({ run }) => run))];
  }

  #report(invariant: string, at: number, node: KubeObject, rule: string, taint: RuleTaint): void {
    const evidence = `node ${node.metadata.name}, rule ${rule}, taint ${JSON.stringify(taint)} at ${clockTime(at)}`;
    this.evidence.report({ invariant, at, evidence });
  }
}

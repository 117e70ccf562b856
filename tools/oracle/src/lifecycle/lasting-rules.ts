// The checker of what taint rules have left undone.
import type { KubeObject } from '@taintmgr/sim-cluster';
import { Checker } from '../checker.ts';
import { clockTime } from '../terms.ts';
import type { LifecycleEvidence } from './evidence.ts';
import {
  holdsOn,
  isSameTaint,
  isSelected,
  markOf,
  marksOn,
  nodesMaxOf,
  type RuleTaint,
  type StoredRule,
  waitOf,
} from './rule-history.ts';
import { ruleTaints } from './rule-taints.ts';

/** So long after it is due a taint may be missing, or there still; rules with no room look again. */
const lateMs = 60_000;
/** Whoever has asked for nothing for so long is gone. */
const recentMs = 60_000;

/**
 * In quiet times each rule's taint is on every node whose condition has held for long enough, as far as
 * the rule has room, and on no node where it has been over for long enough. What a rule put on goes
 * when it is deleted or changed while the client runs.
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

  /** Whether the rule has long wanted its taint off the node. */
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

// The note on a node of which taints condition rules put there, and what of it can be believed.
import { finite } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import { isSameTaint, type TaintName } from '../model/taint.ts';
import type { ConditionRule, RetiredRule } from '../policy/condition-rule.ts';

/** The taint of a rule. */
export type RuleTaint = ConditionRule['taint'];

/** Whether two rules put on the same taint. */
export function isEqualRuleTaint(one: RuleTaint, other: RuleTaint): boolean {
  return isSameTaint(one, other) && one.value === other.value;
}

/** How a taint is named in the node's note. */
export function markOf({ key, effect }: TaintName): string {
  return `${key}:${effect}`;
}

/**
 * What the note says that rules put on, without what it cannot be right about. A kubelet may write
 * the note of its node, but no taint: ours has the rule's value and says since when it is there,
 * which `kubectl taint` never does. Any other taint of the name is somebody else's. `retired`: ours,
 * and to go, as no rule wants them any more.
 */
export function ownedOn(
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
    // Where the rule wants the taint with another value, what people took off is that one.
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

/** Whether two notes say the same. */
export function isSameNote(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
  );
}

import { oneOf, refuse, wholeNumber } from '../kernel/checks.ts';
import type { Millis } from '../kernel/time.ts';
import type { LabelSelector } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';

/**
 * A configured rule: turns a condition of a node into a taint after a time. An earlier taint of
 * another program is left alone, and so is a taint that was removed by hand until the condition has
 * come and gone.
 */
export interface ConditionRule {
  /** Written on the node beside the taint, to tell whose it is. */
  readonly name: string;
  /** Type of the node condition. */
  readonly condition: string;
  /** Status in which the condition causes the taint. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** The time for which the condition has to hold. */
  readonly holdsMs: Millis;
  /** The time for which the condition has to be over before the taint is removed. */
  readonly clearMs: Millis;
  /** The taint. */
  readonly taint: Pick<Taint, 'key' | 'value' | 'effect'>;
  /** The nodes it is for; they are also the pool that `nodesMax` counts in. */
  readonly nodes: LabelSelector;
  /**
   * The largest number of nodes of the pool, or percent of it, that carry the taint by this rule.
   */
  readonly nodesMax: number | `${number}%` | null;
  /**
   * The condition counts only while the node is unreachable, and only if it came since: an earlier
   * finding, such as a machine that is off, says nothing of now. Left out: it always counts.
   */
  readonly onlyUnreachable?: boolean;
  /** Report the effect of the rule, and change nothing. */
  readonly dryRun: boolean;
}

/** A taint, and the rule that put it on. */
export type RetiredRule = Pick<ConditionRule, 'name' | 'taint'>;

/** Throws RangeError naming the field, the value and what is allowed. */
export function checkConditionRule(path: string, rule: ConditionRule): void {
  const { name, condition, status, taint, nodesMax } = rule;
  refuse(`${path}name`, name, name !== '', 'a name');
  refuse(`${path}condition`, condition, condition !== '', 'the type of a condition');
  oneOf(`${path}status`, status, ['True', 'False', 'Unknown']);
  wholeNumber(`${path}holdsMs`, rule.holdsMs, 0);
  wholeNumber(`${path}clearMs`, rule.clearMs, 0);
  refuse(`${path}taint.key`, taint.key, taint.key !== '', 'a taint key');
  oneOf(`${path}taint.effect`, taint.effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']);
  const isLimit = nodesMax === null || poolLimit(nodesMax, 100) !== null;
  refuse(`${path}nodesMax`, nodesMax, isLimit, 'a whole number, or a percentage such as "10%"');
}

/** The number of nodes of a pool of this size; null for no limit. */
export function poolLimit(limit: number | string, size: number): number | null {
  if (typeof limit === 'number') return Number.isSafeInteger(limit) && limit >= 0 ? limit : null;
  const match = /^(\d{1,3})%$/.exec(limit);
  if (!match || Number(match[1]) > 100) return null;
  return Math.floor((Number(match[1]) * size) / 100);
}

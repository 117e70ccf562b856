// Tells whether anything at all can fit a policy, or two of them.
import type { LabelSelector } from '../model/selector.ts';
import type { PolicyMatch, TaintPattern } from './values.ts';

/** The values of one label for which one selector, or several together, ask. */
interface WantedValues {
  /** The values that are left; null: any. */
  values: ReadonlySet<string> | null;
  readonly not: Set<string>;
  exists: boolean;
  isAbsent: boolean;
}

/** The key of a label for which no object can fit all of the selectors; null: there is none. */
export function contradiction(selectors: readonly (LabelSelector | null)[]): string | null {
  const wanted = new Map<string, WantedValues>();
  const of = (key: string): WantedValues => {
    const found = wanted.get(key) ?? {
      values: null,
      not: new Set(),
      exists: false,
      isAbsent: false,
    };
    wanted.set(key, found);
    return found;
  };
  for (const selector of selectors) {
    for (const [key, value] of Object.entries(selector?.matchLabels ?? {}))
      narrow(of(key), [value]);
    for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
      const one = of(key);
      if (operator === 'In') narrow(one, values);
      else if (operator === 'NotIn') for (const value of values) one.not.add(value);
      else if (operator === 'Exists') one.exists = true;
      else one.isAbsent = true;
    }
  }
  for (const [key, one] of wanted) if (isImpossible(one)) return key;
  return null;
}

function narrow(one: WantedValues, values: readonly string[]): void {
  const before = one.values;
  one.values = new Set(values.filter((value) => before === null || before.has(value)));
  one.exists = true;
}

function isImpossible({ values, not, exists, isAbsent }: WantedValues): boolean {
  if (isAbsent && exists) return true;
  return values !== null && [...values].every((value) => not.has(value));
}

/** True when some text fits both patterns, in which `*` stands for any characters. */
export function canFitBoth(a: string, b: string): boolean {
  // The rest of either pattern from some place on, each pair looked at once.
  const seen = new Set<string>();
  const fits = (i: number, j: number): boolean => {
    if (i === a.length && j === b.length) return true;
    const pair = `${i} ${j}`;
    if (seen.has(pair)) return false;
    seen.add(pair);
    if (a[i] === '*') return fits(i + 1, j) || (j < b.length && fits(i, j + 1));
    if (b[j] === '*') return fits(i, j + 1) || (i < a.length && fits(i + 1, j));
    return i < a.length && a[i] === b[j] && fits(i + 1, j + 1);
  };
  return fits(0, 0);
}

/** True when the effect of a pattern may be the one for which pods leave. */
export function isForNoExecute({ effect = 'NoExecute' }: TaintPattern): boolean {
  return effect === 'NoExecute';
}

/** True when a pod and a taint may match both. False only where that is impossible. */
export function canOverlap(a: PolicyMatch, b: PolicyMatch): boolean {
  const some = <T>(as: readonly T[], bs: readonly T[], can: (x: T, y: T) => boolean): boolean =>
    as.length === 0 || bs.length === 0 || as.some((x) => bs.some((y) => can(x, y)));
  return (
    some(a.taints, b.taints, canFitTaints) &&
    some(a.namespaces?.names ?? [], b.namespaces?.names ?? [], canFitBoth) &&
    contradiction([a.nodes, b.nodes]) === null &&
    contradiction([a.namespaces?.selector ?? null, b.namespaces?.selector ?? null]) === null &&
    contradiction([a.pods, b.pods]) === null &&
    canFitPriorities(a.podPriority, b.podPriority)
  );
}

function canFitTaints(a: TaintPattern, b: TaintPattern): boolean {
  return (
    [a, b].every(isForNoExecute) &&
    canFitBoth(a.key ?? '*', b.key ?? '*') &&
    canFitBoth(a.value ?? '*', b.value ?? '*')
  );
}

function canFitPriorities(a: PolicyMatch['podPriority'], b: PolicyMatch['podPriority']): boolean {
  if (!a || !b) return true;
  const least = Math.max(a.min ?? Number.NEGATIVE_INFINITY, b.min ?? Number.NEGATIVE_INFINITY);
  const most = Math.min(a.max ?? Number.POSITIVE_INFINITY, b.max ?? Number.POSITIVE_INFINITY);
  const shares = a.classes.some((name) => b.classes.includes(name));
  return least <= most && (a.classes.length === 0 || b.classes.length === 0 || shares);
}

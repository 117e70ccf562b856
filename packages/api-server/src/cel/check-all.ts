// Checks the types of an expression to its end, where the library stops at the first that does not fit.
import type { Environment, ParseResult, TypeCheckResult } from '@marcbachmann/cel-js';
import { compileErrorText, culpritOf } from './error-text.ts';

const errorsMax = 20;

export interface CheckedAll {
  readonly checked: TypeCheckResult;
  /** In the order of their places. */
  readonly errors: readonly string[];
}

/** What is wrong is taken for something unknown, and the rest is looked at. */
export function checkAll(
  parsed: ParseResult,
  expression: string,
  environment: Environment,
): CheckedAll {
  const errors = new Set<string>();
  let checked = parsed.check();
  for (let left = errorsMax; !checked.valid && left > 0; left--) {
    errors.add(compileErrorText(checked.error, expression, environment));
    const culprit = culpritOf(checked.error) as { checkedType?: unknown } | null;
    if (!culprit || culprit.checkedType !== undefined) break;
    culprit.checkedType = unknownType(environment);
    checked = parsed.check();
  }
  return { checked, errors: [...errors].sort(byPlace) };
}

/** The type of what is not known, which fits everything. */
function unknownType(environment: Environment): unknown {
  const { ast, check } = environment.parse('dyn(1)');
  check();
  return (ast as { readonly checkedType?: unknown }).checkedType;
}

function byPlace(a: string, b: string): number {
  const [at, other] = [a, b].map((text) => /:(\d+):(\d+):/.exec(text)?.slice(1).map(Number) ?? []);
  const [line = 0, column = 0] = at ?? [];
  const [otherLine = 0, otherColumn = 0] = other ?? [];
  return line - otherLine || column - otherColumn;
}

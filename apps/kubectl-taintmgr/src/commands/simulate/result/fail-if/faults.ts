// What is wrong with an expression of --fail-if, and where, in words of its own notation.
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import { metricNames } from './metrics.ts';
import { type AmountName, amountTypes } from './quantities.ts';

interface Typed {
  readonly start: number;
  readonly checkedType?: { readonly name: string };
}

/** As the library throws them. */
interface LibraryError {
  readonly code?: string;
  readonly summary?: string;
  readonly range?: { readonly start: number };
  readonly node?: Typed & { readonly op: string; readonly args: unknown };
}

/** What is wrong, and at which offset of the expression. */
export function faultOf(error: unknown): { readonly offset: number; readonly what: string } {
  const { code = '', summary = String(error), range, node } = error as LibraryError;
  const start = range?.start ?? node?.start ?? 0;
  const parts: readonly unknown[] = Array.isArray(node?.args) ? node.args : [];
  if (code === 'no_matching_overload' && typeof parts[0] === 'string') {
    return { offset: start, what: callFault(parts[0]) };
  }
  if (code === 'no_such_overload' && parts.length === 2) {
    return operandFault(node?.op ?? '', parts as readonly [Typed, Typed]);
  }
  if (code === 'unknown_variable') {
    const name = String(node?.args);
    return { offset: start, what: `${callFault(name)}, as METRIC(NAMESPACE/NAME)` };
  }
  const plain = summary.replace(/: EOF$/, ': it ends here').replace(/ got EOF$/, ' got its end');
  return { offset: start, what: plain.replace('RPAREN', '")"').replace('LPAREN', '"("') };
}

function callFault(name: string): string {
  if (metricNames.includes(name)) {
    return `want ${name}(NAMESPACE/NAME) or ${name}(NAMESPACE/NAME, VARIANT)`;
  }
  return `no metric ${name}${didYouMean(name, metricNames) || ';'} want ${metricNames.join(', ')}`;
}

function operandFault(
  operator: string,
  [one, other]: readonly [Typed, Typed],
): { readonly offset: number; readonly what: string } {
  const type = amountTypes[one.checkedType?.name as AmountName];
  if (operator === '*') return { offset: other.start, what: 'want a number to multiply by' };
  const want = type?.want ?? 'the same kind of amount on both sides';
  const isCalculated = operator === '+' || operator === '-';
  return { offset: other.start, what: `want ${want} ${isCalculated ? 'here' : 'to compare with'}` };
}

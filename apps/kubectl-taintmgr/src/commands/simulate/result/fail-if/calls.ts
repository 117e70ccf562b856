// Where an expression of --fail-if asks for a metric, and of what.

import type { ParseResult } from '@marcbachmann/cel-js';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import { choicesText } from '../../../../render/count.ts';
import { metricNames } from './metrics.ts';
import type { Notation } from './notation.ts';

/** Which runs there are, and whether a condition has to say which it means. */
export interface Runs {
  /** Null: that hangs on a cluster which is not read yet. */
  readonly names: readonly string[] | null;
  /** Names in tables, which may be given too; left out: the same. */
  readonly shown?: readonly string[] | null;
  readonly mustName: boolean;
}

/** One place where a condition asks for something. */
export interface Call {
  readonly metric: string;
  /** `shop/web`, with `*` for any name. */
  readonly subject: string;
  readonly variant: string;
  readonly column: number;
}

/** Makes an error that names the column. */
export type Fault = (column: number, what: string) => Error;

type Node = ParseResult['ast'];

/** All of them, in their order. Throws for the first that cannot be. */
export function callsIn(
  root: Node,
  { columnOf }: Notation,
  runs: Runs,
  fault: Fault,
): readonly Call[] {
  const read = (metric: string, given: readonly Node[], start: number): Call => {
    const [subject = '', variant = null] = given.map(({ args }) => String(args));
    const [first, second] = given.map((node) => columnOf(node.start));
    const column = first ?? columnOf(start);
    if (!/^[^/\s]+\/[^/\s]+$/.test(subject)) {
      const want = `want ${metric}(NAMESPACE/NAME), * for any name`;
      throw fault(column, `${want}, got ${JSON.stringify(subject)}`);
    }
    const wrong = variantFault(variant, runs);
    if (wrong !== null) throw fault(second ?? column, wrong);
    return { metric, subject, variant: meantName(variant, runs) ?? '', column };
  };
  return metricNodes(root).map(({ metric, given, start }) => read(metric, given, start));
}

/** The name of the run that is meant; null: none is known. */
export function meantName(variant: string | null, { names, shown }: Runs): string | null {
  if (variant === null) return names?.[0] ?? null;
  const index = shown?.indexOf(variant) ?? -1;
  return names?.[index] ?? variant;
}

interface MetricNode {
  readonly metric: string;
  readonly given: readonly Node[];
  readonly start: number;
}

function metricNodes(node: unknown): readonly MetricNode[] {
  if (Array.isArray(node)) return node.flatMap(metricNodes);
  if (!isNode(node)) return [];
  if (node.op !== 'call') return metricNodes(node.args);
  const [metric, given] = node.args;
  return metricNames.includes(metric) ? [{ metric, given, start: node.start }] : metricNodes(given);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

function variantFault(variant: string | null, { names, shown, mustName }: Runs): string | null {
  if (names === null) return null;
  const known = shown ?? names;
  const all = choicesText(known);
  if (variant === null) {
    return mustName && names.length > 1 ? `want a variant after the name, one of ${all}` : null;
  }
  if (known.includes(variant) || names.includes(variant)) return null;
  return `no variant ${variant}${didYouMean(variant, known) || ';'} there are ${all}`;
}

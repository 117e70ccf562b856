// Conditions of --fail-if: expressions over what a run measured, in the notation of CEL.
import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { formatDuration, parseDuration } from '@taintmgr/core/time';
import { choicesText, spelled, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import type {
  BudgetSummary,
  FailIfOutcome,
  Reading,
  Recording,
  Summary,
  WorkloadSummary,
} from '@taintmgr/page';
import { mostAtOnce } from './summary.ts';

/** A run that conditions are held against. */
export interface Judged {
  readonly name: string;
  readonly summary: Summary;
  readonly recording: Pick<Recording, 'unplaced'>;
}

/** A condition, such as `downtime(shop/web, B) > downtime(shop/web, A) + 30s`. */
export interface FailIf {
  /** The current spellings of variants that are given in an earlier spelling. */
  readonly hints: readonly string[];
  /** Throws UsageError where it is about nothing of a run that begins. */
  check(run: Judged): void;
  /**
   * Holds it against what happened in each draw. Of several draws it has to be so in more than half; where it
   * compares variants, in all but one in twenty: else chance may have made it.
   */
  judge(draws: readonly (readonly Judged[])[]): FailIfOutcome;
}

/** Reads a condition. Throws UsageError that names the column. */
export function parseFailIf(text: string, runs: Runs): FailIf {
  const limit = text.trim();
  const notation = celOf(limit);
  const fault: Fault = (column, what) =>
    new UsageError(`--fail-if ${JSON.stringify(limit)}: column ${column}: ${what}`);
  let judged: readonly Judged[] = [];
  let readings: Reading[] = [];
  const environment = environmentOf((metric, subject, variant) => {
    const meant = meantName(variant, runs);
    const run = judged.find(({ name }) => name === meant);
    return (unit) => {
      const reading = run && readingOf({ metric, subject, run, unit });
      if (!reading) throw fault(1, `nothing to measure for ${metric}(${subject})`);
      readings.push(reading);
      return reading.value;
    };
  });
  const parsed = compiled(environment, notation, fault);
  const calls = callsIn(parsed.ast, notation, runs, fault);
  if (calls.length === 0) throw fault(1, `want one of ${metricNames.join(', ')} in it`);
  return {
    hints: hintsAt(parsed.ast, runs).map((hint) => `--fail-if ${JSON.stringify(limit)}: ${hint}`),
    check: (run) => {
      for (const call of calls) if (call.variant === run.name) checkSubject(call, run, fault);
      const unknown = runs.allowsUnknown ? undefined : unknownIn(calls, [run]);
      if (unknown !== undefined) throw fault(1, unknown);
    },
    judge: (draws) => {
      const unknown = runs.allowsUnknown ? undefined : unknownIn(calls, draws.flat());
      if (unknown !== undefined) return { limit, exceeded: false, readings: [], unknown };
      const outcomes = draws.map((runs) => {
        judged = runs;
        readings = [];
        return { exceeded: parsed({}) === true, readings };
      });
      const exceededIn = outcomes.filter((one) => one.exceeded).length;
      const isCompared = new Set(calls.map(({ variant }) => variant)).size > 1;
      const spared = isCompared ? Math.floor(draws.length / 20) : (draws.length - 1) >> 1;
      const exceeded = exceededIn >= draws.length - spared;
      const shown = outcomes.find((one) => one.exceeded === exceeded) ?? outcomes[0];
      return {
        ...{ limit, exceeded, readings: shown?.readings ?? [] },
        ...(draws.length > 1 && { exceededIn }),
      };
    },
  };
}

function compiled(environment: Environment, notation: Notation, fault: Fault): ParseResult {
  const { expression, columnOf } = notation;
  try {
    const parsed = environment.parse(expression);
    const { valid, error, type } = parsed.check();
    if (!valid) throw error;
    if (type === 'bool') return parsed;
  } catch (error) {
    const { offset, what } = faultOf(error);
    throw fault(columnOf(offset), what);
  }
  throw fault(1, "want a comparison such as 'downtime(shop/web) > 30s'");
}

/** Throws a fault where the run does not contain the subject of a call. */
function checkSubject({ metric, subject, column }: Call, run: Judged, fault: Fault): void {
  const names = measuredIn(metric, run).map(({ name }) => name);
  if (names.some((name) => matches(subject, name))) return;
  const what = `no ${metrics[metric]?.what ?? ''} ${subject}`;
  throw fault(
    column,
    `${what}${didYouMean(subject, names) || ';'} there are ${choicesText(names)}`,
  );
}

/** The unsimulated parts that decide about the workloads in question; undefined: none. */
function unknownIn(calls: readonly Call[], runs: readonly Judged[]): string | undefined {
  for (const { summary, name: run } of runs) {
    for (const { namespace, name, unknown } of summary.workloads) {
      const isMeant = calls.some(({ metric, subject, variant }) => {
        const isOf = variant === run && metrics[metric]?.what === 'workload';
        return isOf && matches(subject, `${namespace}/${name}`);
      });
      if (!unknown || !isMeant) continue;
      const text = `${namespace}/${name}: ${unknown[0]}, which is not simulated`;
      return `${text}; --allow-unknown judges it anyway`;
    }
  }
  return undefined;
}

function measuredIn(metric: string, { summary, recording }: Judged): readonly Measured[] {
  return metrics[metric]?.measure(summary, recording) ?? [];
}

/** The worst of all matching values; null: none exists. */
function readingOf({
  metric,
  subject,
  run,
  unit,
}: {
  readonly metric: string;
  readonly subject: string;
  readonly run: Judged;
  readonly unit: Unit;
}): Reading | null {
  const meant = measuredIn(metric, run).filter(({ name }) => matches(subject, name));
  const all = meant.map(({ name, amounts }) => ({ worst: name, value: amounts[unit] ?? 0 }));
  const [first, ...others] = all;
  if (!first) return null;
  const worst = others.reduce((one, other) => (other.value > one.value ? other : one), first);
  return { metric, subject, variant: run.name, ...worst, unit };
}

function matches(subject: string, name: string): boolean {
  const [wanted, found] = [subject.split('/'), name.split('/')];
  return wanted.every((part, index) => part === '*' || part === found[index]);
}

/** `shop/web had 33.3%`, with the variants where there are several. */
export function readingsText(readings: readonly Reading[]): string {
  const isOfOne = new Set(readings.map(({ variant }) => variant)).size < 2;
  const texts = readings.map((reading) => {
    const where = isOfOne ? '' : ` in ${reading.variant}`;
    return `${reading.worst} had ${valueText(reading)}${where}`;
  });
  return [...new Set(texts)].join(', ');
}

/** `10`, `33.3%`, `1m30s` */
function valueText({ unit, value }: Reading): string {
  if (unit === 'seconds') return formatDuration(value * 1000);
  return unit === 'percent' ? `${value}%` : String(value);
}

/** The runs that a condition may name. */
interface Runs {
  /** Null: the names depend on a cluster that is not read yet. */
  readonly names: readonly string[] | null;
  readonly mustName: boolean;
  /** True: figures count that may be wrong because a part is not simulated. Left out: no. */
  readonly allowsUnknown?: boolean;
}

/** A place where a condition asks for a value. */
interface Call {
  readonly metric: string;
  /** `shop/web`, with `*` for any name. */
  readonly subject: string;
  readonly variant: string;
  readonly column: number;
}

/** Makes an error that names the column. */
type Fault = (column: number, what: string) => Error;

type Node = ParseResult['ast'];

/** All of them, in their order. Throws for the first that cannot be. */
function callsIn(root: Node, { columnOf }: Notation, runs: Runs, fault: Fault): readonly Call[] {
  const read = (metric: string, given: readonly Node[], start: number): Call => {
    const [named = '', variant = null] = given.map(({ args }) => String(args));
    const subject = named === '*' ? '*/*' : named;
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
function meantName(variant: string | null, { names, mustName }: Runs): string | null {
  if (variant === null) return names?.[0] ?? null;
  return mustName || !names ? variant : (spelled(variant, names)?.word ?? variant);
}

/** The hints at the spelling of the variants of a condition. */
function hintsAt(root: Node, { names, mustName }: Runs): readonly string[] {
  if (mustName || !names) return [];
  return metricNodes(root).flatMap(({ given: [, variant] }) => {
    const hint = variant ? spelled(String(variant.args), names)?.hint : null;
    return hint ? [hint] : [];
  });
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

function variantFault(variant: string | null, { names, mustName }: Runs): string | null {
  if (names === null) return null;
  const all = choicesText(names);
  if (variant === null) {
    return mustName && names.length > 1 ? `want a variant after the name, one of ${all}` : null;
  }
  if (names.includes(meantName(variant, { names, mustName }) ?? '')) return null;
  return `no variant ${variant}${didYouMean(variant, names) || ';'} there are ${all}`;
}

/** An amount, in each unit in which it may be read. */
interface Measured {
  /** `shop/web` */
  readonly name: string;
  readonly amounts: Readonly<Partial<Record<Unit, number>>>;
}

/** A measure of each workload or budget. */
interface Metric {
  readonly type: AmountName;
  readonly what: 'workload' | 'budget';
  readonly measure: (summary: Summary, recording: Judged['recording']) => readonly Measured[];
}

type Named = { readonly namespace: string; readonly name: string };
type Amounts = Measured['amounts'];

function each<Item extends Named>(
  items: readonly Item[],
  amountsOf: (item: Item) => Amounts,
): readonly Measured[] {
  return items.map((item) => {
    return { name: `${item.namespace}/${item.name}`, amounts: amountsOf(item) };
  });
}

function ofWorkloads(type: AmountName, amountsOf: (workload: WorkloadSummary) => Amounts): Metric {
  return { type, what: 'workload', measure: ({ workloads }) => each(workloads, amountsOf) };
}

function ofBudgets(type: AmountName, amountsOf: (budget: BudgetSummary) => Amounts): Metric {
  return { type, what: 'budget', measure: ({ budgets }) => each(budgets, amountsOf) };
}

/** By their names. */
const metrics: Readonly<Record<string, Metric>> = {
  down: ofWorkloads('Pods', ({ downMax, downPercentMax }) => {
    return { number: downMax, percent: downPercentMax };
  }),
  downtime: ofWorkloads('Time', ({ downSeconds }) => ({ seconds: downSeconds })),
  gap: ofWorkloads('Time', ({ longestGap }) => ({ seconds: longestGap?.seconds ?? 0 })),
  outage: ofWorkloads('Time', ({ outageSeconds }) => ({ seconds: outageSeconds })),
  lost: ofWorkloads('Count', ({ podMinutesLost }) => ({ number: podMinutesLost })),
  unavailable: ofWorkloads('Pods', ({ unavailableMax, unavailablePercentMax }) => {
    return { number: unavailableMax, percent: unavailablePercentMax };
  }),
  evictions: ofWorkloads('Count', ({ evictions }) => ({ number: evictions })),
  unplaced: {
    type: 'Count',
    what: 'workload',
    measure: ({ workloads }, { unplaced }) =>
      each(workloads, ({ kind, namespace, name }) => {
        const id = `${kind} ${namespace}/${name}`;
        return { number: mostAtOnce(unplaced.filter(({ workload }) => workload === id)) };
      }),
  },
  refusals: ofBudgets('Count', ({ refusals }) => ({ number: refusals })),
  below: ofBudgets('Shortfall', ({ belowMax, belowSeconds }) => {
    return { number: belowMax, seconds: belowSeconds };
  }),
};

/** In the order in which help and errors list them. */
const metricNames: readonly string[] = Object.keys(metrics);

/** Answers a metric where an expression asks for it; null: it names no variant. */
type Measure = (metric: string, subject: string, variant: string | null) => (unit: Unit) => number;

const comparisons: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
};

type Operand = Amount | number;

/** An environment of the library for one condition. */
function environmentOf(measure: Measure): Environment {
  const environment = new Environment();
  for (const [name, { make }] of Object.entries(amountTypes)) {
    environment.registerType(name, { ctor: make, fields: {} });
  }
  const { Time, Share } = amountTypes;
  environment.registerFunction('time(double): Time', (value: number) => new Time.make(() => value));
  environment.registerFunction('share(double): Share', (value: number) => {
    return new Share.make(() => value);
  });
  for (const [name, { type }] of Object.entries(metrics)) {
    const { make } = amountTypes[type];
    const answer = (subject: string, variant: string | null = null): Amount =>
      new make(measure(name, subject, variant));
    environment.registerFunction(`${name}(string): ${type}`, answer);
    environment.registerFunction(`${name}(string, string): ${type}`, answer);
  }
  for (const name of Object.keys(amountTypes)) addOperators(environment, name as AmountName);
  return environment;
}

function addOperators(environment: Environment, name: AmountName): void {
  const { make, beside } = amountTypes[name];
  for (const [other, unit] of Object.entries(beside)) {
    const amountOf = (one: Operand): number => (one instanceof Amount ? one.in(unit) : one);
    for (const [operator, holds] of Object.entries(comparisons)) {
      const compare = (one: Operand, two: Operand): boolean => holds(amountOf(one), amountOf(two));
      environment.registerOperator(`${name} ${operator} ${other}`, compare);
      const isOwnWay = amountTypes[other as AmountName]?.beside[name] !== undefined;
      if (!isOwnWay) environment.registerOperator(`${other} ${operator} ${name}`, compare);
    }
    const combine = (sign: 1 | -1) => (one: Amount, two: Operand) =>
      new make((read) => one.in(read) + sign * (two instanceof Amount ? two.in(read) : two));
    if (other === 'Share' && name !== 'Share') continue;
    environment.registerOperator(`${name} + ${other}: ${name}`, combine(1));
    environment.registerOperator(`${name} - ${other}: ${name}`, combine(-1));
  }
  environment.registerOperator(
    `${name} * double: ${name}`,
    (one: Amount, factor: number) => new make((read) => one.in(read) * factor),
  );
}

/** The unit of an amount. */
type Unit = Reading['unit'];

/** Something measured, or what came of calculating with it, in each unit in which it may be read. */
class Amount {
  readonly #read: (unit: Unit) => number;

  constructor(read: (unit: Unit) => number) {
    this.#read = read;
  }

  in(unit: Unit): number {
    return this.#read(unit);
  }
}

// The library tells types apart by their classes.

/** A number of pods, and their share of those wanted. */
class Pods extends Amount {}
/** The missing pods of a budget, as a number and a time. */
class Shortfall extends Amount {}
/** A length of time. */
class Time extends Amount {}
/** A share such as `30%`. */
class Share extends Amount {}
/** A number of times. */
class Count extends Amount {}

/** The types as expressions name them. */
type AmountName = 'Pods' | 'Shortfall' | 'Time' | 'Share' | 'Count';

/** The operations of an expression on amounts of a type. */
interface AmountType {
  readonly make: new (read: (unit: Unit) => number) => Amount;
  /** The types that it may be compared with, each with the unit to compare in; `double` is a plain number. */
  readonly beside: Readonly<Record<string, Unit>>;
  /** The values to write beside it, in words. */
  readonly want: string;
}

const amountTypes: Readonly<Record<AmountName, AmountType>> = {
  Pods: {
    make: Pods,
    beside: { double: 'number', Share: 'percent', Pods: 'number' },
    want: 'a number or a share such as 30%',
  },
  Shortfall: {
    make: Shortfall,
    beside: { double: 'number', Time: 'seconds', Shortfall: 'seconds' },
    want: 'a number or a time such as 90s',
  },
  Time: { make: Time, beside: { Time: 'seconds' }, want: 'a time such as 90s' },
  Share: { make: Share, beside: { Share: 'percent' }, want: 'a share such as 30%' },
  Count: { make: Count, beside: { double: 'number', Count: 'number' }, want: 'a number' },
};

/** An expression of CEL, and the places of its parts in the user's text. */
interface Notation {
  readonly expression: string;
  /** The column, from 1, of an offset in the expression. */
  columnOf(offset: number): number;
}

/** Text in quotes; METRIC(...) with its content; an amount with or without a unit. */
const parts =
  /"[^"]*"|'[^']*'|([A-Za-z_]\w*)(\s*\()([^()"']*)(?=\))|(?<![\w.])(\d+(?:\.\d+)?(?:[a-z%][\w.%]*)?)/g;

/**
 * `down(shop/web, B) > 30%` becomes `down("shop/web", "B") > share(30.0)`, of which the library makes the
 * rest. Unknown text stays unchanged, and the library refuses it.
 */
function celOf(text: string): Notation {
  const starts: (readonly [written: number, read: number])[] = [[0, 0]];
  let [expression, end] = ['', 0];
  const put = (from: number, until: number, by: string): void => {
    expression += text.slice(end, from);
    starts.push([from, expression.length]);
    expression += by;
    end = until;
    starts.push([end, expression.length]);
  };
  for (const match of text.matchAll(parts)) {
    const [, name, opening = '', inner = '', amount] = match;
    if (amount !== undefined) put(match.index, match.index + amount.length, amountText(amount));
    if (name === undefined) continue;
    let at = match.index + name.length + opening.length;
    for (const argument of inner === '' ? [] : inner.split(',')) {
      const trimmed = argument.trim();
      const from = at + (trimmed === '' ? 0 : argument.indexOf(trimmed));
      put(from, from + trimmed.length, JSON.stringify(trimmed));
      at += argument.length + 1;
    }
  }
  expression += text.slice(end);
  return { expression, columnOf: (offset) => columnOf(starts, offset, text.length) };
}

/** Makes all numbers of one kind, so that users need not write `2.0`. */
function amountText(amount: string): string {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(.*)$/.exec(amount) ?? [];
  const plain = number.includes('.') ? number : `${number}.0`;
  if (unit === '') return plain;
  if (unit === '%') return `share(${plain})`;
  const millis = parseDuration(amount);
  return millis === null ? amount : `time(${(millis / 1000).toFixed(3)})`;
}

function columnOf(
  starts: readonly (readonly [written: number, read: number])[],
  offset: number,
  length: number,
): number {
  const [written, read] = starts.findLast(([, one]) => one <= offset) ?? [0, 0];
  return Math.min(written + offset - read, length) + 1;
}

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

/** The message of a fault, and its offset in the expression. */
function faultOf(error: unknown): { readonly offset: number; readonly what: string } {
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

// Conditions of --fail-if: read before anything is simulated, judged when it is.

import type { Environment, ParseResult } from '@marcbachmann/cel-js';
import { formatDuration } from '@taintmgr/core/time';
import { didYouMean } from '@taintmgr/k8s-adapter/manifests';
import { choicesText } from '../../../../render/count.ts';
import { UsageError } from '../../../../usage-error.ts';
import type { Recording } from '../../record/recorder.ts';
import type { Summary } from '../summary.ts';
import { type Call, callsIn, type Fault, meantName, type Runs } from './calls.ts';
import { environmentOf } from './environment.ts';
import { faultOf } from './faults.ts';
import { type Measured, metricNames, metrics } from './metrics.ts';
import { celOf, type Notation } from './notation.ts';
import type { Unit } from './quantities.ts';

/** What was measured for a condition. */
export interface Reading {
  readonly metric: string;
  /** As it is written: `shop/*`. */
  readonly subject: string;
  /** The run it is of. */
  readonly variant: string;
  /** Who had the worst of it: `shop/web`. */
  readonly worst: string;
  readonly value: number;
  readonly unit: Unit;
}

/** How a condition turned out. */
export interface FailIfOutcome {
  readonly limit: string;
  readonly exceeded: boolean;
  /** What decided it, in the order in which it was looked at. */
  readonly readings: readonly Reading[];
}

/** A run that conditions are held against. */
export interface Judged {
  readonly name: string;
  readonly summary: Summary;
  readonly recording: Recording;
}

/** A condition, such as `downtime(shop/web, B) > downtime(shop/web, A) + 30s`. */
export interface FailIf {
  /** Throws UsageError where it is about nothing of a run that begins. */
  check(run: Judged): void;
  /** Holds it against what happened. */
  judge(runs: readonly Judged[]): FailIfOutcome;
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
    check: (run) => {
      for (const call of calls) if (call.variant === run.name) checkSubject(call, run, fault);
    },
    judge: (all) => {
      judged = all;
      readings = [];
      return { limit, exceeded: parsed({}) === true, readings };
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

/** Whether what a call is about is there, in the run that it is about. */
function checkSubject({ metric, subject, column }: Call, run: Judged, fault: Fault): void {
  const names = measuredIn(metric, run).map(({ name }) => name);
  if (names.some((name) => matches(subject, name))) return;
  const what = `no ${metrics[metric]?.what ?? ''} ${subject}`;
  throw fault(
    column,
    `${what}${didYouMean(subject, names) || ';'} there are ${choicesText(names)}`,
  );
}

function measuredIn(metric: string, { summary, recording }: Judged): readonly Measured[] {
  return metrics[metric]?.measure(summary, recording) ?? [];
}

/** The worst of all that are meant; null: none is there. */
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
export function readingsText(
  readings: readonly Reading[],
  shown: ReadonlyMap<string, string> = new Map(),
): string {
  const isOfOne = new Set(readings.map(({ variant }) => variant)).size < 2;
  const texts = readings.map((reading) => {
    const where = isOfOne ? '' : ` in ${shown.get(reading.variant) ?? reading.variant}`;
    return `${reading.worst} had ${valueText(reading)}${where}`;
  });
  return [...new Set(texts)].join(', ');
}

/** `10`, `33.3%`, `1m30s` */
function valueText({ unit, value }: Reading): string {
  if (unit === 'seconds') return formatDuration(value * 1000);
  return unit === 'percent' ? `${value}%` : String(value);
}

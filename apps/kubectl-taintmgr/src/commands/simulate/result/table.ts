// The answer of `simulate` as tables.
import { formatDuration } from '@taintmgr/core/time';
import { count } from '../../../render/count.ts';
import { type Column, renderColumns, type TableOptions } from '../../../render/table.ts';
import { none } from '../../../report/words.ts';
import { assumedLines } from './assumed-lines.ts';
import { causeTable } from './cause-table.ts';
import { paired } from './differences.ts';
import type { Result, RunResult } from './documents.ts';
import { loopLines, seconds, totals, unplacedText } from './lines.ts';
import type { BudgetSummary, WorkloadSummary } from './summary.ts';
import { timeline } from './timeline.ts';

/** What happened, for a person: a few tables and a sentence on each. */
export function simulationTable(result: Result, options: TableOptions): string {
  const { runs } = result;
  const [first] = runs;
  if (!first) return '';
  const parts = [
    headline(result, first),
    renderRows(workloadColumns, runs, ({ workloads }) => workloads, options),
    renderRows(budgetColumns, runs, ({ budgets }) => budgets, options),
    causeTable(runs, options),
    ...runs.map((run) => unplacedText(run, runs.length > 1)),
    ...(options.wide ? [timeline(first, options)] : []),
    runs.flatMap((run) => [totals(run), ...loopLines(run)]).join('\n'),
    assumedLines(first.assumptions).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function headline({ source, script, until, seed }: Result, { recording }: RunResult): string {
  const { nodes, workloads } = recording;
  const what = `${source.name} (${count(nodes.length, 'node')}, ${count(workloads.length, 'workload')})`;
  const partial = source.missing.length > 0 ? 'PARTIAL: ' : '';
  const played = script === null ? 'without events' : `with ${script}`;
  return `${partial}${formatDuration(until)} of ${what} ${played}, seed ${seed}`;
}

/** Something of a run, and the same of the first run where that is another one. */
interface Row<Item> {
  readonly variant: string;
  readonly item: Item;
  readonly first: Item | null;
}

interface RowColumn<Item> {
  readonly head: string;
  readonly text: (item: Item) => string;
  /** What is compared with the first run; left out: nothing. */
  readonly amount?: (item: Item) => number;
  readonly unit?: 'seconds';
  /** Shown of one run alone; `roomy`: of several where there is room. Left out: always. */
  readonly only?: 'single' | 'roomy';
}

const workloadColumns: readonly RowColumn<WorkloadSummary>[] = [
  { head: 'WORKLOAD', text: ({ kind, namespace, name }) => `${kind} ${namespace}/${name}` },
  { head: 'WANTED', text: ({ wanted }) => String(wanted), only: 'single' },
  {
    head: 'MOST DOWN',
    text: ({ downMax, downPercentMax }) =>
      downMax === 0 ? '0' : `${downMax} (${downPercentMax}%)`,
    amount: ({ downMax }) => downMax,
  },
  { head: 'AT', text: ({ downWorstAt }) => secondsOrNone(downWorstAt), only: 'single' },
  {
    head: 'DOWN FOR',
    text: ({ downSeconds }) => secondsOrNone(downSeconds || null),
    amount: ({ downSeconds }) => downSeconds,
    unit: 'seconds',
  },
  {
    head: 'LONGEST GAP',
    text: ({ longestGap }) => secondsOrNone(longestGap?.seconds ?? null),
    amount: ({ longestGap }) => longestGap?.seconds ?? 0,
    unit: 'seconds',
  },
  {
    head: 'NOTICED FOR',
    text: ({ unavailableSeconds }) => secondsOrNone(unavailableSeconds || null),
    amount: ({ unavailableSeconds }) => unavailableSeconds,
    unit: 'seconds',
    only: 'roomy',
  },
  {
    head: 'POD-MINUTES',
    text: ({ podMinutesLost }) => tenths(podMinutesLost),
    amount: ({ podMinutesLost }) => podMinutesLost,
  },
  { head: 'OVER AT', text: overText, only: 'single' },
  {
    head: 'EVICTIONS',
    text: ({ evictions }) => String(evictions),
    amount: ({ evictions }) => evictions,
  },
];

const budgetColumns: readonly RowColumn<BudgetSummary>[] = [
  { head: 'PDB', text: ({ namespace, name }) => `${namespace}/${name}` },
  { head: 'REFUSED', text: ({ refusals }) => String(refusals), amount: ({ refusals }) => refusals },
  {
    head: 'BELOW BY',
    text: ({ belowMax }) => (belowMax === 0 ? none : String(belowMax)),
    amount: ({ belowMax }) => belowMax,
  },
  {
    head: 'BELOW FOR',
    text: ({ belowSeconds }) => secondsOrNone(belowSeconds || null),
    amount: ({ belowSeconds }) => belowSeconds,
    unit: 'seconds',
  },
];

/** A row for each item, or for each of it in each run, where what differs from the first stands too. */
function renderRows<Item extends { readonly namespace: string; readonly name: string }>(
  columns: readonly RowColumn<Item>[],
  runs: readonly RunResult[],
  itemsOf: (summary: RunResult['summary']) => readonly Item[],
  options: TableOptions,
): string {
  const [first] = runs;
  const items = first ? itemsOf(first.summary) : [];
  if (!first || items.length === 0) return '';
  const isSingle = runs.length === 1;
  const pairs = runs.map(({ name, summary }) => {
    return { name, byFirst: new Map(paired(items, itemsOf(summary))) };
  });
  const rows = items.flatMap((item) =>
    pairs.flatMap(({ name, byFirst }, index): readonly Row<Item>[] => {
      const same = byFirst.get(item);
      return same ? [{ variant: name, item: same, first: index === 0 ? null : item }] : [];
    }),
  );
  const isShown = ({ only }: RowColumn<Item>): boolean =>
    isSingle || only === undefined || (only === 'roomy' && options.wide);
  const shown = columns.filter(isShown).map(columnOf);
  const [name, ...others] = shown;
  const variant: Column<Row<Item>> = ['VARIANT', (row) => row.variant];
  const all = name && !isSingle ? [name, variant, ...others] : shown;
  return renderColumns(all, rows, options);
}

function columnOf<Item>({ head, text, amount, unit }: RowColumn<Item>): Column<Row<Item>> {
  return [
    head,
    ({ item, first }) => {
      // As far as times are shown.
      const whole = (one: Item): number => {
        const value = amount?.(one) ?? 0;
        return unit === 'seconds' ? Math.floor(value) : value;
      };
      const more = first === null ? 0 : whole(item) - whole(first);
      const size = unit === 'seconds' ? seconds(Math.abs(more)) : tenths(Math.abs(more));
      const isSame = size === '0' || size === '0s';
      return isSame ? text(item) : `${text(item)} ${more > 0 ? '+' : '-'}${size}`;
    },
  ];
}

function overText({ overAt, downAtEnd }: WorkloadSummary): string {
  return downAtEnd > 0 ? `${downAtEnd} down` : secondsOrNone(overAt);
}

function secondsOrNone(value: number | null): string {
  return value === null ? none : seconds(value);
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

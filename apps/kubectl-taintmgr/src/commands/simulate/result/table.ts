// The answer of `simulate` as tables.
import { formatDuration } from '@taintmgr/core/time';
import { count } from '../../../render/count.ts';
import { type Column, renderColumns, type TableOptions } from '../../../render/table.ts';
import { none } from '../../../report/words.ts';
import type { Result, RunResult } from './documents.ts';
import type { BudgetSummary, WorkloadSummary } from './summary.ts';

/** Of pods that fit nowhere, and of loops, so many are named. */
const namedMax = 10;

/** What happened, for a person: a few tables and a sentence on each. */
export function simulationTable(result: Result, options: TableOptions): string {
  const [first, ...others] = result.runs;
  if (!first) return '';
  const parts = [
    headline(result, first),
    workloadTable(first, others, options),
    budgetTable(first, others, options),
    unplacedText(first),
    ...(options.wide ? [timeline(first, options)] : []),
    [first, ...others].flatMap((run) => [totals(run), ...loopLines(run)]).join('\n'),
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

function workloadTable(
  { summary: { workloads } }: RunResult,
  others: readonly RunResult[],
  options: TableOptions,
): string {
  const columns: readonly Column<WorkloadSummary>[] = [
    ['WORKLOAD', workloadId],
    ['WANTED', ({ wanted }) => String(wanted)],
    ['MOST UNAVAILABLE', worstText],
    ['AT', ({ worstAt }) => (worstAt === null ? none : seconds(worstAt))],
    ['FOR', ({ unavailableSeconds: time }) => (time === 0 ? none : seconds(time))],
    ['EVICTIONS', ({ evictions }) => String(evictions)],
    ...others.flatMap(({ semantics, summary }) => {
      const same = sameIn(summary.workloads, workloadId);
      return [
        beside('UNAVAILABLE', semantics, same, worstText),
        beside('EVICTIONS', semantics, same, ({ evictions }) => String(evictions)),
      ];
    }),
  ];
  return renderColumns(columns, workloads, options);
}

/** What another run says of the same. */
function beside<Row>(
  head: string,
  semantics: string,
  same: (row: Row) => Row | undefined,
  cell: (row: Row) => string,
): Column<Row> {
  return [
    `${head} ${semantics.toUpperCase()}`,
    (row) => {
      const found = same(row);
      return found === undefined ? none : cell(found);
    },
  ];
}

function sameIn<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
): (row: Row) => Row | undefined {
  const byId = new Map(rows.map((row) => [idOf(row), row] as const));
  return (row) => byId.get(idOf(row));
}

function workloadId({ kind, namespace, name }: WorkloadSummary): string {
  return `${kind} ${namespace}/${name}`;
}

/** `10 (33.3%)` */
function worstText({ unavailableMax, unavailablePercentMax }: WorkloadSummary): string {
  return unavailableMax === 0 ? '0' : `${unavailableMax} (${unavailablePercentMax}%)`;
}

function budgetTable(
  { summary: { budgets } }: RunResult,
  others: readonly RunResult[],
  options: TableOptions,
): string {
  if (budgets.length === 0) return '';
  const budgetId = ({ namespace, name }: BudgetSummary): string => `${namespace}/${name}`;
  const columns: readonly Column<BudgetSummary>[] = [
    ['PDB', budgetId],
    ['REFUSED', ({ refusals }) => String(refusals)],
    ['BELOW BY', belowText],
    ['BELOW FOR', ({ belowSeconds }) => (belowSeconds === 0 ? none : seconds(belowSeconds))],
    ...others.flatMap(({ semantics, summary }) => {
      const same = sameIn(summary.budgets, budgetId);
      return [
        beside('REFUSED', semantics, same, ({ refusals }) => String(refusals)),
        beside('BELOW BY', semantics, same, belowText),
      ];
    }),
  ];
  return renderColumns(columns, budgets, options);
}

function belowText({ belowMax }: BudgetSummary): string {
  return belowMax === 0 ? none : String(belowMax);
}

function unplacedText({ summary, recording }: RunResult): string {
  const { pods, atOnceMax, atEnd } = summary.unplaced;
  if (pods === 0) return '';
  const first = `${count(pods, 'pod')} fitted on no node: ${atOnceMax} at once, ${atEnd} at the end`;
  const left = recording.unplaced.filter(({ until }) => until === null);
  const lines = left.slice(0, namedMax).map(({ namespace, pod, from, message }) => {
    return `  ${namespace}/${pod} since ${seconds(from)}: ${message}`;
  });
  const more = left.length - lines.length;
  return [first, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
}

/** Events, zones and nodes as they went, one line each. */
function timeline({ playedEvents, recording }: RunResult, options: TableOptions): string {
  const rows = [
    ...playedEvents.map(({ at, text }) => ({ at, what: 'script', text })),
    ...recording.zones.flatMap(({ name, states }) =>
      states.map(({ at, state, ready, notReady, held }) => {
        const why = held === null ? '' : `, ${held}`;
        return {
          at,
          what: `zone ${name || none}`,
          text: `${state}, ${ready} ready, ${notReady} not${why}`,
        };
      }),
    ),
    ...recording.nodes.flatMap(({ name, states }) =>
      states.slice(1).map(({ at, ready, cordoned, taints }) => {
        const shown = [`Ready=${ready}`, ...(cordoned ? ['cordoned'] : []), ...taints];
        return { at, what: `node ${name}`, text: shown.join(', ') };
      }),
    ),
    ...recording.evictions.map(({ at, namespace, pod, node, how, because }) => {
      return {
        at,
        what: `pod ${namespace}/${pod}`,
        text: `${how} from ${node}: ${because[0] ?? ''}`,
      };
    }),
  ];
  // Of one instant: what was done first, then what came of it.
  rows.sort((one, other) => one.at - other.at);
  const columns: readonly Column<(typeof rows)[number]>[] = [
    ['AT', ({ at }) => seconds(at)],
    ['WHAT', ({ what }) => what],
    ['HAPPENED', ({ text }) => text],
  ];
  return renderColumns(columns, rows, options);
}

/** `precise: 15 evictions, 0 refused by PDBs, 6 nodes tainted` */
function totals({ semantics, summary }: RunResult): string {
  const { evictions, refusals, failures, nodesTainted } = summary;
  const failed = failures > 0 ? `, ${failures} failed` : '';
  return `${semantics}: ${count(evictions, 'eviction')}, ${refusals} refused by PDBs${failed}, ${count(nodesTainted, 'node')} tainted`;
}

/** `  loop: shop/db-0 evicted 83 times from zone-a-1, 1m to 14m50s: tolerates bad:NoExecute for 10s` */
function loopLines({ summary: { loops } }: RunResult): readonly string[] {
  const lines = loops.slice(0, namedMax).map((loop) => {
    const { namespace, name, node, evictions, firstAt, lastAt, because } = loop;
    const who = name.includes('/') ? name : `${namespace}/${name}`;
    const when = `${seconds(firstAt)} to ${seconds(lastAt)}`;
    return `  loop: ${who} evicted ${evictions} times from ${node}, ${when}: ${because[0] ?? ''}`;
  });
  const more = loops.length - lines.length;
  return more > 0 ? [...lines, `  and ${count(more, 'more loop')}`] : lines;
}

function seconds(value: number): string {
  return formatDuration(value * 1000);
}

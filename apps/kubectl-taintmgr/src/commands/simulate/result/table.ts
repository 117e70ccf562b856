// The answer of `simulate` as tables.
import { formatDuration } from '@taintmgr/core/time';
import { count } from '../../../render/count.ts';
import { printable } from '../../../render/printable.ts';
import { type TableOptions, wrapped } from '../../../render/table.ts';
import { assumedLines } from './assumed-lines.ts';
import { causeTable } from './cause-table.ts';
import { budgetTable, jobTable, workloadTable } from './columns.ts';
import type { Result, RunResult } from './documents.ts';
import { loopLines, shownName, totals, unplacedLines } from './lines.ts';
import { rowTable } from './row-table.ts';
import { timeline } from './timeline.ts';

/** What happened, for a person: a few tables and a sentence on each. */
export function simulationTable(result: Result, options: TableOptions): string {
  const runs = result.runs.map((run) => ({ ...run, name: shownName(run) }));
  const [first] = runs;
  if (!first) return '';
  const parts = [
    fitting([headline(result, first)], options),
    rowTable(workloadTable, runs, ({ workloads }) => workloads, options),
    rowTable(budgetTable, runs, ({ budgets }) => budgets, options),
    rowTable(jobTable, runs, ({ jobs }) => jobs, options),
    causeTable(runs, options),
    ...runs.map((run) => fitting(unplacedLines(run, runs.length > 1), options)),
    ...(options.wide ? [timeline(first, options)] : []),
    fitting(
      runs.flatMap((run) => [totals(run), ...loopLines(run)]),
      options,
    ),
    fitting(assumedLines(first.assumptions), options),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Lines as long as they are with -o wide, else as long as a terminal has room for. */
function fitting(lines: readonly string[], { wide }: TableOptions): string {
  return lines.map((line) => (wide ? printable(line) : wrapped(line, '    '))).join('\n');
}

function headline({ source, script, until, seed }: Result, { recording }: RunResult): string {
  const { nodes, workloads, jobs } = recording;
  const what = `${source.name} (${count(nodes.length, 'node')}, ${count(workloads.length, 'workload')}${
    jobs.length > 0 ? `, ${count(jobs.length, 'Job')}` : ''
  })`;
  const partial = source.missing.length > 0 ? 'PARTIAL: ' : '';
  const played = script === null ? 'without events' : `with ${script}`;
  return `${partial}${formatDuration(until)} of ${what} ${played}, seed ${seed}`;
}

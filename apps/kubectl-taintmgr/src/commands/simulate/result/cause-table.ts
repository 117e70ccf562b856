// What kept pods from leaving, or from coming back, as a table.
import { printable } from '../../../render/printable.ts';
import { type Column, renderColumns, type TableOptions, wrapped } from '../../../render/table.ts';
import { none } from '../../../report/words.ts';
import type { Cause, CauseKind } from './causes.ts';
import type { RunResult } from './documents.ts';
import { seconds } from './lines.ts';

const kindTexts: Readonly<Record<CauseKind, string>> = {
  limit: 'limit',
  pause: 'pause',
  zone: 'zone',
  budget: 'PDB',
  room: 'no room',
  failure: 'failed requests',
};

/** A cause, or the name of the run that those below it are of. */
type Row = Cause | string;

/** One row for each cause and workload, and below them each reason once; '' where nothing kept any pod. */
export function causeTable(runs: readonly RunResult[], options: TableOptions): string {
  const causes = runs.flatMap(({ summary }) => summary.causes);
  if (causes.length === 0) return '';
  const isNamed = runs.length > 1;
  const rows = runs.flatMap(({ name, summary }): readonly Row[] => {
    return isNamed && summary.causes.length > 0 ? [name, ...summary.causes] : summary.causes;
  });
  const columns: readonly Column<Row>[] = [
    ['KEPT BY', (row) => nameText(row, isNamed)],
    ['WORKLOAD', ofCause(({ workload }) => workloadText(workload, options))],
    ['PODS', ofCause(({ pods }) => (pods === 0 ? none : String(pods)))],
    ['FROM', ofCause(({ from }) => seconds(from))],
    ['UNTIL', ofCause(({ until }) => (until === null ? none : seconds(until)))],
  ];
  const reasons = new Set(causes.map((cause) => `  ${causeText(cause)}: ${cause.text}`));
  const lines = [...reasons].map((line) => {
    return options.wide ? printable(line) : wrapped(line, '    ');
  });
  return [renderColumns(columns, rows, options), ...lines].join('\n');
}

function nameText(row: Row, isNamed: boolean): string {
  if (typeof row === 'string') return row;
  return `${isNamed ? '  ' : ''}${causeText(row)}`;
}

function ofCause(text: (cause: Cause) => string): (row: Row) => string {
  return (row) => (typeof row === 'string' ? '' : text(row));
}

function causeText({ kind, name }: Cause): string {
  return `${kindTexts[kind]} ${name}`.trim();
}

/** `Deployment shop/web`, or without its kind where there is less room. */
function workloadText(workload: string | null, { wide }: TableOptions): string {
  if (workload === null) return none;
  return wide ? workload : workload.slice(workload.indexOf(' ') + 1);
}

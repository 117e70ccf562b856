// What kept pods from leaving, or from coming back, as a table.
import { printable } from '../../../render/printable.ts';
import { type Column, renderColumns, type TableOptions } from '../../../render/table.ts';
import { wrapped } from '../../../render/wrapped.ts';
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

interface Row extends Cause {
  readonly variant: string;
}

/** One row for each cause and workload, and below them each reason once; '' where nothing kept any pod. */
export function causeTable(runs: readonly RunResult[], options: TableOptions): string {
  const rows = runs.flatMap(({ name, summary }): readonly Row[] =>
    summary.causes.map((cause) => ({ ...cause, variant: name })),
  );
  if (rows.length === 0) return '';
  const variant: Column<Row> = ['VARIANT', (row) => row.variant];
  const columns: readonly Column<Row>[] = [
    ['KEPT BY', causeText],
    ...(runs.length > 1 ? [variant] : []),
    ['WORKLOAD', ({ workload }) => workloadText(workload, options)],
    ['PODS', ({ pods }) => (pods === 0 ? none : String(pods))],
    ['FROM', ({ from }) => seconds(from)],
    ['UNTIL', ({ until }) => (until === null ? none : seconds(until))],
  ];
  const reasons = new Set(rows.map((row) => `  ${causeText(row)}: ${row.text}`));
  const lines = [...reasons].map((line) => {
    return options.wide ? printable(line) : wrapped(line, '    ');
  });
  return [renderColumns(columns, rows, options), ...lines].join('\n');
}

function causeText({ kind, name }: Cause): string {
  return `${kindTexts[kind]} ${name}`.trim();
}

/** `Deployment shop/web`, or without its kind where there is less room. */
function workloadText(workload: string | null, { wide }: TableOptions): string {
  if (workload === null) return none;
  return wide ? workload : workload.slice(workload.indexOf(' ') + 1);
}

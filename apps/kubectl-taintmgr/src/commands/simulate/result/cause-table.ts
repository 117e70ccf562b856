// What kept pods from leaving, or from coming back, as a table.
import { type Column, renderColumns, type TableOptions } from '../../../render/table.ts';
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

/** A text is cut off here but for -o wide: budgets and schedulers say much. */
const textLengthMax = 80;

interface Row extends Cause {
  readonly variant: string;
}

/** One row for each cause and workload; '' where nothing kept any pod. */
export function causeTable(runs: readonly RunResult[], options: TableOptions): string {
  const rows = runs.flatMap(({ name, summary }): readonly Row[] =>
    summary.causes.map((cause) => ({ ...cause, variant: name })),
  );
  if (rows.length === 0) return '';
  const variant: Column<Row> = ['VARIANT', (row) => row.variant];
  const columns: readonly Column<Row>[] = [
    ['KEPT BY', ({ kind, name }) => `${kindTexts[kind]} ${name}`.trim()],
    ...(runs.length > 1 ? [variant] : []),
    ['WORKLOAD', ({ workload }) => workload ?? none],
    ['PODS', ({ pods }) => (pods === 0 ? none : String(pods))],
    ['FROM', ({ from }) => seconds(from)],
    ['UNTIL', ({ until }) => (until === null ? none : seconds(until))],
    ['WHY', ({ text }) => shortened(text, options)],
  ];
  return renderColumns(columns, rows, options);
}

function shortened(text: string, { wide }: TableOptions): string {
  return wide || text.length <= textLengthMax ? text : `${text.slice(0, textLengthMax - 3)}...`;
}

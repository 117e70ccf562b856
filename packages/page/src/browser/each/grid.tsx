// The heat map as a table: arrows go from cell to cell, Enter says why, Escape closes that.
import { useComputed, useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { HeatCell, HeatRow } from '../../model/heat-map.ts';
import { crossedIn, minutesText } from '../../model/losses.ts';
import type { EachState } from './state.ts';

/** The cell that Tab leads to, counted in the table. */
interface Place {
  readonly row: number;
  readonly column: number;
}

export function Grid({ state }: { readonly state: EachState }) {
  const table = useRef<HTMLTableElement>(null);
  const place = useSignal<Place>({ row: 0, column: 0 });
  const { columns, others, rows, rowsInAll } = state.map.value;
  // Memoized as long as the map is unchanged, so that a step by keys draws two rows and not all.
  const totals = useMemo(() => totalsOf(rows), [rows]);
  const names = useMemo(() => {
    return [...columns.map(({ key }) => key), ...(others > 0 ? [othersKey] : [])];
  }, [columns, others]);
  const width = 1 + names.length + totals.length;
  const go = ({ row, column }: Place): void => {
    const next = { row: within(row, rows.length), column: within(column, width) };
    place.value = next;
    const target = table.current?.tBodies[0]?.rows[next.row]?.cells[next.column];
    target?.focus();
    if (state.chosen.value) choose(next);
  };
  const choose = ({ row, column }: Place): void => {
    const loss = rows[row]?.key;
    if (loss !== undefined) state.chosen.value = { loss, column: names[column - 1] ?? null };
  };
  return (
    <div class="heat-scroller">
      <table
        ref={table}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: one goes through it cell by cell.
        role="grid"
        class={names.length > fewMax ? 'heat-map' : 'heat-map few'}
        aria-label="Losses by the workloads that they harm. Arrows move, Enter says why, Escape closes that."
        aria-rowcount={rowsInAll + 1}
        onKeyDown={(event) => onKey(event, { place: place.value, go, choose, width })}
        onClick={({ target }) => {
          const at = placeOf(target);
          if (!at) return;
          choose(at);
          go(at);
        }}
      >
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">{state.input.each}</th>
            {columns.map(({ key, label }) => (
              <th key={key} scope="col" class="upright">
                <span title={label}>{label}</span>
              </th>
            ))}
            {others > 0 && (
              <th scope="col" class="upright">
                <span>and {others} more</span>
              </th>
            )}
            {totals.map(({ head }) => (
              <th key={head} scope="col" class="total upright">
                <span>{head}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <LossRow
              key={row.key}
              {...{ row, totals, index, names, state }}
              tab={place.value.row === index ? place.value.column : null}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The column of all workloads that have none of their own. */
const othersKey = '…';
/** Up to this number of columns, names are horizontal. */
const fewMax = 7;

function within(value: number, length: number): number {
  return Math.max(0, Math.min(length - 1, value));
}

function placeOf(target: EventTarget | null): Place | null {
  const cell =
    target instanceof Element ? target.closest<HTMLTableCellElement>('tbody th, td') : null;
  const row = cell?.parentElement;
  if (!cell || !(row instanceof HTMLTableRowElement)) return null;
  return { row: row.sectionRowIndex, column: cell.cellIndex };
}

interface Hands {
  readonly place: Place;
  readonly go: (place: Place) => void;
  readonly choose: (place: Place) => void;
  readonly width: number;
}

/** So far goes a page. */
const pageRows = 10;

function onKey(event: KeyboardEvent, { place, go, choose, width }: Hands): void {
  if (event.metaKey || event.altKey) return;
  const { row, column } = place;
  const keys: Readonly<Record<string, () => void>> = {
    ArrowUp: () => go({ row: row - 1, column }),
    ArrowDown: () => go({ row: row + 1, column }),
    ArrowLeft: () => go({ row, column: column - 1 }),
    ArrowRight: () => go({ row, column: column + 1 }),
    PageUp: () => go({ row: row - pageRows, column }),
    PageDown: () => go({ row: row + pageRows, column }),
    Home: () => go({ row: event.ctrlKey ? 0 : row, column: 0 }),
    End: () => go({ row: event.ctrlKey ? Number.MAX_SAFE_INTEGER : row, column: width }),
    Enter: () => choose(place),
    ' ': () => choose(place),
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

interface Total {
  readonly head: string;
  readonly text: (row: HeatRow) => string;
  /** True if a number in the column is marked as bad. */
  readonly isBad: boolean;
}

/** The columns in which some loss has a value. */
function totalsOf(rows: readonly HeatRow[]): readonly Total[] {
  const number = (head: string, of: (row: HeatRow) => number, isBad: boolean): Total => {
    return { head, isBad, text: (row) => (of(row) === 0 ? '–' : String(of(row))) };
  };
  const marks = [
    number('Limits crossed', ({ loss }) => crossedIn(loss), true),
    number('Budgets broken', ({ broken }) => broken, true),
    number('No room', ({ loss }) => loss.unplaced.atEnd, true),
    number('Blocked', ({ loss }) => loss.blocked, true),
  ].filter(({ text }) => rows.some((row) => text(row) !== '–'));
  const lost = (row: HeatRow): string =>
    row.loss.failed === null ? minutesText(row.podMinutesLost) : 'failed';
  return [
    { head: 'Pod-minutes', text: lost, isBad: false },
    number('Evictions', ({ evictions }) => evictions, false),
    ...marks,
  ];
}

interface LossRowProps {
  readonly row: HeatRow;
  readonly index: number;
  readonly names: readonly string[];
  readonly totals: readonly Total[];
  readonly state: EachState;
  /** The cell that Tab leads to; null: none. */
  readonly tab: number | null;
}

function LossRow({ row, index, names, totals, state, tab }: LossRowProps) {
  const { loss, cells } = row;
  // The chosen column of this row, '' for the loss as a whole; null: it is another row.
  const own = useComputed(() => {
    const { value } = state.chosen;
    return value?.loss === row.key ? (value.column ?? '') : null;
  });
  const isChosen = own.value !== null;
  const tabOf = (column: number): 0 | -1 => (tab === column ? 0 : -1);
  return (
    <tr aria-rowindex={index + 2} class={isChosen ? 'chosen' : ''}>
      <th scope="row" tabIndex={tabOf(0)}>
        {loss.name}
        {loss.taint !== undefined && <span class="aside"> {loss.taint}</span>}
      </th>
      {cells.map((cell, at) => (
        <Cell
          key={names[at]}
          cell={cell}
          loss={loss.name}
          tab={tabOf(at + 1)}
          isChosen={own.value === names[at]}
        />
      ))}
      {totals.map(({ head, text, isBad }, at) => (
        <td
          key={head}
          class={isBad && text(row) !== '–' ? 'total bad' : 'total'}
          tabIndex={tabOf(1 + cells.length + at)}
        >
          {text(row)}
        </td>
      ))}
    </tr>
  );
}

interface CellProps {
  readonly cell: HeatCell | null;
  readonly loss: string;
  readonly tab: 0 | -1;
  readonly isChosen: boolean;
}

function Cell({ cell, loss, tab, isChosen }: CellProps) {
  const own = isChosen ? ' own' : '';
  if (!cell) return <td class={`heat${own}`} tabIndex={tab} />;
  const { level, isUnknown, unplaced, text, name } = cell;
  const marks = `${isUnknown ? ' unsure' : ''}${unplaced > 0 ? ' unplaced' : ''}`;
  return (
    <td
      class={`heat level-${level}${marks}${own}`}
      tabIndex={tab}
      aria-label={`${loss}, ${name}`}
      title={name}
    >
      {text}
    </td>
  );
}

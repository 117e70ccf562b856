// What the panel says why of: a lane, what lies at a point of one, or all that is marked at an instant.
import { aboutsOf, type Row } from '../model/row.ts';
import { hitsOf } from './hit.ts';
import type { ChartState } from './state.ts';

/** All that happened in a lane. */
export function chooseLane(state: ChartState, row: Row): void {
  const abouts = aboutsOf(row, state.end.value, state.clock);
  state.chosen.value = { title: nameOf(row), abouts, by: `lane ${row.key}` };
}

/** What lies at an instant of a lane, which is pinned: that of the mark that is meant, where there is one. */
export function choosePoint(state: ChartState, row: Row, at: number, width: number): void {
  const { abouts, at: exact } = hitsOf(row, at, state, width);
  state.pinned.value = exact;
  state.chosen.value = { title: nameOf(row), abouts, by: `point ${row.key}` };
}

/** All marks of an instant, which is pinned. */
export function chooseInstant(state: ChartState, at: number): void {
  const marks = state.rows.value.flatMap((row) => row.marks.filter((mark) => isAt(mark, at)));
  const abouts = new Map(
    marks.map(({ about }) => about(state.clock)).map((about) => [about.title, about]),
  );
  state.pinned.value = at;
  state.chosen.value = {
    ...{ title: state.clock(at), abouts: [...abouts.values()], by: 'instant' },
  };
}

/** Opens what the address asks for, as far as it is there. */
export function chooseAsked(state: ChartState, width: number): void {
  const { asked, rows, pinned } = state;
  const [, kind = '', key = ''] = /^(lane|point|instant) ?(.*)$/.exec(asked.value) ?? [];
  asked.value = '';
  const at = pinned.value;
  if (kind === 'instant' && at !== null) chooseInstant(state, at);
  const row = rows.value.find((one) => one.key === key && one.kind === 'lane');
  if (row && kind === 'lane') chooseLane(state, row);
  if (row && kind === 'point' && at !== null) choosePoint(state, row, at, width);
}

/** An address has thousandths. */
function isAt(mark: Row['marks'][number], at: number): boolean {
  return Math.abs(mark.at - at) < 0.001;
}

function nameOf({ label, aside, variant }: Row): string {
  const name = aside === '' ? label : `${label} ${aside}`;
  return variant === null ? name : `${name}, ${variant}`;
}

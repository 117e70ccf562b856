// What keys do in the chart.
import { chooseInstant } from './choose.ts';
import { type ChartState, moved, within, zoomed } from './state.ts';

export function onKey(event: KeyboardEvent, state: ChartState): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { from, until } = state.view.value;
  const middle = state.pinned.value ?? (from + until) / 2;
  const keys: Readonly<Record<string, () => void>> = {
    w: () => zoomed(state, 1.5, middle),
    '+': () => zoomed(state, 1.5, middle),
    s: () => zoomed(state, 1 / 1.5, middle),
    '-': () => zoomed(state, 1 / 1.5, middle),
    a: () => moved(state, -0.2),
    ArrowLeft: () => moved(state, -0.2),
    d: () => moved(state, 0.2),
    ArrowRight: () => moved(state, 0.2),
    n: () => toMark(state, 1),
    p: () => toMark(state, -1),
    0: () => {
      state.ownView.value = null;
    },
    Escape: () => {
      state.chosen.value = null;
    },
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/** Pins the next mark of all lanes, or the one before. */
function toMark(state: ChartState, direction: 1 | -1): void {
  const at = state.pinned.value ?? (direction > 0 ? -1 : Number.POSITIVE_INFINITY);
  const marks = state.rows.value.flatMap((row) => row.marks);
  const beyond = marks.filter((mark) => (direction > 0 ? mark.at > at : mark.at < at));
  if (beyond.length === 0) return;
  const times = beyond.map((mark) => mark.at);
  const next = times.reduce((one, two) =>
    direction > 0 ? Math.min(one, two) : Math.max(one, two),
  );
  chooseInstant(state, next);
  const { from, until } = state.view.value;
  if (next < from || next > until)
    state.ownView.value = within(next - (until - from) / 2, until - from, state.end.value);
}

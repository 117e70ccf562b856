// What of the page is looked at: in signals, and in the fragment of its address.
import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { PageInput } from '../input.ts';
import type { About, Row } from '../model/row.ts';
import { rowsOf } from '../model/rows.ts';

export interface View {
  readonly from: number;
  readonly until: number;
}

/** What the panel says why of. */
interface Chosen {
  readonly title: string;
  readonly abouts: readonly About[];
}

export interface PageState {
  readonly input: Signal<PageInput>;
  readonly end: ReadonlySignal<number>;
  readonly view: Signal<View>;
  /** Where the pointer is; null: nowhere. */
  readonly hover: Signal<number | null>;
  readonly pinned: Signal<number | null>;
  readonly opened: Signal<ReadonlySet<string>>;
  readonly query: Signal<string>;
  readonly run: Signal<number>;
  readonly chosen: Signal<Chosen | null>;
  readonly rows: ReadonlySignal<readonly Row[]>;
}

/** The shortest time that fills the chart, in seconds. */
const spanMin = 0.5;

/** A later stream sets `input` again and again. */
export function stateOf(input: Signal<PageInput>): PageState {
  const end = computed(() => Math.max(1, input.value.untilSeconds));
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [from = 0, until = end.value] = (fragment.get('t') ?? '').split('-').map(Number);
  const at = Number.parseFloat(fragment.get('at') ?? '');
  const opened = signal<ReadonlySet<string>>(new Set(fragment.getAll('open')));
  const query = signal(fragment.get('q') ?? '');
  const run = signal(Number(fragment.get('run') ?? 0) || 0);
  const rows = computed(() => {
    return rowsOf(input.value, { run: run.value, opened: opened.value, query: query.value });
  });
  const isView = fragment.has('t') && from >= 0 && until > from && until <= end.value;
  const state: PageState = {
    ...{ input, end, opened, query, run, rows },
    view: signal(isView ? { from, until } : { from: 0, until: end.value }),
    hover: signal<number | null>(null),
    pinned: signal(Number.isFinite(at) ? at : null),
    chosen: signal<Chosen | null>(null),
  };
  effect(() => keepInAddress(state));
  return state;
}

function keepInAddress({ view, end, pinned, opened, query, run }: PageState): void {
  const { from, until } = view.value;
  const fragment = new URLSearchParams();
  if (from > 0 || until < end.value) fragment.set('t', `${tidy(from)}-${tidy(until)}`);
  if (pinned.value !== null) fragment.set('at', tidy(pinned.value));
  if (run.value > 0) fragment.set('run', String(run.value));
  if (query.value !== '') fragment.set('q', query.value);
  for (const key of opened.value) fragment.append('open', key);
  const hash = fragment.size === 0 ? location.pathname : `#${fragment}`;
  history.replaceState(null, '', hash);
}

function tidy(seconds: number): string {
  return String(Math.round(seconds * 1000) / 1000);
}

/** A view of that length within what there is. */
export function within(from: number, length: number, end: number): View {
  const size = Math.min(end, Math.max(spanMin, length));
  const start = Math.min(end - size, Math.max(0, from));
  return { from: start, until: start + size };
}

/** Nearer by a factor above one, around an instant that stays where it is. */
export function zoomed({ view, end }: PageState, factor: number, around: number): void {
  const { from, until } = view.value;
  const length = (until - from) / factor;
  const share = (around - from) / (until - from);
  view.value = within(around - share * length, length, end.value);
}

/** Later by a share of what is shown. */
export function moved({ view, end }: PageState, share: number): void {
  const { from, until } = view.value;
  view.value = within(from + share * (until - from), until - from, end.value);
}

export function toggle(opened: Signal<ReadonlySet<string>>, key: string): void {
  const next = new Set(opened.value);
  if (!next.delete(key)) next.add(key);
  opened.value = next;
}

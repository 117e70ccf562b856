// The view of any chart: in signals, and in the fragment of the address.
import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Act } from '../model/acts.ts';
import type { Filter } from '../model/filter.ts';
import type { About, Row } from '../model/row.ts';
import type { Clock } from '../model/words.ts';

export interface View {
  readonly from: number;
  readonly until: number;
}

/** The subject of the panel. */
interface Chosen {
  readonly title: string;
  readonly abouts: readonly About[];
  /**
   * The key that finds it again by an address: `lane KEY`, `point KEY` at the pinned instant, or `instant`.
   */
  readonly by: string;
}

export interface ChartState {
  /** The time that the chart is about goes from 0 to this. */
  readonly end: ReadonlySignal<number>;
  /** The visible part of it. */
  readonly view: ReadonlySignal<View>;
  /** The part that the user has chosen; null: none yet. */
  readonly ownView: Signal<View | null>;
  /** The instant under the pointer; null: none. */
  readonly hover: Signal<number | null>;
  readonly pinned: Signal<number | null>;
  readonly opened: Signal<ReadonlySet<string>>;
  readonly query: Signal<string>;
  readonly filter: Signal<Filter>;
  readonly chosen: Signal<Chosen | null>;
  /** The subject that the address asks for, until it is found; ''. */
  readonly asked: Signal<string>;
  readonly rows: ReadonlySignal<readonly Row[]>;
  /** The acts of a script, named on the axis. */
  readonly acts: ReadonlySignal<readonly Act[]>;
  /** The present; null: it is about no present. */
  readonly now: ReadonlySignal<number | null>;
  readonly clock: Clock;
  /** Where seconds count from, in milliseconds of the calendar; null: in no calendar. */
  readonly startsAt: number | null;
}

/** The part of the state in the address; a page may add more. */
export type Addressed = Pick<
  ChartState,
  'ownView' | 'pinned' | 'opened' | 'query' | 'filter' | 'asked'
>;

/** The shortest time that fills the chart, in seconds. */
const spanMin = 0.5;

/** The state in the address. */
export function addressed(fragment: URLSearchParams): Addressed {
  const [from = Number.NaN, until = Number.NaN] = (fragment.get('t') ?? '').split('-').map(Number);
  const at = Number.parseFloat(fragment.get('at') ?? '');
  return {
    ownView: signal(from >= 0 && until > from ? { from, until } : null),
    opened: signal<ReadonlySet<string>>(new Set(fragment.getAll('open'))),
    query: signal(fragment.get('q') ?? ''),
    filter: signal(filterIn(fragment)),
    pinned: signal(Number.isFinite(at) ? at : null),
    asked: signal(fragment.get('why') ?? ''),
  };
}

function filterIn(fragment: URLSearchParams): Filter {
  const text = (name: string): string => fragment.get(name) ?? '';
  const isHarmOnly = fragment.has('harmed');
  return { namespace: text('ns'), zone: text('zone'), outcome: text('pods'), isHarmOnly };
}

/** The shown part of the chart: the chosen one as far as it exists, else `home`. */
export function viewOf(
  { ownView }: Addressed,
  end: ReadonlySignal<number>,
  home: ReadonlySignal<View>,
): ReadonlySignal<View> {
  return computed(() => {
    const own = ownView.value;
    return own && own.from < end.value
      ? within(own.from, own.until - own.from, end.value)
      : home.value;
  });
}

/** Keeps it in the address. */
export function keepInAddress(state: ChartState): void {
  const { ownView, end, pinned, opened, query, filter, chosen, asked } = state;
  effect(() => {
    const fragment = new URLSearchParams();
    const { from = 0, until = end.value } = ownView.value ?? {};
    if (from > 0 || until < end.value) fragment.set('t', `${tidy(from)}-${tidy(until)}`);
    if (pinned.value !== null) fragment.set('at', tidy(pinned.value));
    const { namespace, zone, outcome, isHarmOnly } = filter.value;
    const places = { ns: namespace, zone, pods: outcome, harmed: isHarmOnly ? 'only' : '' };
    for (const [name, value] of Object.entries(places)) if (value) fragment.set(name, value);
    if (query.value !== '') fragment.set('q', query.value);
    const why = chosen.value?.by ?? asked.value;
    if (why !== '') fragment.set('why', why);
    for (const key of opened.value) fragment.append('open', key);
    const hash = fragment.size === 0 ? location.pathname : `#${fragment}`;
    history.replaceState(null, '', hash);
  });
}

function tidy(seconds: number): string {
  return String(Math.round(seconds * 1000) / 1000);
}

/** A view of that length inside the existing time. */
export function within(from: number, length: number, end: number): View {
  const size = Math.min(end, Math.max(spanMin, length));
  const start = Math.min(end - size, Math.max(0, from));
  return { from: start, until: start + size };
}

/** Nearer by a factor above one, around an instant that stays where it is. */
export function zoomed({ view, ownView, end }: ChartState, factor: number, around: number): void {
  const { from, until } = view.value;
  const length = (until - from) / factor;
  const share = (around - from) / (until - from);
  ownView.value = within(around - share * length, length, end.value);
}

/** Moves the view by a share of its length. */
export function moved({ view, ownView, end }: ChartState, share: number): void {
  const { from, until } = view.value;
  ownView.value = within(from + share * (until - from), until - from, end.value);
}

export function toggle(opened: Signal<ReadonlySet<string>>, key: string): void {
  const next = new Set(opened.value);
  if (!next.delete(key)) next.add(key);
  opened.value = next;
}

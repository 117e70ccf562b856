// The view of a live cluster's page.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { LiveInput } from '../../live.ts';
import { liveFiltered } from '../../model/filter.ts';
import { liveEnd, liveHome, liveRows } from '../../model/live/rows.ts';
import type { Clock } from '../../model/words.ts';
import { addressed, type ChartState, keepInAddress, viewOf } from '../state.ts';

export interface LiveState extends ChartState {
  readonly input: Signal<LiveInput>;
  /** The visible part of it. */
  readonly shown: ReadonlySignal<LiveInput>;
  /** The present, in seconds as the input has them. */
  readonly now: ReadonlySignal<number>;
  /** The time since which the streaming program is silent; null: it is not. */
  readonly unheard: Signal<{ readonly since: number } | null>;
}

/** `now` advances between one state of the cluster and the next. */
export function liveStateOf(input: Signal<LiveInput>, now: ReadonlySignal<number>): LiveState {
  const looked = addressed(new URLSearchParams(location.hash.slice(1)));
  const end = computed(() => liveEnd(input.value, now.value));
  const shown = computed(() => liveFiltered(input.value, looked.filter.value));
  const { startsAt } = input.value;
  const state: LiveState = {
    ...{ ...looked, input, shown, end, now, startsAt, clock: wallClock(startsAt) },
    view: viewOf(
      looked,
      end,
      computed(() => liveHome(input.value, now.value, end.value)),
    ),
    rows: computed(() => {
      const { opened, query, filter } = looked;
      const { isHarmOnly } = filter.value;
      const choice = { isHarmOnly, opened: opened.value, query: query.value };
      return liveRows(shown.value, { now: now.value, ...choice });
    }),
    acts: signal([]),
    hover: signal<number | null>(null),
    chosen: signal(null),
    unheard: signal(null),
  };
  keepInAddress(state);
  return state;
}

const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** `14:03:20`; on another day than seconds count from `27 Nov 07:03:37`. */
function wallClock(startsAt: number): Clock {
  const first = day.format(startsAt);
  const read = (seconds: number): string => {
    const date = new Date(startsAt + seconds * 1000);
    const text = time.format(date);
    return day.format(date) === first ? text : `${day.format(date)} ${text}`;
  };
  return Object.assign(read, { openEnd: 'until now' });
}

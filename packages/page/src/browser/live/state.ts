// What of the page of a live cluster is looked at.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { LiveInput } from '../../live.ts';
import { liveFiltered } from '../../model/filter.ts';
import { liveRows } from '../../model/live/rows.ts';
import { liveEnd, liveHome } from '../../model/live/times.ts';
import { addressed, type ChartState, keepInAddress, viewOf } from '../state.ts';
import { wallClock } from './wall-clock.ts';

export interface LiveState extends ChartState {
  readonly input: Signal<LiveInput>;
  /** What of it is to be seen. */
  readonly shown: ReadonlySignal<LiveInput>;
  /** The present, in seconds as the input has them. */
  readonly now: ReadonlySignal<number>;
  /** Why nothing is heard any more of the program that streams; null: it is heard of. */
  readonly unheard: Signal<{ readonly since: number } | null>;
}

/** `now` goes on between one state of the cluster and the next. */
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
    hover: signal<number | null>(null),
    chosen: signal(null),
    unheard: signal(null),
  };
  keepInAddress(state);
  return state;
}

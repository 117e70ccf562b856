// What of the page of a live cluster is looked at.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { LiveInput } from '../../live.ts';
import { liveRows } from '../../model/live/rows.ts';
import { liveEnd, liveHome } from '../../model/live/times.ts';
import { addressed, type ChartState, keepInAddress, viewOf } from '../state.ts';
import { wallClock } from './wall-clock.ts';

export interface LiveState extends ChartState {
  readonly input: Signal<LiveInput>;
  /** The present, in seconds as the input has them. */
  readonly now: ReadonlySignal<number>;
  /** Why nothing is heard any more of the program that streams; null: it is heard of. */
  readonly unheard: Signal<{ readonly since: number } | null>;
}

/** `now` goes on between one state of the cluster and the next. */
export function liveStateOf(input: Signal<LiveInput>, now: ReadonlySignal<number>): LiveState {
  const looked = addressed(new URLSearchParams(location.hash.slice(1)));
  const end = computed(() => liveEnd(input.value, now.value));
  const { startsAt } = input.value;
  const state: LiveState = {
    ...{ ...looked, input, end, now, startsAt, clock: wallClock(startsAt) },
    view: viewOf(
      looked,
      end,
      computed(() => liveHome(input.value, now.value, end.value)),
    ),
    rows: computed(() => {
      const { opened, query } = looked;
      return liveRows(input.value, { now: now.value, opened: opened.value, query: query.value });
    }),
    hover: signal<number | null>(null),
    chosen: signal(null),
    unheard: signal(null),
  };
  keepInAddress(state, () => ({}));
  return state;
}

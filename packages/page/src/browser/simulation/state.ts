// What of the page of a simulation is looked at.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { filtered } from '../../model/filter.ts';
import { rowsOf } from '../../model/rows.ts';
import { clock } from '../../model/words.ts';
import type { PageInput } from '../../simulation.ts';
import { addressed, type ChartState, keepInAddress, viewOf } from '../state.ts';

export interface PageState extends ChartState {
  readonly input: Signal<PageInput>;
  /** What of it is to be seen. */
  readonly shown: ReadonlySignal<PageInput>;
}

export function stateOf(input: Signal<PageInput>): PageState {
  const looked = addressed(new URLSearchParams(location.hash.slice(1)));
  const end = computed(() => Math.max(1, input.value.untilSeconds));
  const shown = computed(() => filtered(input.value, looked.filter.value));
  const state: PageState = {
    ...{ ...looked, input, shown, end, clock },
    view: viewOf(
      looked,
      end,
      computed(() => ({ from: 0, until: end.value })),
    ),
    rows: computed(() => {
      const { opened, query, filter } = looked;
      const { isHarmOnly } = filter.value;
      return rowsOf(shown.value, { isHarmOnly, opened: opened.value, query: query.value });
    }),
    hover: signal<number | null>(null),
    chosen: signal(null),
    now: signal(null),
    startsAt: null,
  };
  keepInAddress(state);
  return state;
}

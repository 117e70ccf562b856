// What of the page of a simulation is looked at.
import { computed, type Signal, signal } from '@preact/signals';
import type { PageInput } from '../../input.ts';
import { rowsOf } from '../../model/rows.ts';
import { clock } from '../../model/words.ts';
import { addressed, type ChartState, keepInAddress, viewOf } from '../state.ts';

export interface PageState extends ChartState {
  readonly input: Signal<PageInput>;
  /** The variant whose nodes are shown. */
  readonly run: Signal<number>;
}

export function stateOf(input: Signal<PageInput>): PageState {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const looked = addressed(fragment);
  const end = computed(() => Math.max(1, input.value.untilSeconds));
  const run = signal(Number(fragment.get('run') ?? 0) || 0);
  const state: PageState = {
    ...{ ...looked, input, end, run, clock },
    view: viewOf(
      looked,
      end,
      computed(() => ({ from: 0, until: end.value })),
    ),
    rows: computed(() => {
      const { opened, query } = looked;
      return rowsOf(input.value, { run: run.value, opened: opened.value, query: query.value });
    }),
    hover: signal<number | null>(null),
    chosen: signal(null),
    now: signal(null),
    startsAt: null,
  };
  keepInAddress(state, () => (run.value > 0 ? { run: String(run.value) } : {}));
  return state;
}

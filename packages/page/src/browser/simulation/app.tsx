// The page of a simulation: what of it is looked at, the result, the chart, why, and the numbers.

import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { rolloutFaults } from '../../model/applied.ts';
import { filtered, outcomes, placesOf } from '../../model/filter.ts';
import { rowsOf } from '../../model/rows.ts';
import { besides, sentenceOf, wholeOf } from '../../model/sentence.ts';
import { instantsOf, readerOf } from '../../model/steps.ts';
import { clock, duration } from '../../model/words.ts';
import type { PageInput } from '../../simulation.ts';
import { Asked } from '../asked.tsx';
import { Chart } from '../chart.tsx';
import { Filters, Find, Hint, Zoom } from '../filters.tsx';
import { Legend } from '../legend.tsx';
import { Overview } from '../overview.tsx';
import { addressed, type ChartState, keepInAddress, viewOf } from '../state.ts';
import { Why } from '../why.tsx';
import { Numbers } from './numbers.tsx';

export function App({ state }: { readonly state: PageState }) {
  const input = state.input.value;
  const { source, script, seed, seeds, untilSeconds, missing } = input;
  const drawn =
    seeds === undefined
      ? `seed ${seed}`
      : `medians of ${seeds} seeds; the chart shows seed ${seed}`;
  const events = script === undefined ? 'without events' : `with ${script}`;
  const [whole, others] = useMemo(() => [wholeOf(input), besides(input)], [input]);
  const down = useMemo(() => downOf(input), [input]);
  return (
    <main>
      <header class="result">
        <h1>{sentenceOf(input)}</h1>
        {whole !== '' && <p>{whole}</p>}
        {others !== '' && <p>{others}</p>}
        {missing.length > 0 && (
          <p class="crossed">A part of the cluster only: {missing.join('; ')}</p>
        )}
        {rolloutFaults(input).map((fault) => (
          <p key={fault} class="crossed">
            {fault}
          </p>
        ))}
        {input.asked ? (
          <Asked asked={input.asked} />
        ) : (
          <p class="about">
            {duration(untilSeconds)} of {source} {events}, {drawn}
          </p>
        )}
      </header>
      <Controls state={state} />
      <div class={state.chosen.value ? 'chart-and-why open' : 'chart-and-why'}>
        <div class="chart-side">
          <Overview state={state} label="pods down" fill="down" steps={down} />
          <Chart state={state} />
          <Legend rows={state.rows.value} />
        </div>
        <Why state={state} />
      </div>
      <Numbers input={state.shown.value} state={state} />
    </main>
  );
}

function Controls({ state }: { readonly state: PageState }) {
  const input = state.input.value;
  const places = useMemo(() => placesOf(input), [input]);
  return (
    <div class="controls">
      <Find query={state.query} />
      <Filters state={state} {...places} outcomes={outcomes} />
      <Zoom state={state}>
        <button
          type="button"
          onClick={() => {
            state.ownView.value = null;
          }}
        >
          All
        </button>
      </Zoom>
      <Hint />
    </div>
  );
}

type Count = { readonly at: number; readonly value: number };

/** How many pods of all workloads are down, in the variant that has most at that time. */
function downOf({ runs }: PageInput): readonly Count[] {
  const ofRuns = runs.map(downIn);
  const readers = ofRuns.map((counts) => readerOf(counts));
  return instantsOf(...ofRuns).map((at) => {
    return { at, value: Math.max(0, ...readers.map((countAt) => countAt(at)?.value ?? 0)) };
  });
}

function downIn({ workloads: tracks }: PageInput['runs'][number]): readonly Count[] {
  const changes = new Map<number, number>();
  for (const { states, serving } of tracks) {
    const [stateAt, servingAt] = [readerOf(states), readerOf(serving)];
    let before = 0;
    for (const at of instantsOf(states, serving)) {
      const down = Math.max(0, (stateAt(at)?.wanted ?? 0) - (servingAt(at)?.pods ?? 0));
      changes.set(at, (changes.get(at) ?? 0) + down - before);
      before = down;
    }
  }
  let value = 0;
  return [...changes]
    .sort(([one], [other]) => one - other)
    .map(([at, change]) => {
      value += change;
      return { at, value };
    });
}

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

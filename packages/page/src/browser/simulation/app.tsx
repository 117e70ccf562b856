// The page of a simulation: the result, the chart, why, and the numbers.
import { useMemo } from 'preact/hooks';
import { outcomes, placesOf } from '../../model/filter.ts';
import { besides, sentenceOf } from '../../model/sentence.ts';
import { instantsOf, readerOf } from '../../model/steps.ts';
import { duration } from '../../model/words.ts';
import type { PageInput, WhatIfOrigin } from '../../simulation.ts';
import { Chart } from '../chart.tsx';
import { Find, Hint, Zoom } from '../controls.tsx';
import { Filters } from '../filters.tsx';
import { Legend } from '../legend.tsx';
import { Overview } from '../overview.tsx';
import { Why } from '../why.tsx';
import { Numbers } from './numbers.tsx';
import type { PageState } from './state.ts';

export function App({ state }: { readonly state: PageState }) {
  const input = state.input.value;
  const { source, script, seed, untilSeconds, missing } = input;
  const events = script === undefined ? 'without events' : `with ${script}`;
  const others = besides(input);
  const down = useMemo(() => downOf(input), [input]);
  return (
    <main>
      <header class="result">
        <h1>{sentenceOf(input)}</h1>
        {others !== '' && <p>{others}</p>}
        {missing.length > 0 && (
          <p class="crossed">A part of the cluster only: {missing.join('; ')}</p>
        )}
        {input.asked ? (
          <Asked asked={input.asked} />
        ) : (
          <p class="about">
            {duration(untilSeconds)} of {source} {events}, seed {seed}
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
      <Numbers input={state.shown.value} />
    </main>
  );
}

/** The way back to the page that asked, and the same for a terminal. */
function Asked({ asked: { address, command } }: { readonly asked: WhatIfOrigin }) {
  return (
    <p class="about">
      What if, played in a copy of the cluster; <a href={address}>back to the cluster as it is</a>.
      The same in a terminal: <code>{command}</code>
    </p>
  );
}

function Controls({ state }: { readonly state: PageState }) {
  const input = state.input.value;
  const places = useMemo(() => placesOf(input), [input]);
  return (
    <div class="controls">
      <Find state={state} />
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
  const readers = tracks.map(({ states, serving }) => {
    return [readerOf(states), readerOf(serving)] as const;
  });
  const series = tracks.flatMap(({ states, serving }) => [states, serving]);
  return instantsOf(series.flat()).map((at) => {
    const down = readers.map(([stateAt, servingAt]) => {
      return Math.max(0, (stateAt(at)?.wanted ?? 0) - (servingAt(at)?.pods ?? 0));
    });
    return { at, value: down.reduce((sum, one) => sum + one, 0) };
  });
}

// The page of a simulation: what of it is looked at, the result, the chart, why, and the numbers.

import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { actsOf } from '../../model/acts.ts';
import { rolloutFaults } from '../../model/applied.ts';
import { filtered, outcomes, placesOf } from '../../model/filter.ts';
import { headlineOf } from '../../model/headline.ts';
import { rowsOf } from '../../model/rows.ts';
import { besides, evictionsText, sentenceOf, wholeOf } from '../../model/sentence.ts';
import { instantsOf, mostOf, readerOf } from '../../model/steps.ts';
import { clock, duration } from '../../model/words.ts';
import type { PageInput } from '../../simulation.ts';
import { Asked } from '../asked.tsx';
import { Chart } from '../chart.tsx';
import { Figures } from '../figures.tsx';
import { Filters, Find, Hint, Zoom } from '../filters.tsx';
import { Legend } from '../legend.tsx';
import { Brand, Made } from '../made.tsx';
import { useNarrow } from '../narrow.ts';
import { Overview } from '../overview.tsx';
import { addressed, type ChartState, keepInAddress, toggle, viewOf } from '../state.ts';
import { Why } from '../why.tsx';
import { Numbers } from './numbers.tsx';

export function App({ state }: { readonly state: PageState }) {
  const input = state.input.value;
  const down = useMemo(() => input.runs.map(downIn), [input]);
  const pods = useMemo(() => wantedMost(input), [input]);
  return (
    <main>
      <Result input={input} state={state} />
      <Controls state={state} />
      <Legend rows={state.rows.value} />
      <div class={state.chosen.value ? 'chart-and-why open' : 'chart-and-why'}>
        <div class="chart-side">
          <Overview state={state} label="pods down" fill="down" series={down} scale={pods} />
          <Chart state={state} />
        </div>
        <Why state={state} />
      </div>
      <Numbers input={state.shown.value} state={state} />
      <Made input={input} />
    </main>
  );
}

interface ResultProps {
  readonly input: PageInput;
  readonly state: Pick<ChartState, 'opened'>;
}

/** The result: the figures, and a sentence about them. */
function Result({ input, state }: ResultProps) {
  const [headline, whole, others] = useMemo(
    () => [headlineOf(input), wholeOf(input), besides(input)],
    [input],
  );
  const { source, seed, seeds, untilSeconds, missing, asked } = input;
  const hasFigures = headline.figures.length > 0;
  const drawn =
    seeds === undefined
      ? `seed ${seed}`
      : `medians of ${seeds} seeds; the chart shows seed ${seed}`;
  return (
    <header class={hasFigures ? 'result with-figures' : 'result'}>
      <p class="about">
        <Brand /> simulation: {duration(untilSeconds)} of {source}, {drawn}
      </p>
      {asked && <Asked asked={asked} />}
      <Figures headline={headline} />
      <div class="told">
        <h1 class={hasFigures ? 'sentence' : 'calm'}>{sentenceOf(input)}</h1>
        {!hasFigures && <p>{evictionsText(input)}</p>}
        {whole !== '' && <p>{whole}</p>}
        <Besides names={others} state={state} />
      </div>
      {missing.length > 0 && (
        <p class="crossed">A part of the cluster only: {missing.join('; ')}</p>
      )}
      {rolloutFaults(input).map((fault) => (
        <p key={fault} class="crossed">
          {fault}
        </p>
      ))}
    </header>
  );
}

/**
 * The numbers of names that are shown before the user asks for the others, and where there is little room.
 */
const [namesShown, namesFew] = [9, 3];

/** The names of what else is down: a few, and a button for the rest. */
function Besides({
  names,
  state: { opened },
}: Pick<ResultProps, 'state'> & { readonly names: readonly string[] }) {
  const isNarrow = useNarrow();
  const isOpen = opened.value.has(alsoDown);
  if (names.length === 0) return null;
  const most = isNarrow.value ? namesFew : namesShown;
  const rest = names.length - most;
  return (
    <p>
      Also down: {(isOpen ? names : names.slice(0, most)).join(', ')}
      {rest > 0 && (
        <>
          {' '}
          <button
            type="button"
            class="more"
            aria-expanded={isOpen}
            onClick={() => toggle(opened, alsoDown)}
          >
            {isOpen ? 'fewer' : `and ${rest} more`}
          </button>
        </>
      )}
    </p>
  );
}

/** Opens the names of all workloads that are down; in the address. */
const alsoDown = 'also-down';

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

/** The most pods that all workloads want together, in any run. */
function wantedMost({ runs }: PageInput): number {
  const wanted = runs.map(({ workloads }) => {
    const most = workloads.map(({ states }) =>
      mostOf(
        states.map((state) => state.wanted),
        0,
      ),
    );
    return most.reduce((sum, one) => sum + one, 0);
  });
  return mostOf(wanted, 1);
}

/** The number of pods of all workloads that are down. */
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
  /** The visible part of it. */
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
    acts: computed(() => actsOf(input.value.runs[0]?.events ?? [])),
    hover: signal<number | null>(null),
    chosen: signal(null),
    now: signal(null),
    startsAt: null,
  };
  keepInAddress(state);
  return state;
}

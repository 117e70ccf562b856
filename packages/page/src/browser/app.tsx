// The whole page: the result, the chart, why, and the numbers.
import { besides, sentenceOf } from '../model/sentence.ts';
import { duration } from '../model/words.ts';
import { Chart } from './chart.tsx';
import { Legend } from './legend.tsx';
import { Numbers } from './numbers.tsx';
import { Overview } from './overview.tsx';
import { type PageState, zoomed } from './state.ts';
import { Why } from './why.tsx';

export function App({ state }: { readonly state: PageState }) {
  const input = state.input.value;
  const { source, script, seed, untilSeconds, missing } = input;
  const events = script === undefined ? 'without events' : `with ${script}`;
  const others = besides(input);
  return (
    <main>
      <header class="result">
        <h1>{sentenceOf(input)}</h1>
        {others !== '' && <p>{others}</p>}
        {missing.length > 0 && (
          <p class="crossed">A part of the cluster only: {missing.join('; ')}</p>
        )}
        <p class="about">
          {duration(untilSeconds)} of {source} {events}, seed {seed}
        </p>
      </header>
      <Controls state={state} />
      <div class={state.chosen.value ? 'chart-and-why open' : 'chart-and-why'}>
        <div class="chart-side">
          <Overview state={state} />
          <Chart state={state} />
          <Legend rows={state.rows.value} />
        </div>
        <Why state={state} />
      </div>
      <Numbers input={input} />
    </main>
  );
}

function Controls({ state }: { readonly state: PageState }) {
  const { runs } = state.input.value;
  const { from, until } = state.view.value;
  const zoomBy = (factor: number) => () =>
    zoomed(state, factor, state.pinned.value ?? (from + until) / 2);
  return (
    <div class="controls">
      <label>
        Find{' '}
        <input
          type="search"
          placeholder="workload, node, pod"
          value={state.query.value}
          onInput={(event) => {
            state.query.value = event.currentTarget.value;
          }}
        />
      </label>
      {runs.length > 1 && (
        <label>
          Nodes of{' '}
          <select
            value={String(state.run.value)}
            onChange={(event) => {
              state.run.value = Number(event.currentTarget.value);
            }}
          >
            {runs.map(({ name }, index) => (
              <option key={name} value={String(index)}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <span class="zoom">
        <button type="button" aria-label="Zoom in" onClick={zoomBy(2)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={zoomBy(0.5)}>
          −
        </button>
        <button
          type="button"
          onClick={() => {
            state.view.value = { from: 0, until: state.end.value };
          }}
        >
          All
        </button>
      </span>
      <span class="hint">Drag to move, Ctrl and wheel to zoom, click for why</span>
    </div>
  );
}

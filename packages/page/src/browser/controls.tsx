// What stands above every chart: search, and how much of the time is shown.
import type { ComponentChildren } from 'preact';
import { type ChartState, zoomed } from './state.ts';

interface OfChart {
  readonly state: ChartState;
}

export function Find({ state }: OfChart) {
  return (
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
  );
}

/** Zoom buttons, and after them what leads to certain times. */
export function Zoom({ state, children }: OfChart & { readonly children: ComponentChildren }) {
  const zoomBy = (factor: number) => () => {
    const { from, until } = state.view.value;
    zoomed(state, factor, state.pinned.value ?? (from + until) / 2);
  };
  return (
    <span class="zoom">
      <button type="button" aria-label="Zoom in" onClick={zoomBy(2)}>
        +
      </button>
      <button type="button" aria-label="Zoom out" onClick={zoomBy(0.5)}>
        −
      </button>
      {children}
    </span>
  );
}

export function Hint() {
  return <span class="hint">Drag to move, Ctrl and wheel to zoom, click for why</span>;
}

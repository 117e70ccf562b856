// Chooses the shown lanes and tables: a namespace, a zone, an outcome, or only harm; searches, and zooms.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type Filter, noFilter } from '../model/filter.ts';
import { type ChartState, zoomed } from './state.ts';

interface FiltersProps {
  readonly state: ChartState;
  readonly namespaces: readonly string[];
  readonly zones: readonly string[];
  readonly outcomes: readonly (readonly [name: string, text: string])[];
}

export function Filters({ state: { filter }, namespaces, zones, outcomes }: FiltersProps) {
  const isOpen = useSignal(isChosen(filter.peek()));
  const set = (change: Partial<Filter>): void => {
    filter.value = { ...filter.value, ...change };
  };
  const same = (name: string): readonly [string, string] => [name, name];
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen.value}
        aria-pressed={isChosen(filter.value)}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        Filter
      </button>
      {isOpen.value && (
        <fieldset class="filters">
          <legend>Show only</legend>
          <Choice
            label="Namespace"
            value={filter.value.namespace}
            choices={namespaces.map(same)}
            choose={(namespace) => set({ namespace })}
          />
          <Choice
            label="Zone"
            value={filter.value.zone}
            choices={zones.map(same)}
            choose={(zone) => set({ zone })}
          />
          <Choice
            label="Pods"
            value={filter.value.outcome}
            choices={outcomes}
            choose={(outcome) => set({ outcome })}
          />
          <label>
            <input
              type="checkbox"
              checked={filter.value.isHarmOnly}
              onChange={({ currentTarget }) => set({ isHarmOnly: currentTarget.checked })}
            />{' '}
            only affected
          </label>
          {isChosen(filter.value) && (
            <button type="button" onClick={() => set(noFilter)}>
              Show all
            </button>
          )}
        </fieldset>
      )}
    </>
  );
}

function isChosen({ namespace, zone, outcome, isHarmOnly }: Filter): boolean {
  return namespace !== '' || zone !== '' || outcome !== '' || isHarmOnly;
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [name: string, text: string])[];
  readonly choose: (value: string) => void;
}

/** An address may name a missing choice: then the page shows nothing, and says so. */
export function Choice({ label, value, choices, choose }: ChoiceProps) {
  const isKnown = value === '' || choices.some(([name]) => name === value);
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">all</option>
        {!isKnown && <option value={value}>{value}: not here</option>}
        {choices.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface OfChart {
  readonly state: ChartState;
}

interface FindProps {
  readonly query: Signal<string>;
  /** The kinds of objects to search for. */
  readonly what?: string;
}

export function Find({ query, what = 'workload, node, pod' }: FindProps) {
  return (
    <label>
      Find{' '}
      <input
        type="search"
        placeholder={what}
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
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

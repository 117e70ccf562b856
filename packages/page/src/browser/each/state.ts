// The view of the losses: in signals, and in the fragment of the address.
import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { EachPageInput } from '../../each.ts';
import { type HeatMap, heatMapOf, type Measure } from '../../model/heat-map.ts';

/** A loss, and the column of it that is meant; null: the loss as a whole. */
interface Chosen {
  readonly loss: string;
  readonly column: string | null;
}

export interface EachState {
  readonly input: EachPageInput;
  readonly query: Signal<string>;
  readonly namespace: Signal<string>;
  readonly measure: Signal<Measure>;
  /** The largest number of losses that are shown. */
  readonly rowsMax: Signal<number>;
  /** The subject of the panel; null: the panel is closed. */
  readonly chosen: Signal<Chosen | null>;
  readonly map: ReadonlySignal<HeatMap>;
}

/** The number of rows that are shown at first, and the number that each click adds. */
const [rowsFirst, rowsMore] = [10, 200];

export function eachStateOf(input: EachPageInput): EachState {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const rows = Number(fragment.get('rows'));
  const loss = fragment.get('why');
  const looked = {
    query: signal(fragment.get('q') ?? ''),
    namespace: signal(fragment.get('ns') ?? ''),
    measure: signal<Measure>(fragment.get('by') === 'share' ? 'share' : 'lost'),
    rowsMax: signal(Number.isInteger(rows) ? Math.max(rows, rowsFirst) : rowsFirst),
    chosen: signal<Chosen | null>(loss === null ? null : { loss, column: fragment.get('of') }),
  };
  const map = computed(() => {
    const { measure, namespace, query, rowsMax } = looked;
    return heatMapOf(input, {
      ...{ measure: measure.value, rowsMax: rowsMax.value },
      ...{ namespace: namespace.value, query: query.value },
    });
  });
  keepInAddress(looked);
  return { input, ...looked, map };
}

function keepInAddress(looked: Omit<EachState, 'input' | 'map'>): void {
  const { query, namespace, measure, rowsMax, chosen } = looked;
  effect(() => {
    const { loss = '', column } = chosen.value ?? {};
    const said = {
      ...{ q: query.value, ns: namespace.value },
      by: measure.value === 'share' ? 'share' : '',
      rows: rowsMax.value > rowsFirst ? String(rowsMax.value) : '',
      ...{ why: loss, of: column ?? '' },
    };
    const fragment = new URLSearchParams();
    for (const [name, value] of Object.entries(said)) if (value !== '') fragment.set(name, value);
    history.replaceState(null, '', fragment.size === 0 ? location.pathname : `#${fragment}`);
  });
}

export function showMore({ rowsMax, map }: EachState): void {
  rowsMax.value = Math.min(map.value.rowsInAll, rowsMax.value + rowsMore);
}

/** The number of losses that `showMore` adds. */
export function moreOf({ rowsMax, map }: EachState): number {
  return Math.min(rowsMore, Math.max(0, map.value.rowsInAll - rowsMax.value));
}

/** Closes the panel; the keyboard focus returns to the place that opened it. */
export function closePanel({ chosen }: EachState): void {
  const opener = '.heat-map [tabindex="0"], .loss[aria-expanded="true"]';
  document.querySelector<HTMLElement>(opener)?.focus();
  chosen.value = null;
}

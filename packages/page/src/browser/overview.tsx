// The whole time in one strip, on which a brush says what of it the chart shows.
import { useSignal, useSignalEffect } from '@preact/signals';
import { brushX, type D3BrushEvent } from 'd3-brush';
import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PageInput } from '../input.ts';
import { instantsOf, readerOf } from '../model/steps.ts';
import { type PageState, within } from './state.ts';

const height = 34;
const margin = 30;

/** How many pods of all workloads are down, in the first run. */
function sumOf(input: PageInput): readonly { readonly at: number; readonly down: number }[] {
  const tracks = input.runs[0]?.workloads ?? [];
  const readers = tracks.map(({ states, serving }) => {
    return [readerOf(states), readerOf(serving)] as const;
  });
  const series = tracks.flatMap(({ states, serving }) => [states, serving]);
  return instantsOf(...series).map((at) => {
    const down = readers.map(([stateAt, servingAt]) => {
      return Math.max(0, (stateAt(at)?.wanted ?? 0) - (servingAt(at)?.pods ?? 0));
    });
    return { at, down: down.reduce((sum, one) => sum + one, 0) };
  });
}

export function Overview({ state }: { readonly state: PageState }) {
  const place = useRef<SVGSVGElement>(null);
  const width = useSignal(0);
  const steps = useMemo(() => sumOf(state.input.value), [state.input.value]);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      width.value = element.clientWidth;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const x = scaleLinear([0, state.end.value], [0, Math.max(1, width.value - margin)]);
  useSignalEffect(() => {
    const group = place.current?.querySelector('g');
    const wide = width.value - margin;
    if (!group || wide <= 0) return;
    const end = state.end.value;
    const toPixels = scaleLinear([0, end], [0, wide]);
    const brush = brushX<unknown>()
      .extent([
        [0, 0],
        [wide, height],
      ])
      .on('brush end', ({ selection, sourceEvent }: D3BrushEvent<unknown>) => {
        if (!sourceEvent) return;
        const [from, until] = (selection ?? [0, wide]).map((one) => toPixels.invert(Number(one)));
        state.view.value = within(from ?? 0, (until ?? end) - (from ?? 0), end);
      });
    const { from, until } = state.view.value;
    const drawn = select<SVGGElement, unknown>(group).call(brush);
    brush.move(drawn, [toPixels(from), toPixels(until)]);
  });
  const most = Math.max(1, ...steps.map(({ down }) => down));
  const path = steps.map(({ at, down }, index) => {
    const until = steps[index + 1]?.at ?? state.end.value;
    const top = height - (down / most) * (height - 4);
    return `L${x(at)},${top}L${x(until)},${top}`;
  });
  return (
    <div class="overview">
      <span>pods down, ≤ {most}</span>
      <svg ref={place} height={height} aria-hidden="true">
        <path d={`M0,${height}${path.join('')}L${x(state.end.value)},${height}Z`} />
        <g />
      </svg>
    </div>
  );
}

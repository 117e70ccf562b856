// The whole time in one strip, on which a brush says what of it the chart shows.
import { useSignal, useSignalEffect } from '@preact/signals';
import { brushX, type D3BrushEvent } from 'd3-brush';
import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { useEffect, useRef } from 'preact/hooks';
import { mostOf } from '../model/steps.ts';
import { type ChartState, within } from './state.ts';

const height = 34;
const margin = 30;

interface OverviewProps {
  readonly state: ChartState;
  /** What is counted. */
  readonly label: string;
  readonly fill: 'down' | 'pending';
  readonly steps: readonly { readonly at: number; readonly value: number }[];
}

export function Overview({ state, label, fill, steps }: OverviewProps) {
  const place = useRef<SVGSVGElement>(null);
  const width = useSignal(0);
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
        state.ownView.value = within(from ?? 0, (until ?? end) - (from ?? 0), end);
      });
    const { from, until } = state.view.value;
    const drawn = select<SVGGElement, unknown>(group).call(brush);
    brush.move(drawn, [toPixels(from), toPixels(until)]);
  });
  const most = mostOf(
    steps.map(({ value }) => value),
    1,
  );
  const path = steps.map(({ at, value }, index) => {
    const until = steps[index + 1]?.at ?? state.end.value;
    const top = height - (value / most) * (height - 4);
    return `H${x(at)}V${top}H${x(until)}`;
  });
  return (
    <div class="overview">
      <span>
        {label}, at most {most}
      </span>
      <svg ref={place} height={height} aria-hidden="true">
        <path class={fill} d={`M0,${height}${path.join('')}V${height}Z`} />
        <g />
      </svg>
    </div>
  );
}

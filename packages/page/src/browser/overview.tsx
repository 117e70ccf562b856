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
  /** The counted objects. */
  readonly label: string;
  readonly fill: 'down' | 'pending';
  /** Of each variant; two stand on one base, of more the highest is seen. */
  readonly series: readonly Series[];
  /** The number that fills the height; null: the highest that is counted. */
  readonly scale: number | null;
}

type Series = readonly { readonly at: number; readonly value: number }[];

export function Overview({ state, label, fill, series, scale }: OverviewProps) {
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
    series.flat().map(({ value }) => value),
    0,
  );
  const full = Math.max(1, scale ?? most);
  const isMirrored = series.length === 2;
  const base = isMirrored ? height / 2 : height;
  const paths = series.map((steps, index) => {
    const down = isMirrored && index === 1 ? 1 : -1;
    const path = steps.map(({ at, value }, step) => {
      const until = steps[step + 1]?.at ?? state.end.value;
      const tall = value === 0 ? 0 : Math.max(1.5, Math.min(1, value / full) * (base - 2));
      return `H${x(at)}V${base + down * tall}H${x(until)}`;
    });
    return `M0,${base}${path.join('')}V${base}Z`;
  });
  return (
    <div class="overview">
      <span>
        {label}, at most {most}
        {scale !== null && ` of ${scale}`}
      </span>
      <svg ref={place} height={height} aria-hidden="true">
        {paths.map((path) => (
          <path key={path} class={fill} d={path} />
        ))}
        <g />
      </svg>
    </div>
  );
}

// Wheel, drag and pinch.
import { type Signal, useSignalEffect } from '@preact/signals';
import { select } from 'd3-selection';
import { zoom, zoomIdentity } from 'd3-zoom';
import type { RefObject } from 'preact';
import { margin, type Size } from './layout.ts';
import { type ChartState, within } from './state.ts';

/** d3-zoom works on the whole time, and the view is what it leaves visible. */
export function useGestures(
  canvas: RefObject<HTMLCanvasElement | null>,
  state: ChartState,
  size: Signal<Size>,
): void {
  useSignalEffect(() => {
    const element = canvas.current;
    const { width } = size.value;
    if (!element || width <= margin) return;
    const end = state.end.value;
    const wide = width - margin;
    const isAxis = element.parentElement?.className === 'axis';
    const behaviour = zoom<HTMLCanvasElement, unknown>()
      .scaleExtent([1, Math.max(1, end * 2)])
      .extent([
        [0, 0],
        [wide, 1],
      ])
      .translateExtent([
        [0, 0],
        [wide, 1],
      ])
      .filter((event: Event) => event.type !== 'wheel' || isAxis || (event as WheelEvent).ctrlKey)
      .on('zoom', ({ transform, sourceEvent }) => {
        if (!sourceEvent) return;
        const { k, x } = transform;
        state.ownView.value = within((-x / k / wide) * end, end / k, end);
      });
    const place = select<HTMLCanvasElement, unknown>(element).call(behaviour);
    place.on('dblclick.zoom', null);
    const { from, until } = state.view.value;
    const scale = end / (until - from);
    place.property('__zoom', zoomIdentity.translate((-from / end) * wide * scale, 0).scale(scale));
  });
}

// Where lanes lie in the chart, and which time lies where.
import type { Signal } from '@preact/signals';
import { bisector } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Row } from '../model/row.ts';
import type { TimeScale } from './paint.ts';
import type { ChartState } from './state.ts';

/** What of the lanes is seen, in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
  readonly scrolled: number;
}

/** Room for half of the last time on the axis. */
export const margin = 30;

const byTop = bisector((top: number) => top).right;

export function scaleOf(state: ChartState, width: number): TimeScale {
  const { from, until } = state.view.value;
  return scaleLinear([from, until], [0, Math.max(1, width - margin)]);
}

/** Where each row begins, and where the last one ends. */
export function topsOf(rows: readonly Row[]): number[] {
  const tops = [0];
  for (const { height } of rows) tops.push((tops.at(-1) ?? 0) + height);
  return tops;
}

/** The row at that height. */
export function rowAt(tops: number[], place: number): number {
  return Math.max(0, byTop(tops, place) - 1);
}

/** Follows what is seen: also when the window changes. */
export function useSize(scroller: RefObject<HTMLElement | null>, size: Signal<Size>): void {
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const look = () => {
      const labels = Number.parseFloat(getComputedStyle(box).getPropertyValue('--labels'));
      const width = Math.max(50, box.clientWidth - labels);
      size.value = { width, height: box.clientHeight, scrolled: box.scrollTop };
    };
    const observer = new ResizeObserver(look);
    observer.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', look);
    look();
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', look);
    };
  }, []);
}

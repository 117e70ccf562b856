// Draws the chart as it is seen: lines of time, lanes, and the instants pointed at and pinned; where each lane is.

import type { Signal } from '@preact/signals';
import { bisector } from 'd3-array';
import { scaleLinear, scaleTime, scaleUtc } from 'd3-scale';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { heightsOf, type Row } from '../model/row.ts';
import { type Colours, coloursOf, paintRow, type TimeScale } from './paint.ts';
import type { ChartState, View } from './state.ts';

export const axisHeight = 22;
/** Pixels between two texts of the axis. */
const textGap = 10;

interface Canvases {
  readonly lanes: CanvasRenderingContext2D;
  readonly axis: CanvasRenderingContext2D;
}

export function drawChart({ lanes, axis }: Canvases, state: ChartState, size: Size): void {
  const { width, height, scrolled, isStacked } = size;
  const x = scaleOf(state, width);
  const colours = coloursOf(lanes.canvas);
  fit(lanes, width, height);
  fit(axis, width, axisHeight);
  drawLines(lanes, x, state, { width, colours });
  drawTimes(axis, x, state, { width, colours });
  const rows = state.rows.value;
  const tops = topsOf(rows, isStacked);
  const brush = { context: lanes, x, end: state.end.value, colours };
  for (let index = rowAt(tops, scrolled); index < rows.length; index++) {
    const [row, top = 0] = [rows[index], tops[index]];
    if (!row || top > scrolled + height) break;
    paintRow(brush, row, top - scrolled, heightsOf(row, isStacked));
  }
  for (const [at, name, wide] of [
    [state.hover.value, 'quiet', 1],
    [state.pinned.value, 'accent', 2],
  ] as const) {
    if (at === null || x(at) < 0 || x(at) > width) continue;
    for (const context of [lanes, axis]) {
      context.fillStyle = colours(name);
      context.fillRect(Math.round(x(at)) - wide + 1, 0, wide, context.canvas.height);
    }
  }
}

interface Look {
  readonly width: number;
  readonly colours: Colours;
}

/** A line through the lanes for each time of the axis, for each act, and one for the present. */
export function drawLines(
  context: CanvasRenderingContext2D,
  x: TimeScale,
  { now: { value: now }, view, startsAt, acts }: ChartState,
  { width, colours }: Look,
): void {
  context.fillStyle = colours('rule');
  for (const tick of ticksOf(view.value, width, startsAt)) {
    context.fillRect(Math.round(x(tick)), 0, 1, context.canvas.height);
  }
  // Dashes, unlike the lines of times.
  context.setLineDash([4, 3]);
  [context.strokeStyle, context.lineWidth] = [colours('gone'), 1];
  context.beginPath();
  for (const { from } of acts.value) {
    if (x(from) < 0 || x(from) > width) continue;
    const place = Math.round(x(from)) + 0.5;
    context.moveTo(place, 0);
    context.lineTo(place, context.canvas.height);
  }
  context.stroke();
  context.setLineDash([]);
  if (now === null || x(now) < 0 || x(now) > width) return;
  context.fillStyle = colours('ink');
  context.fillRect(Math.round(x(now)) - 1, 0, 2, context.canvas.height);
}

/** The times on the axis: as many as have room beside each other and beside the word at the line of now. */
export function drawTimes(
  axis: CanvasRenderingContext2D,
  x: TimeScale,
  { now: { value: now }, view, startsAt, clock }: ChartState,
  { width, colours }: Look,
): void {
  axis.font = getComputedStyle(axis.canvas).font;
  axis.textAlign = 'left';
  const taken: { readonly from: number; readonly to: number }[] = [];
  const write = (text: string, place: number, colour: 'ink' | 'quiet'): void => {
    const wide = axis.measureText(text).width;
    const from = Math.max(0, Math.min(width - wide, place - wide / 2));
    const to = from + wide;
    if (taken.some((one) => from < one.to + textGap && to > one.from - textGap)) return;
    taken.push({ from, to });
    axis.fillStyle = colours(colour);
    axis.fillText(text, from, 15);
  };
  if (now !== null && x(now) >= 0 && x(now) <= width) write('▾ now', x(now), 'ink');
  for (const tick of ticksOf(view.value, width, startsAt)) write(clock(tick), x(tick), 'quiet');
}

/** Sharp on screens with many pixels, and empty. */
export function fit(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  ratio: number = globalThis.devicePixelRatio || 1,
): void {
  const { canvas } = context;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== tall) canvas.height = tall;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
}

/**
 * About as many instants as fit, in seconds: whole seconds, minutes or hours after the beginning, or of the
 * calendar where it is known.
 */
function ticksOf({ from, until }: View, width: number, startsAt: number | null): readonly number[] {
  const origin = startsAt ?? 0;
  const ends = [new Date(origin + from * 1000), new Date(origin + until * 1000)];
  const scale = (startsAt === null ? scaleUtc() : scaleTime()).domain(ends);
  const dates = scale.ticks(Math.max(3, Math.floor(width / 130)));
  return dates.map((date) => (date.getTime() - origin) / 1000);
}

/** The visible part of the lanes, in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
  readonly scrolled: number;
  /** True: labels stand above lanes, as there is no room beside them. */
  readonly isStacked: boolean;
}

/** Room for half of the last time on the axis. */
export const margin = 30;

const byTop = bisector((top: number) => top).right;

export function scaleOf(state: ChartState, width: number): TimeScale {
  const { from, until } = state.view.value;
  return scaleLinear([from, until], [0, Math.max(1, width - margin)]);
}

const knownTops = new WeakMap<
  readonly Row[],
  { readonly isStacked: boolean; readonly tops: number[] }
>();

/** Where each row begins, and where the last one ends; counted once, as it is asked for each frame. */
export function topsOf(rows: readonly Row[], isStacked: boolean): number[] {
  const known = knownTops.get(rows);
  if (known?.isStacked === isStacked) return known.tops;
  const tops = [0];
  knownTops.set(rows, { isStacked, tops });
  for (const row of rows) {
    const { label, drawn } = heightsOf(row, isStacked);
    tops.push((tops.at(-1) ?? 0) + label + drawn);
  }
  return tops;
}

/** The row at that height. */
export function rowAt(tops: number[], place: number): number {
  return Math.max(0, byTop(tops, place) - 1);
}

/** Follows the visible part: also when the window changes. */
export function useSize(scroller: RefObject<HTMLElement | null>, size: Signal<Size>): void {
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const look = () => {
      const labels = Number.parseFloat(getComputedStyle(box).getPropertyValue('--labels'));
      const width = Math.max(50, box.clientWidth - labels);
      const { clientHeight: height, scrollTop: scrolled } = box;
      size.value = { width, height, scrolled, isStacked: labels === 0 };
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

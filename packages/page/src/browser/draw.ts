// Draws the chart as it is seen: lines of time, lanes, and the instants pointed at and pinned.
import { clock } from '../model/words.ts';
import { rowAt, type Size, scaleOf, topsOf } from './layout.ts';
import { type Colours, coloursOf, paintRow, type TimeScale } from './paint.ts';
import type { PageState } from './state.ts';
import { ticksOf } from './ticks.ts';

const axisHeight = 22;

export interface Canvases {
  readonly lanes: CanvasRenderingContext2D;
  readonly axis: CanvasRenderingContext2D;
}

export function drawChart({ lanes, axis }: Canvases, state: PageState, size: Size): void {
  const { width, height, scrolled } = size;
  const x = scaleOf(state, width);
  const colours = coloursOf(lanes.canvas);
  fit(lanes, width, height);
  fit(axis, width, axisHeight);
  drawTimes({ lanes, axis }, x, ticksOf(state.view.value, width), colours);
  const rows = state.rows.value;
  const tops = topsOf(rows);
  const brush = { context: lanes, x, end: state.end.value, colours };
  for (let index = rowAt(tops, scrolled); index < rows.length; index++) {
    const [row, top = 0] = [rows[index], tops[index]];
    if (!row || top > scrolled + height) break;
    paintRow(brush, row, top - scrolled);
  }
  for (const [at, name, wide] of [
    [state.hover.value, 'quiet', 1],
    [state.pinned.value, 'accent', 2],
  ] as const) {
    if (at === null || x(at) < 0) continue;
    for (const context of [lanes, axis]) {
      context.fillStyle = colours(name);
      context.fillRect(Math.round(x(at)) - wide + 1, 0, wide, context.canvas.height);
    }
  }
}

function drawTimes(
  { lanes, axis }: Canvases,
  x: TimeScale,
  ticks: readonly number[],
  colours: Colours,
): void {
  axis.font = getComputedStyle(axis.canvas).font;
  axis.fillStyle = colours('quiet');
  lanes.fillStyle = colours('rule');
  for (const tick of ticks) {
    const place = x(tick);
    axis.textAlign = place < 24 ? 'left' : 'center';
    axis.fillText(clock(tick), place, 15);
    lanes.fillRect(Math.round(place), 0, 1, lanes.canvas.height);
  }
}

/** Sharp on screens with many pixels, and empty. */
function fit(context: CanvasRenderingContext2D, width: number, height: number): void {
  const { canvas } = context;
  const ratio = globalThis.devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== tall) canvas.height = tall;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
}

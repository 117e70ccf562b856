// Draws the chart as it is seen: lines of time, lanes, and the instants pointed at and pinned.
import { rowAt, type Size, scaleOf, topsOf } from './layout.ts';
import { type Colours, coloursOf, paintRow, type TimeScale } from './paint.ts';
import type { ChartState } from './state.ts';
import { ticksOf } from './ticks.ts';

const axisHeight = 22;
/** Pixels on each side of the present in which no other time is written. */
const nowRoom = 44;

export interface Canvases {
  readonly lanes: CanvasRenderingContext2D;
  readonly axis: CanvasRenderingContext2D;
}

export function drawChart({ lanes, axis }: Canvases, state: ChartState, size: Size): void {
  const { width, height, scrolled } = size;
  const x = scaleOf(state, width);
  const colours = coloursOf(lanes.canvas);
  fit(lanes, width, height);
  fit(axis, width, axisHeight);
  drawTimes({ lanes, axis }, x, state, { width, colours });
  const rows = state.rows.value;
  const tops = topsOf(rows);
  const now = state.now.value;
  if (now !== null && x(now) >= 0 && x(now) <= width) {
    lanes.fillStyle = colours('ink');
    lanes.fillRect(Math.round(x(now)) - 1, 0, 2, lanes.canvas.height);
  }
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
    if (at === null || x(at) < 0 || x(at) > width) continue;
    for (const context of [lanes, axis]) {
      context.fillStyle = colours(name);
      context.fillRect(Math.round(x(at)) - wide + 1, 0, wide, context.canvas.height);
    }
  }
}

function drawTimes(
  { lanes, axis }: Canvases,
  x: TimeScale,
  state: ChartState,
  { width, colours }: { readonly width: number; readonly colours: Colours },
): void {
  const now = state.now.value;
  axis.font = getComputedStyle(axis.canvas).font;
  axis.fillStyle = colours('quiet');
  lanes.fillStyle = colours('rule');
  for (const tick of ticksOf(state.view.value, width, state.startsAt)) {
    const place = x(tick);
    lanes.fillRect(Math.round(place), 0, 1, lanes.canvas.height);
    // The word at the line of now needs the place.
    if (now !== null && Math.abs(x(now) - place) < nowRoom) continue;
    axis.textAlign = place < 24 ? 'left' : 'center';
    axis.fillText(state.clock(tick), place, 15);
  }
  if (now === null) return;
  axis.fillStyle = colours('ink');
  axis.textAlign = x(now) < 24 ? 'left' : 'center';
  axis.fillText('▾ now', x(now), 15);
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

// Draws lanes on a canvas: areas, bars and marks, and the lines of time.
import type { ScaleLinear } from 'd3-scale';
import {
  type Area,
  type AreaStep,
  type Band,
  bandsOf,
  type Fill,
  type Mark,
  type Row,
  type RowHeights,
  type Shape,
} from '../model/row.ts';

/** Seconds to pixels. */
export type TimeScale = ScaleLinear<number, number>;

/** Colours by name, as the style has them. */
export type Colours = (name: string) => string;

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name) ?? style.getPropertyValue(`--${name}`).trim();
    known.set(name, found);
    return found;
  };
}

export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly x: TimeScale;
  readonly end: number;
  readonly colours: Colours;
}

/** A row from `top` on, below a label of that height. */
export function paintRow(brush: Brush, row: Row, top: number, { label, drawn }: RowHeights): void {
  paintRule(brush, top + label + drawn - 0.5);
  if (row.kind !== 'lane') return;
  const bands = bandsOf(row);
  const height = (drawn - 6) / bands.length;
  for (const [index, band] of bands.entries()) {
    // Two bands stand on one base, as hills and their reflection do; more stand above each other.
    const isFlipped = bands.length === 2 && index === 1;
    const place = { top: top + label + 3 + index * height, height, isFlipped };
    if (index > 0) paintRule(brush, Math.round(place.top) - 0.5);
    if (band.area) paintArea(brush, band.area, inset(place, bands.length > 2 ? 2 : 0));
    paintBars(brush, band, place);
    paintMarks(brush, band.marks, markHeight(row, place, bands.length));
  }
}

function paintRule({ context, x, colours }: Brush, y: number): void {
  const [left = 0, right = 0] = x.range();
  context.strokeStyle = colours('rule');
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(right, y);
  context.stroke();
}

interface Place {
  readonly top: number;
  readonly height: number;
  /** True: its base is above. */
  readonly isFlipped: boolean;
}

function inset({ top, height, isFlipped }: Place, edge: number): Place {
  return { top: top + edge, height: height - 2 * edge, isFlipped };
}

/** Marks stand on the base of an area, else in the middle. */
function markHeight(row: Row, { top, height, isFlipped }: Place, bands: number): number {
  if (!row.area && bands !== 2) return top + height / 2;
  const fromBase = bands === 1 ? 5 : 7;
  return isFlipped ? top + fromBase : top + height - fromBase;
}

function paintArea(brush: Brush, area: Area, { top, height, isFlipped }: Place): void {
  const { context, x, end, colours } = brush;
  const base = isFlipped ? top : top + height;
  const y = (value: number): number => {
    const share = Math.min(1, value / Math.max(1, area.most));
    return base + (isFlipped ? share : -share) * height;
  };
  const [from = 0, until = 0] = x.domain();
  const shown = area.steps.flatMap((step, index) => {
    const next = area.steps[index + 1]?.at ?? end;
    return next < from || step.at > until ? [] : [{ step, next }];
  });
  context.fillStyle = fillOf(context, area.fill, colours);
  for (const { step, next } of shown) {
    if (step.value === 0) continue;
    const left = x(step.at);
    // One pod of very many is visible, too.
    const tall = Math.max(1.5, Math.abs(y(step.value) - base));
    const wide = Math.max(1.5, x(next) - left);
    context.fillRect(left, isFlipped ? base : base - tall, wide, tall);
  }
  paintLines(brush, shown, y);
  if (area.most === 0) return;
  const [, right = 0] = x.range();
  context.font = font;
  context.fillStyle = colours('quiet');
  context.fillText(String(area.most), right + 4, isFlipped ? top + height : top + 9);
}

/** Draws the unready pods that Kubernetes has noticed, and the bound of a budget. */
function paintLines(
  { context, x, colours }: Brush,
  shown: readonly { readonly step: AreaStep; readonly next: number }[],
  y: (value: number) => number,
): void {
  // Dashes far outside of the picture take time, too.
  const [left = 0, right = 0] = x.range();
  const seen = (at: number): number => Math.min(right + 9, Math.max(left - 9, x(at)));
  const path = (numberOf: (step: AreaStep) => number | null): void => {
    context.beginPath();
    for (const { step, next } of shown) {
      const value = numberOf(step);
      if (value === null) {
        context.stroke();
        context.beginPath();
        continue;
      }
      context.lineTo(seen(step.at), y(value));
      context.lineTo(seen(next), y(value));
    }
    context.stroke();
  };
  // On a border of paper a line is seen on every fill.
  const line = (numberOf: (step: AreaStep) => number | null, colour: string): void => {
    const dash = context.getLineDash();
    context.setLineDash([]);
    [context.strokeStyle, context.lineWidth] = [colours('paper'), 4];
    path(numberOf);
    context.setLineDash(dash);
    [context.strokeStyle, context.lineWidth] = [colour, 1.5];
    path(numberOf);
  };
  if (shown.some(({ step }) => step.noticed !== null && step.noticed !== step.value))
    line(({ noticed, value }) => (noticed || value ? noticed : null), colours('ink'));
  context.setLineDash([5, 4]);
  line(({ allowed }) => allowed, colours('budget'));
  context.setLineDash([]);
}

/** Of the numbers that say how much the height of a lane is. */
const font = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

function paintBars(
  { context, x, colours }: Brush,
  { bars }: Band,
  { top, height, isFlipped }: Place,
): void {
  const [left = 0, right = 0] = x.range();
  for (const bar of bars) {
    const start = Math.max(left, x(bar.from));
    const stop = Math.min(right, x(bar.until));
    if (stop < left || start > right) continue;
    const from = isFlipped ? 1 - bar.bottom : bar.top;
    const [y, wide] = [top + from * height, Math.max(1.5, stop - start)];
    const tall = (bar.bottom - bar.top) * height;
    // A low bar on another one gets a paper background.
    context.fillStyle = colours('paper');
    if (tall < height) context.fillRect(start, y - 1, wide, tall + 2);
    context.fillStyle = fillOf(context, bar.fill, colours);
    context.fillRect(start, y, wide, tall);
  }
}

function paintMarks({ context, x, colours }: Brush, marks: readonly Mark[], y: number): void {
  const [left = 0, right = 0] = x.range();
  let last = Number.NEGATIVE_INFINITY;
  let shape: Shape | null = null;
  for (const mark of marks) {
    const place = x(mark.at);
    // Of marks that would hide each other the first is drawn; zooming in shows them all.
    if (place < left || place > right || (mark.shape === shape && place - last < 5)) continue;
    // Whole also at the edges.
    const seen = Math.min(right, Math.max(left + markHalf, place));
    paintMark(context, mark.shape, seen, y, colours);
    [last, shape] = [place, mark.shape];
  }
}

function paintMark(
  context: CanvasRenderingContext2D,
  shape: Shape,
  x: number,
  y: number,
  colours: Colours,
): void {
  context.beginPath();
  if (shape === 'refused') {
    context.moveTo(x - 4, y - 4);
    context.lineTo(x + 4, y + 4);
    context.moveTo(x + 4, y - 4);
    context.lineTo(x - 4, y + 4);
    for (const [colour, wide] of [
      ['paper', 5],
      ['held', 2],
    ] as const) {
      [context.strokeStyle, context.lineWidth] = [colours(colour), wide];
      context.stroke();
    }
    return;
  }
  const corners = shape === 'event' ? triangle : diamond;
  for (const [right, down] of corners) context.lineTo(x + right, y + down);
  context.closePath();
  context.fillStyle = colours('ink');
  context.strokeStyle = colours('paper');
  context.lineWidth = 1.5;
  context.stroke();
  context.fill();
}

/** Pixels on each side of its middle. */
const markHalf = 6;

const triangle = [
  [-6, -5],
  [6, -5],
  [0, 6],
] as const;
const diamond = [
  [0, -5.5],
  [5.5, 0],
  [0, 5.5],
  [-5.5, 0],
] as const;

const patterns = new Map<string, CanvasPattern>();

/** Fills differ in more than their colour: unknown, untold, held or without room is hatched. */
function fillOf(
  context: CanvasRenderingContext2D,
  fill: Fill,
  colours: Colours,
): string | CanvasPattern {
  const colour = colours(fill);
  const slope = slopes[fill];
  if (slope === undefined) return colour;
  const known = patterns.get(`${fill} ${colour}`);
  if (known) return known;
  const tile = new OffscreenCanvas(6, 6);
  const pen = tile.getContext('2d');
  if (!pen) return colour;
  pen.fillStyle = colour;
  pen.globalAlpha = 0.35;
  pen.fillRect(0, 0, 6, 6);
  pen.globalAlpha = 1;
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, slope > 0 ? 0 : 6);
    pen.lineTo(shift + 6, slope > 0 ? 6 : 0);
  }
  pen.stroke();
  const pattern = context.createPattern(tile, 'repeat');
  if (!pattern) return colour;
  patterns.set(`${fill} ${colour}`, pattern);
  return pattern;
}

const slopes: Readonly<Partial<Record<Fill, number>>> = {
  unknown: 1,
  held: -1,
  noroom: 1,
  gone: -1,
  untold: 1,
};

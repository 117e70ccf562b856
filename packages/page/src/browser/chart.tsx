// The chart: lanes on a canvas, their labels as buttons beside it, one instant of time pinned.
import { useSignal, useSignalEffect } from '@preact/signals';
import { bisector } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { zoom, zoomIdentity } from 'd3-zoom';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { aboutsOf, type Row } from '../model/row.ts';
import { clock } from '../model/words.ts';
import { hitsOf } from './hit.ts';
import { LaneLabel } from './label.tsx';
import { coloursOf, paintRow, type TimeScale } from './paint.ts';
import { moved, type PageState, within, zoomed } from './state.ts';
import { ticksOf } from './ticks.ts';

interface Size {
  readonly width: number;
  readonly height: number;
  readonly scrolled: number;
}

const byTop = bisector((top: number) => top).right;
/** Room for half of the last time on the axis. */
const margin = 30;

export function scaleOf(state: PageState, width: number): TimeScale {
  const { from, until } = state.view.value;
  return scaleLinear([from, until], [0, Math.max(1, width - margin)]);
}

/** Where each row begins, and where the last one ends. */
function topsOf(rows: readonly Row[]): readonly number[] {
  const tops = [0];
  for (const { height } of rows) tops.push((tops.at(-1) ?? 0) + height);
  return tops;
}

export function Chart({ state }: { readonly state: PageState }) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const size = useSignal<Size>({ width: 0, height: 0, scrolled: 0 });
  const isPrinting = useSignal(false);
  const rows = state.rows.value;
  const tops = useMemo(() => topsOf(rows), [rows]);
  const total = tops.at(-1) ?? 0;
  const { scrolled, height } = size.value;
  const first = Math.max(0, byTop([...tops], scrolled) - 1);
  const last = Math.min(rows.length, byTop([...tops], scrolled + height));
  useSize(scroller, canvas, size, isPrinting);
  useGestures(canvas, state, size);
  useGestures(axis, state, size);
  useSignalEffect(() => {
    const drawn = state.rows.value;
    const { width, height: shown, scrolled: above } = size.value;
    const context = canvas.current?.getContext('2d');
    const onAxis = axis.current?.getContext('2d');
    if (!context || !onAxis || width === 0) return;
    const x = scaleOf(state, width);
    const ticks = ticksOf(state.view.value, width);
    const colours = coloursOf(context.canvas);
    fit(context, width, shown);
    fit(onAxis, width, axisHeight);
    onAxis.font = getComputedStyle(onAxis.canvas).font;
    onAxis.fillStyle = colours('quiet');
    onAxis.textAlign = 'center';
    for (const tick of ticks) {
      const place = x(tick);
      onAxis.textAlign = place < 24 ? 'left' : 'center';
      onAxis.fillText(clock(tick), place, 15);
      context.fillStyle = colours('rule');
      context.fillRect(Math.round(place), 0, 1, shown);
    }
    const brush = { context, x, end: state.end.value, colours };
    const offsets = topsOf(drawn);
    for (let index = Math.max(0, byTop([...offsets], above) - 1); index < drawn.length; index++) {
      const [row, top = 0] = [drawn[index], offsets[index]];
      if (!row || top > above + shown) break;
      paintRow(brush, row, top - above);
    }
    for (const [at, name] of [
      [state.hover.value, 'quiet'],
      [state.pinned.value, 'accent'],
    ] as const) {
      if (at === null) continue;
      for (const [one, tall] of [
        [context, shown],
        [onAxis, axisHeight],
      ] as const) {
        one.fillStyle = colours(name);
        one.fillRect(
          Math.round(x(at)) - (name === 'accent' ? 1 : 0),
          0,
          name === 'accent' ? 2 : 1,
          tall,
        );
      }
    }
  });
  const choose = (row: Row) => {
    const abouts = aboutsOf(row, state.end.value);
    state.chosen.value = { title: nameOf(row), abouts };
  };
  return (
    <div class="chart">
      <div class="axis">
        <span class="pinned">{pinnedText(state)}</span>
        <canvas ref={axis} aria-hidden="true" />
      </div>
      <section
        class="scroller"
        ref={scroller}
        aria-label="Lanes. Keys: W and S zoom, A and D move, 0 shows all, N and P go from mark to mark."
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        tabIndex={0}
        onKeyDown={(event) => onKey(event, state)}
      >
        <div
          class="content"
          ref={(node) => {
            if (node) node.style.height = `${total}px`;
          }}
        >
          <canvas
            ref={canvas}
            aria-hidden="true"
            onPointerMove={(event) => {
              state.hover.value = timeOf(event, state, size.value.width);
            }}
            onPointerLeave={() => {
              state.hover.value = null;
            }}
            onClick={(event) => {
              const at = timeOf(event, state, size.value.width);
              const box = event.currentTarget.getBoundingClientRect();
              const index = byTop([...tops], event.clientY - box.top + scrolled) - 1;
              const row = rows[index];
              state.pinned.value = at;
              if (!row || row.kind !== 'lane') return;
              const abouts = hitsOf(row, at, scaleOf(state, size.value.width), state.end.value);
              state.chosen.value = { title: nameOf(row), abouts };
            }}
          />
          <ul class="labels">
            {rows.slice(first, last).map((row, index) => (
              <LaneLabel
                key={row.key}
                row={row}
                top={tops[first + index] ?? 0}
                state={state}
                choose={choose}
              />
            ))}
          </ul>
        </div>
      </section>
    </div>
  );
}

const axisHeight = 22;

function nameOf({ label, variant }: Row): string {
  return [label, variant].filter((text) => text !== null && text !== '').join(', ');
}

function pinnedText({ pinned, hover }: PageState): string {
  const at = hover.value ?? pinned.value;
  return at === null ? 'h:mm:ss' : clock(Math.round(at * 10) / 10);
}

function timeOf(event: MouseEvent, state: PageState, width: number): number {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const at = scaleOf(state, width).invert(event.clientX - box.left);
  return Math.min(state.end.value, Math.max(0, at));
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

type Ref<Kind> = { readonly current: Kind | null };

function useSize(
  scroller: Ref<HTMLDivElement>,
  canvas: Ref<HTMLCanvasElement>,
  size: { value: Size },
  isPrinting: { value: boolean },
): void {
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const look = () => {
      const content = canvas.current?.parentElement;
      const labels = Number.parseFloat(getComputedStyle(box).getPropertyValue('--labels'));
      const width = Math.max(50, (content?.clientWidth ?? 0) - labels);
      const height = isPrinting.value ? box.scrollHeight : box.clientHeight;
      const next = { width, height, scrolled: isPrinting.value ? 0 : box.scrollTop };
      size.value = next;
    };
    const print = (on: boolean) => () => {
      isPrinting.value = on;
      look();
    };
    const observer = new ResizeObserver(look);
    observer.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', look);
    addEventListener('beforeprint', print(true));
    addEventListener('afterprint', print(false));
    look();
    return () => observer.disconnect();
  }, []);
}

/** Wheel, drag and pinch: d3-zoom works on the whole time, and the view is what it leaves visible. */
function useGestures(
  canvas: Ref<HTMLCanvasElement>,
  state: PageState,
  size: { value: Size },
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
        state.view.value = within((-x / k / wide) * end, end / k, end);
      });
    const place = select<HTMLCanvasElement, unknown>(element).call(behaviour);
    place.on('dblclick.zoom', null);
    const { from, until } = state.view.value;
    const scale = end / (until - from);
    place.property('__zoom', zoomIdentity.translate((-from / end) * wide * scale, 0).scale(scale));
  });
}

function onKey(event: KeyboardEvent, state: PageState): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { from, until } = state.view.value;
  const middle = state.pinned.value ?? (from + until) / 2;
  const keys: Readonly<Record<string, () => void>> = {
    w: () => zoomed(state, 1.5, middle),
    '+': () => zoomed(state, 1.5, middle),
    s: () => zoomed(state, 1 / 1.5, middle),
    '-': () => zoomed(state, 1 / 1.5, middle),
    a: () => moved(state, -0.2),
    ArrowLeft: () => moved(state, -0.2),
    d: () => moved(state, 0.2),
    ArrowRight: () => moved(state, 0.2),
    n: () => toMark(state, 1),
    p: () => toMark(state, -1),
    0: () => {
      state.view.value = { from: 0, until: state.end.value };
    },
    Escape: () => {
      state.chosen.value = null;
    },
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/** Pins the next mark of all lanes, or the one before. */
function toMark(state: PageState, direction: 1 | -1): void {
  const at = state.pinned.value ?? (direction > 0 ? -1 : Number.POSITIVE_INFINITY);
  const marks = state.rows.value.flatMap((row) => row.marks.map((mark) => ({ row, mark })));
  const beyond = marks.filter(({ mark }) => (direction > 0 ? mark.at > at : mark.at < at));
  if (beyond.length === 0) return;
  const times = beyond.map(({ mark }) => mark.at);
  const next = times.reduce((one, two) =>
    direction > 0 ? Math.min(one, two) : Math.max(one, two),
  );
  const there = beyond.filter(({ mark }) => mark.at === next);
  const abouts = new Map(
    there.map(({ mark }) => mark.about()).map((about) => [about.title, about]),
  );
  state.pinned.value = next;
  state.chosen.value = { title: clock(next), abouts: [...abouts.values()] };
  const { from, until } = state.view.value;
  if (next < from || next > until)
    state.view.value = within(next - (until - from) / 2, until - from, state.end.value);
}

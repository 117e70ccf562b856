// The chart: lanes that are drawn, and how keys, wheel and pointer move and choose in it.
import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { select } from 'd3-selection';
import { zoom, zoomIdentity } from 'd3-zoom';
import type { ComponentChildren, RefObject } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { Act } from '../model/acts.ts';
import {
  type About,
  aboutsOf,
  type Band,
  bandsOf,
  heightsOf,
  type Mark,
  ofVariant,
  type Row,
} from '../model/row.ts';
import { Acts } from './acts.tsx';
import { drawChart, margin, rowAt, type Size, scaleOf, topsOf, useSize } from './draw.ts';
import { usePaper } from './paper.tsx';
import { type ChartState, moved, toggle, within, zoomed } from './state.ts';

const keysText = 'Keys: W and S zoom, A and D move, 0 shows all, N and P go from mark to mark';

export function Chart({ state }: { readonly state: ChartState }) {
  const scroller = useRef<HTMLElement>(null);
  const lanes = useRef<HTMLCanvasElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const size = useSignal<Size>({ width: 0, height: 0, scrolled: 0, isStacked: false });
  const paper = useRef<HTMLDivElement>(null);
  useSize(scroller, size);
  usePaper(paper, state);
  useGestures(lanes, state, size);
  useGestures(axis, state, size);
  useSignalEffect(() => {
    const [context, onAxis] = [lanes.current?.getContext('2d'), axis.current?.getContext('2d')];
    if (!context || !onAxis || size.value.width === 0) return;
    drawChart({ lanes: context, axis: onAxis }, state, size.value);
  });
  useSignalEffect(() => {
    const { width } = size.value;
    if (width > 0 && state.asked.value !== '') chooseAsked(state, width);
  });
  const pointed = (event: MouseEvent): number => timeOf(event, state, size.value.width);
  return (
    <div class="chart">
      <Acts state={state} width={size.value.width} choose={(act) => chooseAct(state, act)} />
      <div class="axis">
        <Instant state={state} />
        <canvas ref={axis} role="img" aria-label="Axis of time" />
      </div>
      <section
        class="scroller"
        ref={scroller}
        aria-label={`Lanes. ${keysText}.`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        tabIndex={0}
        onKeyDown={(event) => onKey(event, state)}
      >
        {state.rows.value.length === 0 && <p>Search and filter leave nothing.</p>}
        <Lanes state={state} size={size.value}>
          <canvas
            ref={lanes}
            role="img"
            aria-label="Lanes over time; the button of each lane lists what is in it"
            onPointerMove={(event) => {
              state.hover.value = pointed(event);
            }}
            onPointerLeave={() => {
              state.hover.value = null;
            }}
            onClick={(event) => chooseAt(event, pointed(event), state, size.value)}
          />
        </Lanes>
      </section>
      <div class="on-paper" ref={paper} />
    </div>
  );
}

interface LanesProps {
  readonly state: ChartState;
  readonly size: Size;
  readonly children: ComponentChildren;
}

/** The labels of the lanes that are seen, over the height of all of them. */
function Lanes({ state, size: { scrolled, height, isStacked }, children }: LanesProps) {
  const rows = state.rows.value;
  const tops = useMemo(() => topsOf(rows, isStacked), [rows, isStacked]);
  const first = rowAt(tops, scrolled);
  const last = Math.min(rows.length, rowAt(tops, scrolled + height) + 1);
  return (
    <div class="content" style={{ height: `${tops.at(-1) ?? 0}px` }}>
      {children}
      <ul class="labels">
        {rows.slice(first, last).map((row, index) => (
          <LaneLabel
            key={row.key}
            row={row}
            top={tops[first + index] ?? 0}
            isStacked={isStacked}
            state={state}
            choose={(chosen) => chooseLane(state, chosen)}
          />
        ))}
      </ul>
    </div>
  );
}

/** The time under the pointer, else the one that is pinned. */
function Instant({ state: { pinned, hover, clock, startsAt } }: { readonly state: ChartState }) {
  const at = hover.value ?? pinned.value;
  const unit = startsAt === null ? 'h:mm:ss' : 'hh:mm:ss';
  if (at === null) return <span class="pinned unit">{unit}</span>;
  return <span class="pinned">{clock(Math.round(at * 10) / 10)}</span>;
}

function timeOf(event: MouseEvent, state: ChartState, width: number): number {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const at = scaleOf(state, width).invert(event.clientX - box.left);
  return Math.min(state.end.value, Math.max(0, at));
}

/** Pins an instant, and shows the facts there. */
function chooseAt(event: MouseEvent, at: number, state: ChartState, size: Size): void {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const rows = state.rows.value;
  const tops = topsOf(rows, size.isStacked);
  const y = event.clientY - box.top + size.scrolled;
  const index = rowAt(tops, y);
  const row = rows[index];
  if (row?.kind !== 'lane') {
    state.pinned.value = at;
    return;
  }
  const { label, drawn } = heightsOf(row, size.isStacked);
  const share = (y - (tops[index] ?? 0) - label) / drawn;
  const count = bandsOf(row).length;
  const band = Math.min(count - 1, Math.max(0, Math.floor(share * count)));
  choosePoint(state, { row, band }, at, size.width);
}

function onKey(event: KeyboardEvent, state: ChartState): void {
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
      state.ownView.value = null;
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
function toMark(state: ChartState, direction: 1 | -1): void {
  const at = state.pinned.value ?? (direction > 0 ? -1 : Number.POSITIVE_INFINITY);
  const marks = marksOf(state);
  const beyond = marks.filter((mark) => (direction > 0 ? mark.at > at : mark.at < at));
  if (beyond.length === 0) return;
  const times = beyond.map((mark) => mark.at);
  const next = times.reduce((one, two) =>
    direction > 0 ? Math.min(one, two) : Math.max(one, two),
  );
  chooseInstant(state, next);
  const { from, until } = state.view.value;
  if (next < from || next > until)
    state.ownView.value = within(next - (until - from) / 2, until - from, state.end.value);
}

/** d3-zoom works on the whole time, and the view is the visible part. */
function useGestures(
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

/** All that happened in a lane. */
function chooseLane(state: ChartState, row: Row): void {
  const abouts = aboutsOf(row, state.end.value, state.clock);
  state.chosen.value = { title: nameOf(row), abouts, by: `lane ${row.key}` };
}

/** All events of an act, whose beginning is pinned. */
function chooseAct(state: ChartState, { name, from, marks }: Act): void {
  state.pinned.value = from;
  const abouts = marks.map(({ about }) => about(state.clock));
  state.chosen.value = { title: name, abouts, by: `act ${name}` };
}

/** A band of a lane, counted from above. */
interface Spot {
  readonly row: Row;
  readonly band: number;
}

/** Pins an instant of a band and shows its facts: those of the nearest mark, where there is one. */
function choosePoint(state: ChartState, { row, band }: Spot, at: number, width: number): void {
  const own = bandsOf(row)[band] ?? row;
  const { abouts, at: exact } = hitsOf(own, at, state, width);
  state.pinned.value = exact;
  const title = own.variant === null ? nameOf(row) : `${nameOf(row)}, ${own.variant}`;
  state.chosen.value = { title, abouts, by: `point${band === 0 ? '' : `/${band}`} ${row.key}` };
}

/** All marks of the lanes, and those of acts, each with whose it is. */
function marksOf({ rows, acts }: ChartState): readonly (Mark & { readonly of: Band | null })[] {
  return [
    ...acts.value.flatMap(({ marks }) => marks.map((mark) => ({ ...mark, of: null }))),
    ...rows.value.flatMap((row) =>
      bandsOf(row).flatMap((band) => band.marks.map((mark) => ({ ...mark, of: band }))),
    ),
  ];
}

/** All marks of an instant, which is pinned. */
function chooseInstant(state: ChartState, at: number): void {
  const marks = marksOf(state).filter((mark) => isAt(mark, at));
  const abouts = new Map(
    marks
      .map(({ about, of }) => (of ? ofVariant(about(state.clock), of) : about(state.clock)))
      .map((about) => [about.title, about]),
  );
  state.pinned.value = at;
  state.chosen.value = {
    ...{ title: state.clock(at), abouts: [...abouts.values()], by: 'instant' },
  };
}

/** Opens what the address asks for, as far as it is there. */
function chooseAsked(state: ChartState, width: number): void {
  const { asked, rows, acts, pinned } = state;
  const [, kind = '', band = '0', key = ''] =
    /^(lane|point|act|instant)(?:\/(\d+))? ?(.*)$/.exec(asked.value) ?? [];
  asked.value = '';
  const at = pinned.value;
  if (kind === 'instant' && at !== null) chooseInstant(state, at);
  const row = rows.value.find((one) => one.key === key && one.kind === 'lane');
  if (row && kind === 'lane') chooseLane(state, row);
  if (row && kind === 'point' && at !== null)
    choosePoint(state, { row, band: Number(band) }, at, width);
  const act = acts.value.find((one) => kind === 'act' && one.name === key);
  if (act) chooseAct(state, act);
}

/** An address has thousandths. */
function isAt(mark: Mark, at: number): boolean {
  return Math.abs(mark.at - at) < 0.001;
}

function nameOf({ label, aside }: Row): string {
  return aside === '' ? label : `${label} ${aside}`;
}

/** Pixels beside a mark that still mean it. */
const reach = 8;

/** The facts about a point, and its instant. */
interface Hits {
  readonly abouts: readonly About[];
  readonly at: number;
}

/** The objects at a place: marks near it, the nearest first, then bars, then the area. */
function hitsOf(row: Band, at: number, state: ChartState, width: number): Hits {
  const { clock } = state;
  const x = scaleOf(state, width);
  const place = x(at);
  const marks = row.marks.filter((mark) => Math.abs(x(mark.at) - place) <= reach);
  const away = (mark: Mark): number => Math.abs(mark.at - at);
  const [nearest, ...others] = [...marks].sort((one, two) => away(one) - away(two));
  if (nearest) {
    return { abouts: [nearest, ...others].map(({ about }) => about(clock)), at: nearest.at };
  }
  const bars = row.bars.filter(({ from, until }) => {
    return x(from) - 2 <= place && Math.max(x(until), x(from) + 3) >= place;
  });
  const shortest = [...bars].sort((one, two) => one.until - one.from - (two.until - two.from));
  if (shortest.length > 0) return { abouts: shortest.map(({ about }) => about(clock)), at };
  const { area } = row;
  const index = area ? area.steps.findLastIndex((step) => step.at <= at) : -1;
  const step = area?.steps[index];
  const until = area?.steps[index + 1]?.at ?? state.end.value;
  return { abouts: area && step ? [area.about(step, until, clock)] : [], at };
}

interface LaneLabelProps {
  readonly row: Row;
  readonly top: number;
  readonly isStacked: boolean;
  readonly state: ChartState;
  readonly choose: (row: Row) => void;
}

function LaneLabel({ row, top, isStacked, state, choose }: LaneLabelProps) {
  const { kind, key, depth, label, aside, isOpen } = row;
  const heights = heightsOf(row, isStacked);
  const place = { top: `${top}px`, height: `${heights.label || heights.drawn}px` };
  if (kind === 'heading') {
    return (
      <li class="label heading" style={place}>
        <h2>{label}</h2>
        {aside !== '' && <span class="aside">{aside}</span>}
      </li>
    );
  }
  const open = () => toggle(state.opened, key);
  const classes = [
    ...['label', kind, `depth-${depth}`],
    ...(isOpen === null ? ['closed'] : []),
    ...(row.others.length === 0 ? [] : ['bands']),
  ];
  return (
    <li class={classes.join(' ')} style={place}>
      {isOpen !== null && (
        <button
          type="button"
          class="opener"
          aria-expanded={isOpen}
          aria-label={`${label}: ${kind === 'fold' ? 'show them' : 'what is in it'}`}
          onClick={open}
        >
          {isOpen ? '▾' : '▸'}
        </button>
      )}
      <button type="button" class="name" onClick={kind === 'fold' ? open : () => choose(row)}>
        <span class="text">
          {label} {aside !== '' && <span class="aside">{aside}</span>}
          {row.others.length === 0 && <span class="variant">{row.variant}</span>}
        </span>
        <Notes row={row} />
      </button>
    </li>
  );
}

/** The summary of each band: beside the label of a lane, or in a line for each variant. */
function Notes({ row }: { readonly row: Row }) {
  if (row.others.length === 0) {
    return row.note === '' ? null : <span class="note">{row.note}</span>;
  }
  return (
    <>
      {bandsOf(row).map(({ variant, note }) => (
        <span key={variant} class="band">
          <span class="variant">{variant}</span> <span class="note">{note}</span>
        </span>
      ))}
    </>
  );
}

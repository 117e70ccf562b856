// The chart: lanes on a canvas, their labels as buttons beside it, one instant of time pinned.
import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { chooseAsked, chooseLane, choosePoint } from './choose.ts';
import { drawChart } from './draw.ts';
import { useGestures } from './gestures.ts';
import { onKey } from './keys.ts';
import { LaneLabel } from './label.tsx';
import { rowAt, type Size, scaleOf, topsOf, useSize } from './layout.ts';
import { usePaper } from './paper.tsx';
import type { ChartState } from './state.ts';

const keysText = 'Keys: W and S zoom, A and D move, 0 shows all, N and P go from mark to mark';

export function Chart({ state }: { readonly state: ChartState }) {
  const scroller = useRef<HTMLElement>(null);
  const lanes = useRef<HTMLCanvasElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const size = useSignal<Size>({ width: 0, height: 0, scrolled: 0 });
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
function Lanes({ state, size: { scrolled, height }, children }: LanesProps) {
  const rows = state.rows.value;
  const tops = useMemo(() => topsOf(rows), [rows]);
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
  return <span class="pinned">{at === null ? unit : clock(Math.round(at * 10) / 10)}</span>;
}

function timeOf(event: MouseEvent, state: ChartState, width: number): number {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const at = scaleOf(state, width).invert(event.clientX - box.left);
  return Math.min(state.end.value, Math.max(0, at));
}

/** Pins an instant, and says what is there. */
function chooseAt(event: MouseEvent, at: number, state: ChartState, size: Size): void {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const rows = state.rows.value;
  const row = rows[rowAt(topsOf(rows), event.clientY - box.top + size.scrolled)];
  if (row?.kind === 'lane') choosePoint(state, row, at, size.width);
  else state.pinned.value = at;
}

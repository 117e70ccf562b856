// The chart on paper: a table with a lane in each row, which pages cut between lanes, under the times.
import { scaleLinear } from 'd3-scale';
import { type RefObject, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { bandsOf, heightsOf, type Row } from '../model/row.ts';
import { axisHeight, drawLines, drawTimes, fit, margin } from './draw.ts';
import { coloursOf, paintRow } from './paint.ts';
import type { ChartState } from './state.ts';

/** The number of lanes that are printed. */
const lanesMax = 400;
/** With the labels it fits A4 and Letter, lying; the style has it too. */
const laneWidth = 680;

/** Makes it when it is printed, and takes it away after that. */
export function usePaper(place: RefObject<HTMLDivElement | null>, state: ChartState): void {
  useEffect(() => {
    const print = (): void => {
      const { current } = place;
      if (!current) return;
      const rows = state.rows.peek();
      // At once: the browser waits for nothing that comes later.
      render(<Paper rows={rows.slice(0, lanesMax)} left={rows.length - lanesMax} />, current);
      drawPaper(current, rows, state);
    };
    const end = (): void => {
      if (place.current) render(null, place.current);
    };
    addEventListener('beforeprint', print);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', print);
      removeEventListener('afterprint', end);
    };
  }, []);
}

interface PaperProps {
  readonly rows: readonly Row[];
  /** The number of further items. */
  readonly left: number;
}

function Paper({ rows, left }: PaperProps) {
  return (
    <table>
      <thead>
        <tr>
          <td />
          <td>
            <canvas class="times" />
          </td>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <PaperRow key={row.key} row={row} />
        ))}
        {left > 0 && (
          <tr>
            <th scope="row">and {left} lanes more</th>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function PaperRow({ row }: { readonly row: Row }) {
  const { kind, label, aside, depth } = row;
  if (kind === 'heading') {
    return (
      <tr class="heading">
        <th scope="rowgroup">
          {label}
          {aside !== '' && <div class="note">{aside}</div>}
        </th>
        <td>
          <canvas class="times" />
        </td>
      </tr>
    );
  }
  return (
    <tr>
      <th scope="row" class={`depth-${depth}`}>
        {label} {aside}
        {bandsOf(row).map(({ variant, note }) => (
          <div key={variant} class="note">
            {variant === null ? note : `${variant} ${note}`}
          </div>
        ))}
      </th>
      <td>{kind === 'lane' && <canvas class="lane" />}</td>
    </tr>
  );
}

function drawPaper(place: Element, rows: readonly Row[], state: ChartState): void {
  const colours = coloursOf(place);
  const { from, until } = state.view.peek();
  const x = scaleLinear([from, until], [0, laneWidth - margin]);
  const lanes = rows.filter(({ kind }) => kind === 'lane');
  for (const [index, canvas] of canvasesIn(place, 'lane')) {
    const row = lanes[index];
    const context = row && contextOf(canvas, row.height);
    if (!row || !context) continue;
    drawLines(context, x, state, { width: laneWidth, colours });
    paintRow({ context, x, end: state.end.peek(), colours }, row, 0, heightsOf(row, false));
  }
  for (const [, canvas] of canvasesIn(place, 'times')) {
    const context = contextOf(canvas, axisHeight);
    if (context) drawTimes(context, x, state, { width: laneWidth, colours });
  }
}

function canvasesIn(place: Element, kind: 'lane' | 'times') {
  return place.querySelectorAll<HTMLCanvasElement>(`canvas.${kind}`).entries();
}

function contextOf(canvas: HTMLCanvasElement, height: number): CanvasRenderingContext2D | null {
  const context = canvas.getContext('2d');
  if (context) fit(context, laneWidth, height, 2);
  return context;
}

// The demo as an animated SVG of the terminal. Run as a program, the file writes docs/demo.svg, as
// `npm run pictures` does.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Millis } from '@taintmgr/core/time';
import { Play } from './narrator.ts';
import { frameLines, type Line, type Style } from './screen.ts';
import { root, type Sides, startSides } from './side.ts';
import { hour } from './story.ts';

const [columns, rows] = [112, 26];
/** The size of a character, in pixels. */
const [charWidth, lineHeight, padding] = [8.4, 19, 16];
const frameSeconds = 0.35;
const minute: Millis = 60_000;
/** The frame for readers who prefer no motion: deadlines run left, and are nearly over right. */
const stillAt: Millis = 7.5 * minute;

/** Minutes from which on so many seconds lie between frames. */
const paces = [
  [0, 60],
  [2, 30],
  [12, 120],
  [24, 10],
  [26, 60],
  [40, 120],
] as const;

/** A piece of text at a place of the board, and in which frames it stands there. */
interface Piece {
  readonly row: number;
  readonly column: number;
  readonly text: string;
  readonly style: Style | undefined;
  readonly from: number;
  until: number;
}

/** Plays the hour as fast as it can be computed; the text of the SVG. */
export function recording({ left, right }: Sides): string {
  const pieces: Piece[] = [];
  const times = frameTimes();
  const play = new Play([left, right]);
  let shown = new Map<string, Piece>();
  for (const [frame, after] of times.entries()) {
    play.runUntil(after);
    const lines = frameLines(after, play, columns, rows);
    const now = new Map<string, Piece>();
    for (const piece of lines.flatMap((line, row) => piecesOf(line, row, frame))) {
      const key = `${piece.row} ${piece.column} ${piece.style} ${piece.text}`;
      const known = shown.get(key);
      if (known) known.until = frame + 1;
      else pieces.push(piece);
      now.set(key, known ?? piece);
    }
    shown = now;
  }
  return svg(pieces, times.length, times.indexOf(stillAt));
}

function frameTimes(): readonly Millis[] {
  const times: Millis[] = [];
  for (const [index, [from, step]] of paces.entries()) {
    const until = (paces[index + 1]?.[0] ?? hour / minute) * minute;
    for (let at = from * minute; at < until; at += step * 1000) times.push(at);
  }
  return [...times, hour];
}

function piecesOf(line: Line, row: number, frame: number): readonly Piece[] {
  let column = 0;
  return line.flatMap(([text, style]): readonly Piece[] => {
    const place = column + text.length - text.trimStart().length;
    column += text.length;
    const shown = text.trim();
    if (shown === '') return [];
    return [{ row, column: place, text: shown, style, from: frame, until: frame + 1 }];
  });
}

function svg(pieces: readonly Piece[], frames: number, still: number): string {
  const [width, height] = [columns * charWidth + 2 * padding, rows * lineHeight + 2 * padding];
  const spans = new Map<string, readonly [from: number, until: number]>();
  const texts = pieces.map(({ row, column, text, style, from, until }) => {
    const span = `f${from}-${until}`;
    if (until - from < frames) spans.set(span, [from, until]);
    const x = (padding + column * charWidth).toFixed(1);
    const y = padding + (row + 0.75) * lineHeight;
    const classes = [...(until - from < frames ? [span] : []), ...(style ? [style] : [])];
    const length = (text.length * charWidth).toFixed(1);
    const name = classes.length > 0 ? ` class="${classes.join(' ')}"` : '';
    return `<text x="${x}" y="${y}" textLength="${length}"${name}>${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height}" role="img" aria-labelledby="title">
<title id="title">The demo: the same hour under kube-controller-manager's rules and with taintmgr</title>
<style>
${style}
${Array.from(spans, ([name, span]) => motion(name, span, frames)).join('\n')}
@media (prefers-reduced-motion: reduce) {
  text { animation: none !important; }
${Array.from(spans, ([name, [from, until]]) => `  .${name} { visibility: ${from <= still && still < until ? 'visible' : 'hidden'}; }`).join('\n')}
}
</style>
<rect width="100%" height="100%" rx="8" class="paper"/>
<g>
${texts.join('\n')}
</g>
</svg>
`;
}

const style = `text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #24292f; white-space: pre; }
.paper { fill: #f6f8fa; }
.bold { font-weight: bold; } .dim { fill: #6e7781; } .green { fill: #1a7f37; }
.yellow { fill: #9a6700; } .red { fill: #cf222e; } .cyan { fill: #0969da; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .paper { fill: #0d1117; } .dim { fill: #8b949e; } .green { fill: #3fb950; }
  .yellow { fill: #d29922; } .red { fill: #f85149; } .cyan { fill: #58a6ff; }
}`;

/** Seen from one frame to another, again and again. */
function motion(name: string, [from, until]: readonly [number, number], frames: number): string {
  const percent = (frame: number): string => `${((100 * frame) / frames).toFixed(2)}%`;
  const steps = [
    ...(from > 0 ? ['0%{visibility:hidden}'] : []),
    `${percent(from)}{visibility:visible}`,
    ...(until < frames ? [`${percent(until)}{visibility:hidden}`] : []),
    `100%{visibility:${until < frames ? 'hidden' : 'visible'}}`,
  ];
  const seconds = (frames * frameSeconds).toFixed(1);
  return `@keyframes ${name}{${steps.join('')}} .${name}{animation:${name} ${seconds}s step-end infinite}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

if (import.meta.main) {
  writeFileSync(join(root, 'docs/demo.svg'), recording(await startSides(1)));
  process.stdout.write('docs/demo.svg\n');
}

// Shows the demo: a board drawn in place on a terminal, plain lines otherwise.
import { styleText } from 'node:util';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import { createLogUpdate } from 'log-update';
import type { Play, Said, Shown } from './narrator.ts';
import type { DeadlineView, SideView, WorkloadView } from './side.ts';
import { chapters, hour } from './story.ts';

/** The limits of the terminal's size: a smaller one has no room for two sides. */
const [columnsMin, columnsMax, rowsMin, rowsMax] = [80, 150, 24, 44];
/** The longer name of a side. */
const whoWidth = 'kube-controller-manager'.length;

export const headline =
  "The same hour on two simulated clusters: left kube-controller-manager's rules, right taintmgr.";

export class Screen {
  readonly #isLive: boolean;
  readonly #live = createLogUpdate(process.stdout);
  #printed = 0;

  constructor() {
    const { isTTY, columns = 0, rows = 0 } = process.stdout;
    this.#isLive = isTTY === true && columns >= columnsMin && rows >= rowsMin;
    if (!this.#isLive) process.stdout.write(`${headline}\n\n`);
  }

  /** True on a terminal, where the hour takes a minute. */
  get isLive(): boolean {
    return this.#isLive;
  }

  draw(after: Millis, play: Play): void {
    if (!this.#isLive) {
      for (const one of play.said.slice(this.#printed)) process.stdout.write(`${plain(one)}\n`);
      this.#printed = play.said.length;
      return;
    }
    const columns = Math.min(process.stdout.columns, columnsMax);
    // log-update ends a frame with a line feed.
    const rows = Math.min(process.stdout.rows - 1, rowsMax);
    const lines = frameLines(after, play, columns, rows);
    this.#live(lines.map((line) => painted(line)).join('\n'));
  }

  /** Leaves the last frame on the terminal. */
  close(): void {
    if (this.#isLive) this.#live.done();
  }
}

function plain({ at, text, who }: Said): string {
  const time = formatDuration(at).padStart(6);
  return `${time}  ${who === undefined ? '»' : who.padEnd(whoWidth)}  ${text}`;
}

/** The look of a piece of text. */
export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';
/** A piece of a line: its text, and how it looks. */
type Span = readonly [text: string, style?: Style];
export type Line = readonly Span[];

/** Between the sides. */
const gutter = ' │ ';
const sceneWidth = Math.max(
  ...chapters.flatMap(({ scenes }) => scenes.map(({ text }) => text.length)),
);

function painted(line: Line): string {
  const texts = line.map(([text, style]) => (style ? styleText(style, text) : text));
  return texts.join('').trimEnd();
}

/** A whole screen: headline, scene, both sides, and what the marks mean. */
export function frameLines(
  after: Millis,
  play: Pick<Play, 'scene' | 'shown'>,
  columns: number,
  rows: number,
): readonly Line[] {
  const time = `${formatDuration(after)} of ${formatDuration(hour)}`.padStart(
    '59m59s of 1h'.length,
  );
  const room = Math.max(4, columns - sceneWidth - time.length - 6);
  const done = Math.round((room * after) / hour);
  const head: readonly Line[] = [
    ...wrapped(headline, columns).map((text): Line => [[text, 'bold']]),
    [],
    [
      ['» ', 'cyan'],
      [play.scene.padEnd(sceneWidth + 2), 'cyan'],
      [`${time}  `],
      ['━'.repeat(done), 'cyan'],
      ['─'.repeat(room - done), 'dim'],
    ],
    [],
  ];
  const foot = [[], ...legend];
  return [...head, ...boardLines(play.shown(), columns, rows - head.length - foot.length), ...foot];
}

const legend: readonly Line[] = [
  [
    ...[['●', 'green'] as const, [' ready  ', 'dim'] as const],
    ...[['▲', 'yellow'] as const, [' tainted NoExecute  ', 'dim'] as const],
    ...[['✕', 'red'] as const, [' not ready      ', 'dim'] as const],
    ...[['█', 'green'] as const, [' pods that serve  ░ missing', 'dim'] as const],
  ],
  [['needs: the minimum of a budget   held: by a limit   refused: by a budget', 'dim']],
];

/** Both sides beside each other, in so many columns and rows. */
function boardLines(sides: readonly Shown[], columns: number, rows: number): readonly Line[] {
  const width = Math.floor((columns - gutter.length * (sides.length - 1)) / sides.length);
  const blocks = sides.map((side) => blockOf(side, width, rows));
  return Array.from({ length: rows }, (_, row) =>
    blocks.flatMap((block, index): Line => {
      const between: Line = index > 0 ? [[gutter, 'dim']] : [];
      return [...between, ...fitted(block[row] ?? [], width)];
    }),
  );
}

function blockOf({ title, view, said }: Shown, width: number, rows: number): readonly Line[] {
  const { evicted, held, refused } = view;
  const upper: readonly Line[] = [
    [[title, 'bold']],
    zoneLine(view, width),
    ...view.workloads.map((workload) => workloadLine(workload, width)),
    [
      [`evicted ${evicted}`, evicted > 0 ? 'yellow' : 'dim'],
      [`  held ${held}`, held > 0 ? 'cyan' : 'dim'],
      [`  refused ${refused}`, refused > 0 ? 'cyan' : 'dim'],
    ],
    [],
    ...chartLines(view, width, Math.max(2, Math.floor(rows / 6))),
    ...(rows > roomyRows ? [[]] : []),
  ];
  const deadlines = deadlineLines(view.deadlines, width, Math.ceil((rows - upper.length) * 0.6));
  const room = rows - upper.length - deadlines.length;
  return [...upper, ...deadlines, ...saidLines(said, width, room)];
}

const marks = {
  ready: ['●', 'green'],
  tainted: ['▲', 'yellow'],
  down: ['✕', 'red'],
} as const;

/** `zone-a ●●●●●●  zone-b ✕✕✕✕✕✕`, or `a ●●●●●●  b ✕✕✕✕✕✕` where that is too long. */
function zoneLine({ zones }: SideView, width: number): Line {
  const room = zones.reduce((sum, { name, nodes }) => sum + name.length + nodes.length + 3, -2);
  const isShort = room > width;
  const spans = zones.flatMap(({ name, nodes }, index): Line => {
    const space = index > 0 ? '  ' : '';
    const shown = isShort ? name.split('-').at(-1) : name;
    return [[`${space}${shown} `, 'dim'], ...nodes.map((mark): Span => marks[mark])];
  });
  return isShort ? [['zone ', 'dim'], ...spans] : spans;
}

/** `shop/web  ███████▒▒▒  24/30 needs 29` */
function workloadLine({ name, wanted, serving, needed }: WorkloadView, width: number): Line {
  const isBelow = needed !== null && serving < needed;
  const style = serving === 0 ? 'red' : isBelow ? 'yellow' : 'green';
  const end = ` ${serving}/${wanted}${isBelow ? ` needs ${needed}` : ''}`;
  const room = Math.max(4, width - nameWidth - ' 30/30 needs 29'.length);
  const full = Math.round((room * serving) / Math.max(1, wanted));
  const count: Span = isBelow ? [end, style] : [end];
  return [
    [name.padEnd(nameWidth)],
    ['█'.repeat(full), style],
    ['░'.repeat(room - full), 'dim'],
    count,
  ];
}

const nameWidth = 10;
/** With more rows than these there is room for an empty one. */
const roomyRows = 20;

/** The pods that were down over the whole hour: a column shows the most of its minutes. */
function chartLines(
  { now, workloads, down }: SideView,
  width: number,
  height: number,
): readonly Line[] {
  const wanted = workloads.reduce((sum, one) => sum + one.wanted, 0);
  const count = down.at(-1)?.pods ?? 0;
  const most = Math.max(0, ...down.map(({ pods }) => pods));
  const levels = Array.from({ length: width }, (_, column) => {
    const [from, until] = [column, column + 1].map((one) => (one * hour) / 1000 / width);
    return from === undefined || until === undefined || from > now
      ? null
      : mostDown(down, from, until) / Math.max(1, wanted);
  });
  const rows = Array.from({ length: height }, (_, row) =>
    levels.map((level) => barSpan(level, height - 1 - row, height)),
  );
  return [
    [
      ['pods down ', 'dim'],
      [`${count} of ${wanted}`, count > 0 ? 'red' : 'dim'],
      [`, at most ${most}`, 'dim'],
    ],
    ...rows.map(merged),
  ];
}

function mostDown(down: SideView['down'], from: number, until: number): number {
  const before = down.findLast(({ at }) => at <= from)?.pods ?? 0;
  const within = down.filter(({ at }) => at > from && at < until).map(({ pods }) => pods);
  return Math.max(before, ...within);
}

/** A character of a bar that is `level` of the height; null: that time is still to come. */
function barSpan(level: number | null, row: number, height: number): Span {
  if (level === null) return [' '];
  if (level === 0) return row === 0 ? ['▁', 'green'] : [' '];
  const eighths = Math.max(2, Math.round(level * height * 8)) - row * 8;
  const style = level < 0.5 ? 'yellow' : 'red';
  return eighths <= 0 ? [' '] : ['▁▂▃▄▅▆▇█'.charAt(Math.min(eighths, 8) - 1), style];
}

/** Characters of one style in one piece. */
function merged(line: Line): Line {
  const spans: Span[] = [];
  for (const [text, style] of line) {
    const last = spans.at(-1);
    const isSame = last && last[1] === style;
    const whole = `${isSame ? last[0] : ''}${text}`;
    spans.splice(isSame ? -1 : spans.length, 1, style ? [whole, style] : [whole]);
  }
  return spans;
}

/** Pods whose time runs, the next first, in at most so many lines. */
function deadlineLines(
  deadlines: readonly DeadlineView[],
  width: number,
  linesMax: number,
): readonly Line[] {
  if (deadlines.length === 0) return [];
  const shown = deadlines.slice(0, linesMax - 1);
  const more = deadlines.slice(shown.length).reduce((sum, { pods }) => sum + pods, 0);
  return [
    [['next to leave', 'dim'], ...(more > 0 ? [[`, ${more} more later`, 'dim'] as const] : [])],
    ...shown.map((deadline) => deadlineLine(deadline, width)),
  ];
}

/** A bar that shrinks: `shop/web  zone-b-1 ×2 ▇▇▇▇▇    3m10s` */
function deadlineLine({ workload, node, pods, left, given }: DeadlineView, width: number): Line {
  const who = `${workload.padEnd(nameWidth)}${node} ×${pods} `;
  const time = formatDuration(Math.ceil(left) * 1000).padStart(6);
  const room = Math.max(4, width - who.length - time.length - 1);
  const full = Math.min(room, Math.ceil((room * left) / Math.max(1, given)));
  return [[who], ['▇'.repeat(full), 'yellow'], [' '.repeat(room - full)], [` ${time}`]];
}

/** The latest lines, as many as fit. */
function saidLines(said: readonly Said[], width: number, rows: number): readonly Line[] {
  let lines: readonly Line[] = [];
  for (const { at, text } of said.toReversed()) {
    const time = formatDuration(at).padEnd(7);
    const more = wrapped(text, width - time.length).map(
      (part, index): Line => [[index === 0 ? time : ' '.repeat(time.length), 'dim'], [part]],
    );
    if (lines.length + more.length > rows) break;
    lines = [...more, ...lines];
  }
  return lines;
}

/** Broken between words. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const isRoom = last !== undefined && last.length + 1 + word.length <= width;
    if (isRoom) lines.splice(-1, 1, `${last} ${word}`);
    else lines.push(word);
  }
  return lines;
}

/** The line in exactly so many columns; every character of the board is one column wide. */
function fitted(line: Line, width: number): Line {
  let room = width;
  const spans = line.flatMap(([text, style]): Line => {
    const cut = text.slice(0, room);
    room -= cut.length;
    if (cut === '') return [];
    return [style ? [cut, style] : [cut]];
  });
  return [...spans, [' '.repeat(room)]];
}

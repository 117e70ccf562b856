// Where the demo is shown: a board that is drawn in place on a terminal, plain lines otherwise.
import { styleText } from 'node:util';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import { createLogUpdate } from 'log-update';
import type { DeadlineView, SideView, WorkloadView } from './side.ts';

/** Narrower, or with fewer rows, there is no room for two sides. */
const [columnsMin, columnsMax, rowsMin] = [80, 150, 24];
const linesShown = 4;
/** The longer name of a side. */
const whoWidth = 'kube-controller-manager'.length;

interface Said {
  readonly line: string;
  readonly isScene: boolean;
}

/** Every line that was said stands in the scrollback at the end. */
export class Screen {
  readonly #isLive: boolean;
  readonly #live = createLogUpdate(process.stdout);
  readonly #lines: Said[] = [];
  #isOpen = true;

  constructor() {
    const { isTTY, columns = 0, rows = 0 } = process.stdout;
    this.#isLive = isTTY === true && columns >= columnsMin && rows >= rowsMin;
  }

  /** Whether somebody watches, so that it has to take its time. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** `who`: a side; left out: what happens to both. */
  line(after: Millis, text: string, who?: string): void {
    const time = formatDuration(Math.round(after / 1000) * 1000).padStart(6);
    const line = `${time}  ${who === undefined ? '»' : who.padEnd(whoWidth)}  ${text}`;
    const said = { line, isScene: who === undefined };
    if (this.#isLive) this.#lines.push(said);
    else process.stdout.write(`${styled(said)}\n`);
  }

  /** `scene`: what goes on. */
  draw(after: Millis, until: Millis, scene: string, sides: readonly Titled[]): void {
    if (!this.#isLive) return;
    const columns = Math.min(process.stdout.columns, columnsMax);
    const time = ` ${formatDuration(after)} of ${formatDuration(until)} `;
    const room = Math.max(10, columns - time.length - scene.length - 3);
    const done = Math.round((room * after) / until);
    const progress = `${styleText('cyan', '━'.repeat(done))}${styleText('dim', '─'.repeat(room - done))}`;
    this.#live(
      [
        `${progress}${time} ${styleText('bold', scene)}`,
        '',
        ...board(sides, columns),
        '',
        ...this.#lines.slice(-linesShown).map((said) => styled(said, columns)),
      ].join('\n'),
    );
  }

  /** Leaves all lines behind, without the board. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (!this.#isLive) return;
    this.#live.clear();
    this.#live.done();
    process.stdout.write(`${this.#lines.map((said) => styled(said)).join('\n')}\n`);
  }
}

function styled({ line, isScene }: Said, columns: number = line.length): string {
  const text = line.slice(0, columns);
  return isScene ? styleText('bold', text) : text;
}

/** How a piece of text looks. */
export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';
/** A piece of a line: what it says and how it looks. */
type Span = readonly [text: string, style?: Style];
export type Line = readonly Span[];

/** Between the sides. */
const gutter = ' │ ';
/** So many groups of pods with a deadline are shown. */
const deadlinesShown = 6;

export interface Titled {
  readonly title: string;
  readonly view: SideView;
}

/** The board in so many columns of a terminal. */
export function boardLines(sides: readonly Titled[], columns: number): readonly Line[] {
  const width = Math.floor((columns - gutter.length * (sides.length - 1)) / sides.length);
  const blocks = sides.map((side) => blockOf(side, width));
  const height = Math.max(...blocks.map((block) => block.length));
  return Array.from({ length: height }, (_, row) =>
    blocks.flatMap((block, index): Line => {
      const between: Line = index > 0 ? [[gutter, 'dim']] : [];
      return [...between, ...fitted(block[row] ?? [], width)];
    }),
  );
}

/** The same, painted. */
export function board(sides: readonly Titled[], columns: number): readonly string[] {
  return boardLines(sides, columns).map((line) => {
    const texts = line.map(([text, style]) => (style ? styleText(style, text) : text));
    return texts.join('').trimEnd();
  });
}

function blockOf({ title, view }: Titled, width: number): readonly Line[] {
  const { evicted, held, refused, deadlines } = view;
  const shown = deadlines.slice(0, deadlinesShown);
  const more = deadlines.slice(deadlinesShown).reduce((sum, { pods }) => sum + pods, 0);
  const blank = Array.from({ length: deadlinesShown - shown.length }, (): Line => []);
  return [
    [[title, 'bold']],
    zoneLine(view, width),
    [],
    ...view.workloads.map((workload) => workloadLine(workload, width)),
    [],
    [['pods with time left', 'dim'], ...(more > 0 ? [[`, ${more} more`, 'dim'] as const] : [])],
    ...shown.map((deadline) => deadlineLine(deadline, width)),
    ...blank,
    [],
    [
      [`evicted ${evicted}`, evicted > 0 ? 'yellow' : 'dim'],
      [`  held ${held}`, held > 0 ? 'cyan' : 'dim'],
      [`  budgets refused ${refused}`, refused > 0 ? 'cyan' : 'dim'],
    ],
  ];
}

const marks = {
  ready: ['●', 'green'],
  tainted: ['▲', 'yellow'],
  down: ['✕', 'red'],
} as const;

/** `zone-a ●●●●●●  zone-b ✕✕✕✕✕✕`, or `a ●●●●●●  b ✕✕✕✕✕✕` where that is too long. */
function zoneLine({ zones }: SideView, width: number): Line {
  const room = zones.reduce((sum, { name, nodes }) => sum + name.length + nodes.length + 3, -2);
  return zones.flatMap(({ name, nodes }, index): Line => {
    const space = index > 0 ? '  ' : '';
    const shown = room <= width ? name : name.split('-').at(-1);
    return [[`${space}${shown} `, 'dim'], ...nodes.map((mark): Span => marks[mark])];
  });
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

/** A bar that shrinks: `shop/web  zone-b-1 ×2 ▇▇▇▇▇    3m10s` */
function deadlineLine({ workload, node, pods, left, given }: DeadlineView, width: number): Line {
  const who = `${workload.padEnd(nameWidth)}${node} ×${pods} `;
  const time = formatDuration(Math.ceil(left) * 1000).padStart(6);
  const room = Math.max(4, width - who.length - time.length - 1);
  const full = Math.min(room, Math.ceil((room * left) / Math.max(1, given)));
  return [[who], ['▇'.repeat(full), 'yellow'], [' '.repeat(room - full)], [` ${time}`]];
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

// The two sides beside each other, as lines for a terminal.
import { styleText } from 'node:util';
import { formatDuration } from '@taintmgr/core/time';
import type { DeadlineView, SideView, WorkloadView } from './side.ts';

type Style = Parameters<typeof styleText>[0];
/** A piece of a line: what it says and how it looks. */
type Span = readonly [text: string, style?: Style];
type Line = readonly Span[];

/** Between the sides. */
const gutter = ' │ ';
/** So many groups of pods with a deadline are shown. */
const deadlinesShown = 6;

export interface Titled {
  readonly title: string;
  readonly view: SideView;
}

/** The board in so many columns of a terminal; each line ends where its side does. */
export function board(sides: readonly Titled[], columns: number): readonly string[] {
  const width = Math.floor((columns - gutter.length * (sides.length - 1)) / sides.length);
  const blocks = sides.map((side) => blockOf(side, width));
  const height = Math.max(...blocks.map((block) => block.length));
  return Array.from({ length: height }, (_, row) =>
    blocks
      .map((block) => fitted(block[row] ?? [], width))
      .join(gutter)
      .trimEnd(),
  );
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
  return [
    [name.padEnd(nameWidth)],
    ['█'.repeat(full), style],
    ['░'.repeat(room - full), 'dim'],
    [end, isBelow ? style : undefined],
  ].map(([text = '', look]) => (look ? [text, look as Style] : [text]));
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
function fitted(line: Line, width: number): string {
  let room = width;
  const parts = line.map(([text, style]) => {
    const cut = text.slice(0, room);
    room -= cut.length;
    return style && cut !== '' ? styleText(style, cut) : cut;
  });
  return `${parts.join('')}${' '.repeat(room)}`;
}

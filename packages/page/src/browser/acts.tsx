// The acts of a script above the axis: a bar for the duration of each, and as many names as fit. The others
// are marks, whose name is shown under the pointer.
import { type Act, linesOf, type PlacedAct, placeActs } from '../model/acts.ts';
import { margin, scaleOf } from './draw.ts';
import type { ChartState } from './state.ts';

/** The number of lines of names above each other. */
const linesMax = 3;
/** Pixels of a line of names, and of the marks below them. */
const [lineHeight, marksHeight] = [20, 14];
/** Pixels of a character at most, and of the edges of a name. */
const [charWidth, edges] = [6.9, 12];
/** Marks nearer than this are one. */
const nearest = 16;

interface ActsProps {
  readonly state: ChartState;
  readonly width: number;
  readonly choose: (act: Act) => void;
}

export function Acts({ state, width, choose }: ActsProps) {
  const acts = state.acts.value;
  if (acts.length === 0 || width === 0) return null;
  const lengthOf = (name: string): number => name.length * charWidth + edges;
  const end = state.end.value;
  const whole = (at: number): number => (at / end) * (width - margin);
  // As high whatever is looked at: a chart that moves slips from under the pointer.
  const ofWhole = placeActs(acts, { place: whole, width, lengthOf, linesMax });
  const count = Math.max(1, linesOf(ofWhole));
  const x = scaleOf(state, width);
  const placed = placeActs(acts, { place: (at) => x(at), width, lengthOf, linesMax: count });
  const lines = count * lineHeight;
  const marks = placed.filter(({ name }) => name === null);
  const height = lines + (acts.length > count ? marksHeight : 0);
  return (
    <div class="acts">
      <span>{acts.length === 1 ? '1 act' : `${acts.length} acts`} of the script</span>
      <div class="act-lines" style={{ height: `${height}px` }}>
        {placed.map(({ act, from, until, name }) =>
          name ? (
            <Named
              key={act.text}
              {...{ act, from, until, name, choose, isEnd: name.left > width / 2 }}
            />
          ) : (
            <i key={act.text} class="act-bar" style={{ left: `${from}px`, top: `${lines}px` }} />
          ),
        )}
        {grouped(marks).map((group) => (
          <Mark
            key={group[0]?.act.text}
            {...{ group, top: lines, choose, isEnd: (group[0]?.from ?? 0) > width / 2 }}
          />
        ))}
      </div>
    </div>
  );
}

interface NamedProps extends PlacedAct {
  readonly name: NonNullable<PlacedAct['name']>;
  /** True: its text has more room to the left. */
  readonly isEnd: boolean;
  readonly choose: ActsProps['choose'];
}

function Named({ act, from, until, name: { left, most, line }, isEnd, choose }: NamedProps) {
  const top = line * lineHeight;
  const bar = { left: `${from}px`, width: `${Math.max(2, until - from)}px` };
  return (
    <>
      <i class="act-bar" style={{ ...bar, top: `${top + lineHeight - 4}px` }} />
      <button
        type="button"
        class={isEnd ? 'act end' : 'act'}
        style={{ left: `${left}px`, top: `${top}px`, maxWidth: `${most}px` }}
        onClick={() => choose(act)}
      >
        <span class="text">{act.name}</span>
        <span class="tip">{act.text}</span>
      </button>
    </>
  );
}

interface MarkProps {
  readonly group: readonly PlacedAct[];
  readonly top: number;
  readonly isEnd: boolean;
  readonly choose: ActsProps['choose'];
}

/**
 * One act without a name, or several that are too near to each other; a click shows the facts about the
 * first.
 */
function Mark({ group, top, isEnd, choose }: MarkProps) {
  const [first] = group;
  if (!first) return null;
  const text = group.map(({ act }) => act.text).join('; ');
  return (
    <button
      type="button"
      class={isEnd ? 'act mark end' : 'act mark'}
      aria-label={text}
      style={{ left: `${Math.max(0, first.from - 6)}px`, top: `${top}px` }}
      onClick={() => choose(first.act)}
    >
      ▼<span class="tip">{text}</span>
    </button>
  );
}

function grouped(marks: readonly PlacedAct[]): readonly (readonly PlacedAct[])[] {
  const groups: PlacedAct[][] = [];
  for (const mark of marks) {
    const last = groups.at(-1);
    if (last?.[0] && mark.from - last[0].from < nearest) last.push(mark);
    else groups.push([mark]);
  }
  return groups;
}

// Recent departures from a live cluster: the lanes of these pods, the times with unknown departures, and the
// facts about each.
import type { LiveInput, LiveLeft, PastGap } from '../../live.ts';
import type { DeadlineSeen, PodOnNode } from '../../simulation.ts';
import { aboutEviction } from '../eviction.ts';
import { nothing, type PodHistory, podKey } from '../pod-history.ts';
import { barsOf, marksOf } from '../pods.ts';
import { type About, type Bar, type Row, rowOf } from '../row.ts';
import { type Clock, count, duration } from '../words.ts';

/** Room for a name and a note below it. */
const height = 36;
/** The number of pods with a lane. */
const shownMax = 60;

/** A lane with all of them; opened, a lane for each, the last first. */
export function leftRows(
  { record }: LiveInput,
  now: number,
  opened: ReadonlySet<string>,
): readonly Row[] {
  const left = record.evictions.filter(({ at }) => at >= 0);
  const isOpen = opened.has('left');
  const rows = left.slice(-shownMax).reverse();
  const all = rowOf({
    key: 'left',
    label: 'Who left lately',
    note: leftText(record, now),
    isOpen: left.length === 0 ? null : isOpen,
    isCalm: left.length === 0,
    bars: record.gaps.flatMap(gapBar),
    marks: marksOf({ ...nothing, evictions: left }, () => leftHistory(record, now)),
    height,
  });
  return [all, ...(isOpen ? rows.map((one) => leftRow(one, record, now)) : [])];
}

/** `12 pods`, `12 pods in the last 14m`, `none in the last 14m, with gaps`. */
export function leftText({ evictions, gaps }: LiveInput['record'], now: number): string {
  const pods = evictions.length === 0 ? 'none' : count(evictions.length, 'pod');
  const ends = gaps.flatMap(({ from, to }) => (from === null ? to : []));
  const since = ends.length === 0 ? null : Math.max(0, Math.floor(now - Math.max(...ends)));
  const known = since === null ? '' : ` in the last ${duration(since)}`;
  const isBroken = gaps.some(({ from }) => from !== null);
  return `${pods}${known}${isBroken ? ', with gaps' : ''}`;
}

function leftRow(one: LiveLeft, record: LiveInput['record'], now: number): Row {
  const isOwn = (other: PodOnNode): boolean => podKey(other) === podKey(one);
  const whole = leftHistory(record, now);
  const deadlines = whole.deadlines.filter(isOwn);
  const history = { ...whole, deadlines, holds: record.holds.filter(isOwn), evictions: [one] };
  const [bars, marks] = [barsOf(history, now), marksOf(history)];
  return rowOf({ key: `left ${one.uid}`, label: podKey(one), depth: 1, bars, marks });
}

function leftHistory({ deadlines, holds }: LiveInput['record'], now: number): PodHistory {
  const known = deadlines.map((one) => untilNow(one, now));
  return { ...nothing, deadlines: known, holds: [...holds] };
}

/** A deadline that runs is drawn to when it is over, and to the present where it is overdue. */
export function untilNow(one: DeadlineSeen, now: number): DeadlineSeen {
  return one.end === 'running' ? { ...one, endedAt: Math.max(one.dueAt, now) } : one;
}

function gapBar(gap: PastGap): readonly Bar[] {
  if (gap.to <= 0) return [];
  const from = Math.max(0, gap.from ?? 0);
  const about = (clock: Clock): About => {
    return { at: from, title: gapText(gap, clock), facts: [['why', gap.text]] };
  };
  return [{ from, until: gap.to, fill: 'untold', top: 0.2, bottom: 0.8, about }];
}

/** `Unknown before 13:02:11`, `Unknown from 13:02:11 to 13:02:31`. */
export function gapText({ from, to }: PastGap, clock: Clock): string {
  return `Unknown ${from === null ? 'before' : `from ${clock(from)} to`} ${clock(to)}`;
}

/** The departures that a search leaves, the last first. */
export function leftOf({ record }: LiveInput, query: string): readonly LiveLeft[] {
  const wanted = query.toLowerCase();
  const found = record.evictions.filter((one) => {
    return `${podKey(one)} ${one.node} ${one.workload ?? ''}`.toLowerCase().includes(wanted);
  });
  return found.reverse();
}

/** All that is known of one. */
export function aboutLeft({ record }: LiveInput, one: LiveLeft, now: number, clock: Clock): About {
  return aboutEviction(one, leftHistory(record, now), clock);
}

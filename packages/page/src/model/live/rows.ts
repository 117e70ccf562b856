// The lanes of a live cluster: events, pods due to leave, departures, holds, drains, taints of devices,
// zones; and the part of the time that is shown.
import type { LiveAction, LiveInput, LivePod } from '../../live.ts';
import type { PodOnNode } from '../../simulation.ts';
import { nothing } from '../pod-history.ts';
import { barsOf } from '../pods.ts';
import { type About, type Bar, type Row, rowOf } from '../row.ts';
import { matching } from '../rows.ts';
import { countsOf, mostOf } from '../steps.ts';
import { type Clock, count } from '../words.ts';
import { zoneRows } from '../zones.ts';
import { leftRows, untilNow } from './left.ts';
import { heldBy, inOrder, isDue, nameOf, whenText } from './pods.ts';

/** Room for a name and a note below it. */
const height = 36;
/** The number of pods with a lane before the user asks for more. */
const shownMax = 60;

/** The choices that decide about the lanes. */
export interface LiveChoice {
  readonly now: number;
  readonly opened: ReadonlySet<string>;
  readonly query: string;
  /** Without what nothing happens in. */
  readonly isHarmOnly: boolean;
}

export function liveRows(
  input: LiveInput,
  { now, opened, query, isHarmOnly }: LiveChoice,
): readonly Row[] {
  const open = query === '' ? opened : everything;
  const { zones, nodes, holds } = input.record;
  const evictions = input.record.evictions.filter(({ at }) => at >= 0);
  const deadlines = input.record.deadlines.map((one) => untilNow(one, now));
  const run = { variant: null, zones, nodes, deadlines, holds, evictions, refusals: [] };
  const rows = [
    ...eventRows(input),
    ...podRows(input, now, open),
    ...leftRows(input, now, open),
    ...actionRows(input, now, 'What keeps pods', ['pause', 'limit']),
    ...actionRows(input, now, 'Drains', ['drain']),
    ...actionRows(input, now, 'Taints of devices', ['rule']),
    ...zoneRows([run], now, open, 'now'),
  ];
  return matching(rows, { query, isHarmOnly });
}

const everything: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });

function eventRows({ record }: LiveInput): readonly Row[] {
  const { events, isCut } = record;
  const marks = events.map(({ at, text }) => {
    return { at, shape: 'event', about: (): About => ({ at, title: text, facts: [] }) } as const;
  });
  const cut = isCut ? ', older ones left out' : '';
  const note = events.length === 0 ? 'nothing yet' : `${count(events.length, 'change')}${cut}`;
  return [rowOf({ key: 'events', label: 'What changed', note, marks, height })];
}

function podRows(input: LiveInput, now: number, opened: ReadonlySet<string>): readonly Row[] {
  const pods = inOrder(input.pods);
  const heading = rowOf({ key: 'pods', kind: 'heading', label: 'Pods to leave, the next first' });
  const isOpen = opened.has('more-pods');
  const shown = isOpen ? pods : pods.slice(0, shownMax);
  const rows = shown.map((pod) => podRow(pod, input, now));
  const more = pods.length - shownMax;
  const fold = rowOf({
    key: 'more-pods',
    kind: 'fold',
    label: `${count(more, 'pod')} more`,
    isOpen,
  });
  if (pods.length === 0) return [heading, rowOf({ key: 'no-pods', label: 'none', height })];
  return [heading, ...rows, ...(more > 0 ? [fold] : [])];
}

function podRow(pod: LivePod, { record }: LiveInput, now: number): Row {
  const isOwn = isOf(pod);
  // Of the one that runs explain says more.
  const deadlines = record.deadlines.filter((one) => isOwn(one) && one.end !== 'running');
  const history = { ...nothing, deadlines, holds: record.holds.filter(isOwn) };
  const held = heldBy(pod);
  const isHeld = held !== '' && (isDue(pod, now) || pod.state !== 'Evict');
  return rowOf({
    key: `p ${nameOf(pod)}`,
    label: nameOf(pod),
    note: isHeld ? `${whenText(pod, now)}: ${held}` : whenText(pod, now),
    height,
    bars: [waitOf(pod, now), ...barsOf(history, now)],
  });
}

function isOf({ namespace, pod }: LivePod): (one: PodOnNode) => boolean {
  return (one) => one.pod === pod && one.namespace === namespace;
}

/** The time that it waits until it is due, or until its end. */
function waitOf(pod: LivePod, now: number): Bar {
  const fill = pod.state === 'Terminating' ? 'leaving' : 'pending';
  const from = Math.min(pod.setAt ?? now - 1, now - 1);
  const until = Math.max(pod.dueAt ?? now, now);
  return { from, until, fill, top: 0.3, bottom: 0.62, about: (clock) => aboutPod(pod, clock) };
}

/** All that explain says of it. */
export function aboutPod(pod: LivePod, clock: Clock): About {
  const { dueAt, setAt, because, node, evictor, holds, workload, state } = pod;
  const isWaiting = state === 'Evict' && dueAt !== null;
  return {
    at: setAt ?? dueAt ?? 0,
    title: `${nameOf(pod)}: ${isWaiting ? `due at ${clock(dueAt)}` : state.toLowerCase()}`,
    facts: [
      ['why', because.join('; ')],
      ['evicted by', evictor ?? 'not known; see who evicts above'],
      ['node', node],
      ...(setAt === null ? [] : [['counts since', clock(setAt)] as const]),
      ['of', workload ?? 'no workload'],
      ...holds.map(({ text }) => ['held by', text] as const),
    ],
  };
}

function actionRows(
  { actions }: LiveInput,
  now: number,
  title: string,
  kinds: readonly LiveAction['kind'][],
): readonly Row[] {
  const meant = actions.filter(({ kind }) => kinds.includes(kind));
  if (meant.length === 0) return [];
  const rows = meant.map((one) => {
    const { kind, name, text } = one;
    const [from, until] = [one.from ?? 0, Math.max(now, one.until ?? now)];
    const about = (clock: Clock): About => ({
      at: from,
      title: `${kind} ${name}`,
      facts: [
        ['what', text],
        ['since', one.from === null ? 'unknown' : clock(one.from)],
        ['until', one.until === null ? 'it is ended' : clock(one.until)],
      ],
    });
    const fill = kind === 'drain' || kind === 'rule' ? 'pending' : 'held';
    const bar: Bar = { from, until, fill, top: 0.2, bottom: 0.8, about };
    return rowOf({
      key: `a ${kind} ${name}`,
      label: `${kind} ${name}`,
      note: text,
      bars: [bar],
      height,
    });
  });
  return [rowOf({ key: `heading ${title}`, kind: 'heading', label: title }), ...rows];
}

/** The end moves in steps, because the view would slide otherwise. */
const endStepSeconds = 300;
const aheadMin = 300;
/** Deadlines beyond are seen by those who ask for all. */
const aheadMax = 3600;
const allMax = 8 * 86_400;

/** The end of the chart's time. */
export function liveEnd(input: LiveInput, now: number): number {
  const last = Math.min(now + allMax, lastOf(input, allMax, now));
  return Math.ceil((Math.max(last, now + aheadMin) * 1.02) / endStepSeconds) * endStepSeconds;
}

/** The present, a little of the past, and the deadlines of the next hour. */
export function liveHome(
  input: LiveInput,
  now: number,
  end: number,
): { readonly from: number; readonly until: number } {
  const ahead = Math.max(aheadMin, (lastOf(input, aheadMax, now) - now) * 1.1);
  const behind = Math.min(now, Math.max(60, ahead / 3));
  return { from: now - behind, until: Math.min(end, now + ahead) };
}

function lastOf({ pods }: LiveInput, ahead: number, now: number): number {
  const times = pods.flatMap(({ dueAt }) => (dueAt === null || dueAt > now + ahead ? [] : dueAt));
  return mostOf(times, now);
}

/** The number of pods due to leave, over time. */
export function toLeave(
  { record }: LiveInput,
  now: number,
): readonly { readonly at: number; readonly value: number }[] {
  const spans = record.deadlines.map((one) => {
    const from = Math.max(0, one.setAt);
    return { from, until: Math.max(from, untilNow(one, now).endedAt ?? now) };
  });
  return countsOf(spans);
}

// The acts of a script: its events as a few spans of time with short names, and the places of the names on the axis.
import type { PlayedEvent } from '../simulation.ts';
import type { About, Mark } from './row.ts';
import { mostOf } from './steps.ts';
import { clock, duration, span } from './words.ts';

/** The events of one line of a script that do the same: a taint of all nodes, one by one, is one act. */
export interface Act {
  /** A few words: `zone-b down`. */
  readonly name: string;
  /** When, and as the script says it: `0:02:00 – 0:18:00 (16m): stop the kubelet of zone zone-b`. */
  readonly text: string;
  readonly from: number;
  /** The end of the act; null: it has none, or none was played. */
  readonly until: number | null;
  /** Its events, its end included. */
  readonly marks: readonly Mark[];
}

interface Rule {
  readonly begin: RegExp;
  /** The short name; `$1` is the first group. */
  readonly name: string;
  /** The text of the event that ends it; left out: nothing does. */
  readonly end?: string;
}

const rules: readonly Rule[] = [
  { begin: /^stop the kubelet of (.+)$/, name: '$1 down', end: 'start the kubelet of $1' },
  { begin: /^cut off (.+)$/, name: '$1 cut off', end: 'reconnect $1' },
  { begin: /^taint (.+): (.+)$/, name: 'taint $2 on $1', end: 'untaint $1: $2' },
  { begin: /^cordon (.+)$/, name: 'cordon $1', end: 'uncordon $1' },
  { begin: /^drain (.+)$/, name: 'drain $1', end: 'end of the drain of $1' },
  { begin: /^pause evictions: (.+)$/, name: 'pause $1', end: 'end of pause $1' },
  {
    begin: /^the controller is restarted$/,
    name: 'controller restarts',
    end: 'the controller is back',
  },
  { begin: /^the leader of the controller dies$/, name: 'leader dies', end: 'another leads' },
  {
    begin: /^no client can reach the API server$/,
    name: 'API server down',
    end: 'the API server is back',
  },
  {
    begin: /^each request to the API server takes (.+) longer$/,
    name: 'API server $1 slower',
    end: 'the API server is fast again',
  },
  { begin: /^set (\w+) of budget (.+) to (.+)$/, name: 'budget $2: $1 $3' },
];

/** The acts in the order of time. */
export function actsOf(events: readonly PlayedEvent[]): readonly Act[] {
  const drafts = new Map<string, Draft>();
  for (const event of events) {
    const text = actText(event);
    const begun = drafts.get(`${event.line} ${text}`);
    const ended = [...drafts.values()].find(({ line, end }) => line === event.line && end === text);
    if (begun) begun.events.push(event);
    else if (ended) ended.events.push(event);
    else drafts.set(`${event.line} ${text}`, draftOf(event, text));
    if (ended) ended.until = event.at;
  }
  return Array.from(drafts.values(), actOf);
}

/** The text of an event without the one node of several that it is about. */
export function actText({ text }: PlayedEvent): string {
  return text.replace(/ \([^()]+\)$/, '');
}

interface Draft {
  readonly line: number;
  readonly text: string;
  readonly name: string;
  readonly end: string | null;
  readonly events: PlayedEvent[];
  until: number | null;
}

function draftOf(event: PlayedEvent, text: string): Draft {
  const { line } = event;
  const rule = rules.find(({ begin }) => begin.test(text));
  const told = rule ? text.replace(rule.begin, rule.name) : text;
  const end = rule?.end === undefined ? null : text.replace(rule.begin, rule.end);
  return { line, text, name: shortened(told), end, events: [event], until: null };
}

/**
 * Leaves out parts that a reader of an axis does not need: the prefix of a taint's key, its effect, a
 * repeated word.
 */
function shortened(text: string): string {
  return text
    .replace(/[a-z0-9.-]+\/([\w.-]+(?:=[\w.-]*)?:No)/, '$1')
    .replace(/:(NoExecute|NoSchedule|PreferNoSchedule)\b/, '')
    .replace(/\bzone (zone)/, '$1')
    .replace(/((?:[\w.-]+, ){2})[\w.-]+(?:, [\w.-]+)+/, '$1…');
}

function actOf({ text, name, events, until }: Draft): Act {
  const [first, last] = [events[0]?.at ?? 0, events.at(-1)?.at ?? 0];
  const marks = events.map(({ at, text: what, line }): Mark => {
    const about = (): About => ({ at, title: what, facts: [['line of the script', `${line}`]] });
    return { at, shape: 'event', about };
  });
  const ending = until ?? (last > first ? last : null);
  const when = ending === null ? clock(first) : span(clock, first, ending);
  const lasts = ending === null ? '' : ` (${duration(ending - first)})`;
  return { name, text: `${when}${lasts}: ${text}`, from: first, until: ending, marks };
}

/** A name on the axis, in pixels. */
export interface PlacedAct {
  readonly act: Act;
  /** The place of the beginning, and of the end; the same where there is no end. */
  readonly from: number;
  readonly until: number;
  /** Where the name begins, how long it may be, and the line that it stands in; null: there is no room for it. */
  readonly name: { readonly left: number; readonly most: number; readonly line: number } | null;
}

interface Axis {
  readonly place: (at: number) => number;
  readonly width: number;
  /** The length of a name. */
  readonly lengthOf: (name: string) => number;
  /** The number of lines of names above each other. */
  readonly linesMax: number;
}

const gap = 8;
/** Shorter than this a name says nothing. */
const nameMin = 90;

/** Places the acts that are seen: names cover neither each other nor the edge. */
export function placeActs(acts: readonly Act[], axis: Axis): readonly PlacedAct[] {
  const ends: number[] = [];
  return acts.flatMap((act): readonly PlacedAct[] => {
    const [from, until] = [axis.place(act.from), axis.place(act.until ?? act.from)];
    if (until < 0 || from > axis.width) return [];
    const whole = axis.lengthOf(act.name);
    const begin = Math.max(0, from);
    const room = axis.width - begin;
    const length = room < whole && room >= nameMin ? room : whole;
    // At the right edge a name ends where its act begins.
    const left = room < length ? begin - length : begin;
    const line = Array.from({ length: axis.linesMax }, (_, at) => at).find((at) => {
      return left >= 0 && left >= (ends[at] ?? 0);
    });
    const seen = { from: begin, until: Math.min(axis.width, until) };
    if (line === undefined) return [{ act, ...seen, name: null }];
    ends[line] = Math.max(left + length, seen.until) + gap;
    return [{ act, ...seen, name: { left, most: length, line } }];
  });
}

/** The number of lines that names take. */
export function linesOf(placed: readonly PlacedAct[]): number {
  return mostOf(
    placed.map(({ name }) => (name ? name.line + 1 : 0)),
    0,
  );
}

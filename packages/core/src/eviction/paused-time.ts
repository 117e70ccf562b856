// How long deadlines stood still, and what that makes of an instant from which time counts.
import type { Instant } from '../kernel/time.ts';
import type { EvictionPause } from '../policy/values.ts';

/** A time for which deadlines stood still. */
export interface Pause {
  readonly from: Instant;
  readonly to: Instant;
}

/** Deadlines stand still now. */
export interface Hold {
  readonly since: Instant;
  /** The pause that lasts longest of those that hold them. */
  readonly pause: EvictionPause;
}

/** When the deadlines of a taint stood still for a pod, in order and without overlap. */
export interface PausedTime {
  readonly past: readonly Pause[];
  /** Null: they run. */
  readonly hold: Hold | null;
}

/** A time for which one pause held deadlines; `to` null: it still does. */
export interface PauseSpan {
  readonly pause: EvictionPause;
  readonly from: Instant;
  readonly to: Instant | null;
}

export const neverPaused: PausedTime = { past: [], hold: null };

/** Puts together what several pauses come to: where they overlap, time passes once. */
export function pausedTime(spans: readonly PauseSpan[]): PausedTime {
  if (spans.length === 0) return neverPaused;
  const past: { from: Instant; to: Instant }[] = [];
  let hold: Hold | null = null as Hold | null;
  for (const { pause, from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = past.at(-1);
    if (hold) hold = to === null ? { ...hold, pause: longer(hold.pause, pause) } : hold;
    else if (last && from <= last.to) {
      if (to === null) {
        past.pop();
        hold = { since: last.from, pause };
      } else last.to = Math.max(last.to, to);
    } else if (to === null) hold = { since: from, pause };
    else if (from < to) past.push({ from, to });
  }
  return { past, hold };
}

/**
 * The same time where only what `hold` holds counts as going on: what lies before is past. So a start
 * that counts some pauses already, and one that counts none, are measured alike.
 */
export function heldSince({ past, hold }: PausedTime, by: Hold | null): PausedTime {
  if (!hold || !by || hold.since >= by.since) return { past, hold };
  return { past: [...past, { from: hold.since, to: by.since }], hold: by };
}

/** The same with what holds deadlines now cut off at `now`. */
export function cutAt(now: Instant, { past, hold }: PausedTime): readonly Pause[] {
  return hold && hold.since < now ? [...past, { from: hold.since, to: now }] : past;
}

/** From when a time counts that would count from `since`: so much later as deadlines stood still. */
export function givenBack(since: Instant, pauses: readonly Pause[]): Instant {
  return pauses.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), since);
}

/**
 * Where a time has to count from to count, with these pauses, from `start`: what givenBack undoes.
 * Within a pause many instants come to the same; it is the one closest to `original` then.
 */
export function takenBack(start: Instant, pauses: readonly Pause[], original: Instant): Instant {
  return pauses.reduceRight((at, { from, to }) => {
    if (at > to) return at;
    return at === to ? Math.min(to, Math.max(from, original)) : at - (to - from);
  }, start);
}

function longer(one: EvictionPause, other: EvictionPause): EvictionPause {
  const [a, b] = [one, other].map(({ until }) => until ?? Number.POSITIVE_INFINITY);
  // What somebody has to end is named before what ends of itself.
  if (a === b && (one.zone === undefined) !== (other.zone === undefined))
    return one.zone === undefined ? one : other;
  if (a === b) return one.name < other.name ? one : other;
  return (a ?? 0) > (b ?? 0) ? one : other;
}

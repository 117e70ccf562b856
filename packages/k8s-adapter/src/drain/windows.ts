// Finds out if a maintenance window is open, and until when that stays so.
import type { NodeDrainSpec } from '@taintmgr/core/policy';
import { formatTime, type Instant } from '@taintmgr/core/time';
import { Cron } from 'croner';

type DrainWindow = NonNullable<NodeDrainSpec['windows']>[number];

/** The state of the windows at an instant. */
export type Opening =
  | { readonly kind: 'open'; readonly until: Instant }
  /** `until` null: they never open again. */
  | { readonly kind: 'closed'; readonly until: Instant | null; readonly message: string }
  /** The windows cannot be read, in words. */
  | { readonly kind: 'unreadable'; readonly message: string };

/** One open window is enough; one that cannot be read closes all. */
export function openingAt(windows: readonly DrainWindow[], at: Instant): Opening {
  const all = windows.map((window, i) => openingOf(window, `spec.windows[${i}]`, at));
  const unreadable = all.find(({ kind }) => kind === 'unreadable');
  if (unreadable) return unreadable;
  const open = all.flatMap((one) => (one.kind === 'open' ? [one] : []));
  if (open.length > 0) return { kind: 'open', until: Math.max(...open.map(({ until }) => until)) };
  const closed = all.flatMap((one) => (one.kind === 'closed' ? [one] : []));
  const [next] = closed.sort((a, b) => (a.until ?? never) - (b.until ?? never));
  return next ?? { kind: 'closed', until: null, message: 'there is none' };
}

/** The reason why a window can never be used, in words; null: it opens. */
export function windowFault(window: DrainWindow, at: Instant): string | null {
  const opening = openingOf(window, 'the window', at);
  if (opening.kind === 'unreadable') return opening.message;
  return opening.kind === 'closed' && opening.until === null ? opening.message : null;
}

const never = Number.POSITIVE_INFINITY;

/** A window that overlaps with its next opening is read again when the first one ends. */
function openingOf(
  { schedule, timeZone, duration }: DrainWindow,
  path: string,
  at: Instant,
): Opening {
  let start: Instant | null;
  try {
    const cron = new Cron(schedule, { timezone: timeZone, mode: '5-part' });
    start = cron.nextRun(formatTime(at - duration))?.getTime() ?? null;
  } catch (error) {
    const got = `got schedule ${JSON.stringify(schedule)}, timeZone ${JSON.stringify(timeZone)}`;
    const text = error instanceof Error ? error.message : String(error);
    const why = isTimeZone(timeZone) ? text : 'there is no such time zone';
    return { kind: 'unreadable', message: `${path}: ${got}: ${why}` };
  }
  if (start === null) return { kind: 'closed', until: null, message: `${path} never opens` };
  if (start <= at) return { kind: 'open', until: start + duration };
  return { kind: 'closed', until: start, message: `opens ${localTime(start, timeZone)}` };
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone }) !== null;
  } catch {
    return false;
  }
}

/** `Sat 2026-11-28 02:00 Europe/Berlin` */
function localTime(at: Instant, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  } as const);
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const [day, time] = [
    ['year', 'month', 'day'],
    ['hour', 'minute'],
  ].map((names) => names.map((name) => parts.get(name as Intl.DateTimeFormatPartTypes)));
  return `${parts.get('weekday')} ${day?.join('-')} ${time?.join(':')} ${timeZone}`;
}

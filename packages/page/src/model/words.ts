// The form of times and names on the page.
import { formatDuration } from '@taintmgr/core/time';

/** `6m39s` */
export function duration(seconds: number): string {
  return formatDuration(Math.round(seconds * 1000));
}

/** The form of an instant: after the beginning, or as a clock on the wall shows it. */
export interface Clock {
  (seconds: number): string;
  /** The text after the beginning of a span that is not over. */
  readonly openEnd: string;
}

/** `0:06:39` after the beginning, with thousandths where there are any. */
export const clock: Clock = Object.assign(timeAfter, { openEnd: 'to the end' });

function timeAfter(seconds: number): string {
  const whole = Math.floor(seconds);
  const rest = Math.round((seconds - whole) * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const text = `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return rest === 0 ? text : `${text}.${String(rest).padStart(3, '0')}`;
}

/** `0:06:39 – 0:08:00` */
export function span(clock: Clock, from: number, until: number | null): string {
  return until === null ? `${clock(from)} ${clock.openEnd}` : `${clock(from)} – ${clock(until)}`;
}

export function count(amount: number, noun: string, nouns = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : nouns}`;
}

/** The difference of a time from another, as both are written: `+4s`, `−2s`, or ''. */
export function more(seconds: number, first: number): string {
  const difference = Math.floor(seconds) - Math.floor(first);
  if (difference === 0) return '';
  return `${difference > 0 ? '+' : '−'}${duration(Math.abs(difference))}`;
}

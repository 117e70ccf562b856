// Times as the clock on the wall of whoever looks shows them.
import type { Clock } from '../../model/words.ts';

const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** `14:03:20`; on another day than seconds count from `27 Nov 07:03:37`. */
export function wallClock(startsAt: number): Clock {
  const first = day.format(startsAt);
  const read = (seconds: number): string => {
    const date = new Date(startsAt + seconds * 1000);
    const text = time.format(date);
    return day.format(date) === first ? text : `${day.format(date)} ${text}`;
  };
  return Object.assign(read, { openEnd: 'until now' });
}

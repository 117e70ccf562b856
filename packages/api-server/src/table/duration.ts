// Ages and durations as kubectl prints them.
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

const pair = (whole: number, unit: string, part: number, partUnit: string): string =>
  part === 0 ? `${whole}${unit}` : `${whole}${unit}${part}${partUnit}`;

/** A duration as kubectl shows it, in at most two units: `119s`, `5m30s`, `3h`, `2d4h`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  const minutes = Math.floor(seconds / minute);
  if (minutes < 10) return pair(minutes, 'm', seconds % minute, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(seconds / hour);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(seconds / day);
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(seconds / year);
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

/** The age of a time stamp, `<unknown>` when there is none. */
export function since(time: string | null | undefined, now: number): string {
  return time ? humanDuration(now - Date.parse(time)) : '<unknown>';
}

// Instants, durations and RFC 3339 without Date.

/** A length of time in milliseconds. */
export type Millis = number;

/** A point in time in milliseconds since the Unix epoch. */
export type Instant = number;

/** The instant; null for an invalid one: absent, not a number, infinite. */
export function finite(instant: Instant | null | undefined): Instant | null {
  return instant != null && Number.isFinite(instant) ? instant : null;
}

/** The instant, or `now` where it is over, so that a jump there never goes back. */
export function notBefore(now: Instant, at: Instant | null): Instant | null {
  return at === null || at > now ? at : now;
}

/** The first of these instants; null: none of them is one. */
export function earliest(instants: readonly (Instant | null)[]): Instant | null {
  let first: Instant | null = null;
  // Asked at each event of several lists: an iterator of each would be a tenth of all garbage.
  for (let at = 0; at < instants.length; at++) {
    const instant = instants[at] ?? null;
    if (instant !== null && (first === null || instant < first)) first = instant;
  }
  return first;
}

/** The first of two instants; null: none of them is one. For frequent calls: no list is made. */
export function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

const second = 1000;

/**
 * The latest that something can have been whose time is kept as `instant`: what the API keeps in
 * whole seconds was anywhere within that second, and ends with it.
 */
export function endOfSecond(instant: Instant): Instant {
  return instant % second === 0 ? instant + second : instant;
}

const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const durationUnits = [
  { name: 'd', size: day },
  { name: 'h', size: hour },
  { name: 'm', size: minute },
  { name: 's', size: second },
];

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Reads an RFC 3339 time; null for anything else. Fractions are cut to milliseconds. */
export function parseTime(text: string): Instant | null {
  if (!rfc3339.test(text)) return null;
  // Each part has its place, and lists of parts would be garbage: nearly all that is read of a cluster has
  // times in it.
  const year = digits(text, 0) * 100 + digits(text, 2);
  const month = digits(text, 5);
  const dayOfMonth = digits(text, 8);
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > 31) return null;
  const hours = digits(text, 11);
  const minutes = digits(text, 14);
  const seconds = digits(text, 17);
  if (hours > 23 || minutes > 59 || seconds > 60) return null;
  const clock = hours * hour + minutes * minute + seconds * second;
  const days = daysSinceEpoch(year, month, dayOfMonth);
  return days * day + clock + fractionOf(text) - offsetOf(text);
}

/** The number that two digits at this place write. */
function digits(text: string, at: number): number {
  return 10 * (text.charCodeAt(at) - zero) + text.charCodeAt(at + 1) - zero;
}

const zero = '0'.charCodeAt(0);
const fractionAt = '2026-01-01T00:00:00'.length;

/** Milliseconds beyond the whole second. */
function fractionOf(text: string): Millis {
  if (text[fractionAt] !== '.') return 0;
  return Math.floor(Number(`0.${/^\d+/.exec(text.slice(fractionAt + 1))?.[0]}`) * second);
}

/** The lead of a time with an offset before UTC. */
function offsetOf(text: string): Millis {
  if (text.endsWith('Z')) return 0;
  const at = text.length - '+00:00'.length;
  const offset = digits(text, at + 1) * hour + digits(text, at + 4) * minute;
  return text[at] === '-' ? -offset : offset;
}

/** Writes an instant as RFC 3339, in UTC, with the milliseconds that `formatTime` drops. */
export function formatTimeMillis(instant: Instant): string {
  const millis = Math.floor(instant) - Math.floor(instant / second) * second;
  return formatTime(instant).replace('Z', `.${String(millis).padStart(3, '0')}Z`);
}

/** Writes an instant as Kubernetes' Time does: RFC 3339, UTC, whole seconds. */
export function formatTime(instant: Instant): string {
  const days = Math.floor(instant / day);
  const rest = instant - days * day;
  const { year, month, dayOfMonth } = dateOfDays(days);
  const hours = twoDigits(Math.floor(rest / hour));
  const minutes = twoDigits(Math.floor(rest / minute) % 60);
  const seconds = twoDigits(Math.floor(rest / second) % 60);
  const date = `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(dayOfMonth)}`;
  return `${date}T${hours}:${minutes}:${seconds}Z`;
}

/**
 * Writes a future instant as RFC 3339, in UTC and whole seconds: the second in which it is over,
 * never one before it.
 */
export function formatDeadline(instant: Instant): string {
  return formatTime(Math.ceil(instant / second) * second);
}

/**
 * Writes a length of time for people, the two largest units that are not zero: `0s`, `41s`,
 * `2m54s`, `1h5m`, `3d4h`. Milliseconds are dropped, a negative length gets a minus sign.
 */
export function formatDuration(length: Millis): string {
  let rest = Math.abs(length);
  let text = '';
  let units = 0;
  for (const { name, size } of durationUnits) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0) text += `${count}${name}`;
    if (text !== '' && ++units === 2) break;
  }
  if (text === '') return '0s';
  return length < 0 ? `-${text}` : text;
}

const duration = /^(?:\d+(?:\.\d+)?(?:d|h|m|s|ms))+$/;
const unitMillis: Readonly<Record<string, Millis>> = {
  ...{ d: day, h: hour, m: minute, s: second, ms: 1 },
};

/**
 * Reads a duration as kubectl's flags do (`90s`, `1h30m`, `500ms`, `0`), and with days, as
 * `formatDuration` writes it (`1d16h`), in milliseconds; null for anything else.
 */
export function parseDuration(text: string): Millis | null {
  if (text === '0') return 0;
  if (!duration.test(text)) return null;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|d|h|m|s)/g)) {
    total += Number(count) * (unitMillis[unit ?? ''] ?? 0);
  }
  return total;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

// The civil calendar without Date: days are counted in 400-year eras that begin on 1 March, so
// that the leap day is the last day of its year.
const daysPerEra = 146_097;
const daysFromEraToEpoch = 719_468;

function daysSinceEpoch(year: number, month: number, dayOfMonth: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + dayOfMonth - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * daysPerEra + yearOfEra * 365 + leapDays + dayOfYear - daysFromEraToEpoch;
}

function dateOfDays(days: number): { year: number; month: number; dayOfMonth: number } {
  const shifted = days + daysFromEraToEpoch;
  const era = Math.floor(shifted / daysPerEra);
  const dayOfEra = shifted - era * daysPerEra;
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfMonth };
}

/** The cluster's clock beside the engine's own time. */
export interface ClusterTime {
  /** The time that the cluster's clock shows at `now`. */
  wall(now: Instant): Instant;
  /** When, by our time, the cluster's clock shows `wall`. */
  when(wall: Instant): Instant;
  /** Since when, by our time, something holds that says so itself; unsaid or in the future: `now`. */
  since(now: Instant, written: Instant | null | undefined): Instant;
}

/**
 * The one place where two times meet. `now` only measures what passes: waits, rates, how long
 * nothing was heard. Instants that the API stores are of the cluster's clock, which people and
 * machines set: a taint's start, a pod's binding, a deadline. The event `clock` says how far that
 * clock is ahead of `now`; before the first the two are one.
 */
export class ClusterClock implements ClusterTime {
  #ahead: Millis = 0;

  set(ahead: Millis): void {
    this.#ahead = ahead;
  }

  wall(now: Instant): Instant {
    return now + this.#ahead;
  }

  when(wall: Instant): Instant {
    return wall - this.#ahead;
  }

  since(now: Instant, written: Instant | null | undefined): Instant {
    const instant = finite(written);
    return instant === null ? now : Math.min(now, this.when(instant));
  }
}

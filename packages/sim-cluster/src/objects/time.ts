/** The second that was written last, and the time in it: much happens within one. */
let written = { second: Number.NaN, text: '', time: '' };

const firstInstant = Date.parse('0000-01-01T00:00:00Z');
/** The last instant that can be written, in ms since the epoch: what ends later ends then. */
export const lastInstant: number = Date.parse('9999-12-31T23:59:59Z');

/** RFC 3339 has the years 0 to 9999. A period for ever leads beyond them. */
const writable = (milliseconds: number): number =>
  Math.min(lastInstant, Math.max(firstInstant, milliseconds));

/** Date and time of an instant, to the second. */
function wholeSeconds(milliseconds: number): typeof written {
  const second = Math.floor(milliseconds / 1000);
  if (second !== written.second) {
    const text = new Date(writable(milliseconds)).toISOString().slice(0, 19);
    written = { second, text, time: `${text}Z` };
  }
  return written;
}

/** Formats a `metav1.Time`: RFC 3339, whole seconds, UTC. */
export function formatTime(milliseconds: number): string {
  return wholeSeconds(milliseconds).time;
}

/** Formats a `metav1.MicroTime`: exactly six fractional digits. */
export function formatMicroTime(milliseconds: number): string {
  const millis = Math.trunc(milliseconds) - Math.floor(milliseconds / 1000) * 1000;
  return `${wholeSeconds(milliseconds).text}.${String(millis).padStart(3, '0')}000Z`;
}

const rfc3339Pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const timeLayout = '2006-01-02T15:04:05Z07:00';
const microTimeLayout = '2006-01-02T15:04:05.000000Z07:00';

/** Times as the API writes them: RFC 3339, whole seconds, UTC. */
export class TimeError extends Error {}

function refuse(text: string, layout: string, rest: string, element: string): never {
  throw new TimeError(
    `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${element}"`,
  );
}

/** Times that were normalised lately: objects carry theirs from one write to the next. */
const normalised = new Map<string, string>();
const normalisedMax = 4096;

/** Any RFC 3339 time, normalised to UTC seconds; a fraction is dropped. Throws TimeError. */
export function normaliseTime(text: string): string {
  const known = normalised.get(text);
  if (known !== undefined) return known;
  const time = readTime(text);
  if (normalised.size >= normalisedMax) normalised.clear();
  normalised.set(text, time);
  return time;
}

function readTime(text: string): string {
  const parts = rfc3339Pattern.exec(text);
  const instant = parts ? Date.parse(`${parts[1]}${parts[3]}`) : Number.NaN;
  if (Number.isNaN(instant)) refuse(text, timeLayout, text, '2006');
  return formatTime(instant);
}

/** A time with exactly six fractional digits, normalised to UTC. Throws TimeError. */
export function normaliseMicroTime(text: string): string {
  const parts = rfc3339Pattern.exec(text);
  const instant = parts ? Date.parse(`${parts[1]}${parts[3]}`) : Number.NaN;
  if (!parts || Number.isNaN(instant)) {
    const seconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(text)?.[0];
    if (seconds === undefined) refuse(text, microTimeLayout, text, '2006');
    refuse(text, microTimeLayout, text.slice(seconds.length), '.000000');
  }
  const fraction = parts[2] ?? '';
  if (fraction.length < 7) refuse(text, microTimeLayout, `${fraction}${parts[3]}`, '.000000');
  if (fraction.length > 7) {
    refuse(text, microTimeLayout, `${fraction.slice(7)}${parts[3]}`, 'Z07:00');
  }
  return `${formatTime(instant).slice(0, 19)}${fraction}Z`;
}

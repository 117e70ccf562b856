// Recordings of a cluster: a snapshot, and then, a line each, what changed.
import { formatTimeMillis, type Instant, parseTime } from '@taintmgr/core/time';
import type { KubeObject } from '@taintmgr/sim-cluster';

/** One line of a recording. `at` is by the clock of the recorder. */
export type RecordingLine =
  /** From now on all is written down that changes of these kinds. */
  | { readonly at: Instant; readonly type: 'BEGIN'; readonly kinds: readonly string[] }
  | {
      readonly at: Instant;
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      /** Of one that is gone only its name. */
      readonly object: KubeObject;
      /** The change happened at some time after that, in a gap; left out: just then. */
      readonly after?: Instant;
    }
  /** Nothing of a kind was heard from `after` to `at`. */
  | { readonly at: Instant; readonly type: 'GAP'; readonly kind: string; readonly after: Instant }
  | { readonly at: Instant; readonly type: 'END'; readonly reason: RecordingEnd };

/** The reason why a recording ends: Ctrl-C, the time that was asked for, or a bound of bytes or lines. */
export type RecordingEnd = 'interrupted' | 'time' | 'bytes' | 'lines';

/** The text of a line, without its break. Objects are what the shapes of a snapshot keep of them. */
export function recordingText(line: RecordingLine): string {
  const { at, type, ...rest } = line;
  const after =
    'after' in rest && rest.after !== undefined ? { after: formatTimeMillis(rest.after) } : {};
  return JSON.stringify({ at: formatTimeMillis(at), type, ...rest, ...after });
}

/** Where the lines begin in the text of a recording, after the snapshot; -1: it is none. */
export function linesFrom(text: string): number {
  return text.search(/^\{"at":"[^"]*","type":"(?:BEGIN|ADDED|MODIFIED|DELETED|GAP|END)"/m);
}

/** Reads one line; null: it is not of a recording. */
export function recordingLine(text: string): RecordingLine | null {
  return recordingLineIn(parsed(text));
}

/** The same of a line that was parsed. */
export function recordingLineIn(value: Readonly<Record<string, unknown>>): RecordingLine | null {
  const at = timeOf(value.at);
  const after = timeOf(value.after);
  if (at === null) return null;
  switch (value.type) {
    case 'BEGIN':
      return { at, type: value.type, kinds: textsOf(value.kinds) };
    case 'GAP':
      if (after === null || typeof value.kind !== 'string') return null;
      return { at, type: value.type, kind: value.kind, after };
    case 'END':
      return isEnd(value.reason) ? { at, type: value.type, reason: value.reason } : null;
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (!isObject(value.object)) return null;
      return { at, type: value.type, object: value.object, ...(after !== null && { after }) };
    default:
      return null;
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function timeOf(value: unknown): Instant | null {
  return typeof value === 'string' ? parseTime(value) : null;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

const ends: readonly RecordingEnd[] = ['interrupted', 'time', 'bytes', 'lines'];

function isEnd(value: unknown): value is RecordingEnd {
  return ends.some((end) => end === value);
}

/** Tells whether a value is an object of the API, as far as its kind and name go. */
export function isObject(value: unknown): value is KubeObject {
  if (typeof value !== 'object' || value === null || !('metadata' in value)) return false;
  const { metadata } = value;
  const hasKind = 'kind' in value && typeof value.kind === 'string';
  return hasKind && typeof metadata === 'object' && metadata !== null && 'name' in metadata;
}

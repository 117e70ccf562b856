// What the readers of several kinds need: metadata, durations and times.
import { type Instant, type Millis, parseDuration, parseTime } from '../../kernel/time.ts';

/** What of an object's metadata the engine needs. */
export interface Metadata {
  readonly name: string;
  /** '' where it comes from a file. */
  readonly uid: string;
  readonly generation: number;
  readonly created: Instant | null;
  /** Whether somebody has deleted it, and it is there until its finalizers are gone. */
  readonly isDeleted: boolean;
  readonly finalizers: readonly string[];
}

/** A duration that the schema has let pass, in whole milliseconds; null: there is none. */
export function durationOf(text: string | undefined): Millis | null {
  const length = text === undefined ? null : parseDuration(text);
  return length === null ? null : Math.ceil(length);
}

/** A time that the schema has let pass, which takes lower case and any number of digits. */
export function timeOf(text: string | undefined): Instant | null {
  return text === undefined ? null : parseTime(text.toUpperCase().replace(/([.]\d{9})\d+/, '$1'));
}

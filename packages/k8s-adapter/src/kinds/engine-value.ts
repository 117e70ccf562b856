// Turns a value that its schema allows into what the engine takes: durations into milliseconds, times
// into instants.

import { type Instant, type Millis, parseDuration, parseTime } from '@taintmgr/core/time';
import type { Schema, TypeOf } from './schema.ts';

/** The form in a value of texts in a manifest. */
interface Units {
  readonly duration: Millis;
  readonly time: Instant;
  readonly integerOrString: number | `${number}%`;
}

export type ValueOf<S> = TypeOf<S, Units>;

/** `allowed`: as `judge` has let it pass. */
export function engineValue<S extends Schema>(schema: S, allowed: object): ValueOf<S> {
  return converted(schema, allowed) as ValueOf<S>;
}

function converted(schema: Schema, value: unknown): unknown {
  switch (schema.type) {
    case 'string':
      if (typeof value !== 'string' || !schema.unit) return value;
      return schema.unit === 'duration' ? durationOf(value) : timeOf(value);
    case 'integerOrString':
      return typeof value === 'string' ? `${Number(value.slice(0, -1))}%` : value;
    case 'array':
      return Array.isArray(value) ? value.map((item) => converted(schema.items, item)) : value;
    case 'object': {
      const entries = Object.entries(value ?? {}).map(([name, each]) => {
        const member = schema.properties[name];
        return [name, member ? converted(member, each) : each];
      });
      return Object.fromEntries(entries);
    }
    default:
      return value;
  }
}

/** A duration that the schema has accepted, in whole milliseconds; null: there is none. */
export function durationOf(text: string | undefined): Millis | null {
  const length = text === undefined ? null : parseDuration(text);
  return length === null ? null : Math.ceil(length);
}

/** A time that the schema has let pass, which takes lower case and any number of digits. */
export function timeOf(text: string | undefined): Instant | null {
  return text === undefined ? null : parseTime(text.toUpperCase().replace(/([.]\d{9})\d+/, '$1'));
}

/** The part of an object's metadata that the engine needs. */
export interface Metadata {
  readonly name: string;
  /** '' where it comes from a file. */
  readonly uid: string;
  readonly generation: number;
  readonly created: Instant | null;
  /** True when it was deleted, and is there until its finalizers are gone. */
  readonly isDeleted: boolean;
  readonly finalizers: readonly string[];
}

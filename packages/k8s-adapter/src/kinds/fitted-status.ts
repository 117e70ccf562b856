// Cuts a status to what its schema has room for, where it is better to say less than nothing.
import { type KindName, policyKinds, type StatusOf } from './kinds.ts';
import type { Schema } from './schema.ts';

/** A status cut to what the API server takes. */
export function fittedStatus<K extends KindName>(kind: K, status: StatusOf[K]): Fitted {
  return fitted(policyKinds[kind].status, status);
}

/** A value that fits, and how many entries of which list or map had no room. */
export interface Fitted {
  readonly value: unknown;
  readonly leftOut: Readonly<Record<string, number>>;
}

/** The end of a text that was cut. */
const ellipsis = '...';

/**
 * The value without the excess: entries beyond the bounds of lists and maps, entries of a list
 * whose key is there already, and the ends of long texts. Members that no schema knows are left
 * out.
 */
export function fitted(schema: Schema, value: unknown): Fitted {
  const leftOut = new Map<string, number>();
  const fittedValue = fit(schema, value, '', leftOut);
  return { value: fittedValue, leftOut: Object.fromEntries(leftOut) };
}

function fit(schema: Schema, value: unknown, path: string, leftOut: Map<string, number>): unknown {
  const note = (count: number): void => {
    if (count > 0) leftOut.set(path, (leftOut.get(path) ?? 0) + count);
  };
  switch (schema.type) {
    case 'array': {
      if (!Array.isArray(value)) return value;
      const { items, maxItems, mapKeys = [] } = schema;
      const all = value.map((item) => fit(items, item, path, leftOut));
      const kept = withoutTwins(all, mapKeys).slice(0, maxItems);
      note(all.length - kept.length);
      return kept;
    }
    case 'map': {
      const entries = entriesOf(value);
      note(entries.length - schema.maxProperties);
      const kept = entries.slice(0, schema.maxProperties);
      const { values } = schema;
      return Object.fromEntries(kept.map(([key, one]) => [key, fit(values, one, path, leftOut)]));
    }
    case 'object': {
      const { properties } = schema;
      const known = entriesOf(value).flatMap(([name, one]) => {
        const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (property === undefined || one === undefined) return [];
        const below = path === '' ? name : `${path}.${name}`;
        return [[name, fit(property, one, below, leftOut)] as const];
      });
      return Object.fromEntries(known);
    }
    case 'string':
      return typeof value === 'string' ? cut(value, schema.maxLength) : value;
    default:
      return value;
  }
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return value instanceof Object ? Object.entries(value) : [];
}

/** The API server refuses a list whose entries are not told apart by their keys. */
function withoutTwins(items: readonly unknown[], keys: readonly string[]): readonly unknown[] {
  if (keys.length === 0) return items;
  const seen = new Set<string>();
  return items.filter((item) => {
    const members = new Map(entriesOf(item));
    const key = JSON.stringify(keys.map((name) => members.get(name)));
    return seen.size < seen.add(key).size;
  });
}

/** The API server counts code points, as this does. */
function cut(text: string, lengthMax: number = Number.POSITIVE_INFINITY): string {
  if (text.length <= lengthMax) return text;
  const points = Array.from(text);
  if (points.length <= lengthMax) return text;
  return [...points.slice(0, lengthMax - ellipsis.length), ellipsis].join('');
}

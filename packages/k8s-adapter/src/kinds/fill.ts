// A value as the API server stores it: null is left out, defaults are filled in, and what no schema
// knows is a fault.
import { type ManifestFault, type Path, unknownField } from './fault.ts';
import { resolved } from './resolved.ts';
import type { ObjectSchema, Schema } from './schema.ts';

/**
 * What the value is with its defaults; `faults` gets the fields that nobody knows. Null: no schema
 * is for it, since what is around it is of another type than it should be.
 */
export function filled(
  schema: Schema | null,
  value: unknown,
  path: Path,
  faults: ManifestFault[],
): unknown {
  const meant = schema && resolved(schema);
  if (Array.isArray(value)) {
    const items = meant?.type === 'array' ? meant.items : null;
    return value.map((item, index) => filled(items, item, [...path, index], faults));
  }
  if (!isRecord(value)) return value;
  if (meant?.type === 'object') return filledObject(meant, value, path, faults);
  if (meant?.type !== 'map') {
    faults.push(...Object.keys(value).map((name) => unknownField([...path, name])));
    return {};
  }
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(
    entries.map(([name, each]) => [name, filled(meant.values, each, [...path, name], faults)]),
  );
}

function filledObject(
  { properties }: ObjectSchema,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  faults: ManifestFault[],
): unknown {
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(properties, name)) faults.push(unknownField([...path, name]));
  }
  const entries = Object.entries(properties).flatMap(([name, schema]) => {
    const given = Object.hasOwn(value, name) ? value[name] : null;
    const member = given ?? resolved(schema).default ?? null;
    return member === null
      ? []
      : [[name, filled(schema, member, [...path, name], faults)] as const];
  });
  return Object.fromEntries(entries);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// The rules of a schema: what must hold beyond types and bounds.
import { invalid, type ManifestFault, type Path } from './fault.ts';
import { isRecord } from './fill.ts';
import { type PlainSchema, resolved } from './resolved.ts';
import type { Rule, Schema } from './schema.ts';

/** The rules that a value of the right types breaks, from the outside in. */
export function brokenRules(schema: Schema, value: unknown, path: Path): readonly ManifestFault[] {
  const meant = resolved(schema);
  const own = (meant.rules ?? []).filter((rule) => !holds(rule, value));
  const faults = own.map((rule) => faultOf(rule, value, path));
  const below = partsOf(meant, value).flatMap(([step, part, each]) =>
    brokenRules(part, each, [...path, step]),
  );
  return [...faults, ...below, ...brokenInMap(meant, value, path)];
}

/** The rule as the API server is given it. */
export function celOf(rule: Rule): string {
  return 'matches' in rule ? `self.matches('${rule.matches}')` : rule.cel;
}

function holds(rule: Rule, value: unknown): boolean {
  if ('matches' in rule) return typeof value === 'string' && new RegExp(rule.matches).test(value);
  return rule.holds(value);
}

function faultOf(rule: Rule, value: unknown, path: Path): ManifestFault {
  const { fieldPath = '' } = 'matches' in rule ? {} : rule;
  if (fieldPath === '') return invalid(path, value, rule.message);
  return invalid([...path, ...fieldPath.slice(1).split('.')], undefined, rule.message);
}

/** The same of the values of a map: the API server names their keys in brackets. */
function brokenInMap(schema: PlainSchema, value: unknown, path: Path): readonly ManifestFault[] {
  if (schema.type !== 'map' || !isRecord(value)) return [];
  const [above, last = ''] = [path.slice(0, -1), path.at(-1)];
  return Object.entries(value).flatMap(([key, each]) =>
    brokenRules(schema.values, each, [...above, `${last}[${key}]`]),
  );
}

type Part = readonly [step: string | number, schema: Schema, value: unknown];

/** What there is of members and items. */
function partsOf(schema: PlainSchema, value: unknown): readonly Part[] {
  if (schema.type === 'array' && Array.isArray(value)) {
    return value.map((item, index): Part => [index, schema.items, item]);
  }
  if (schema.type !== 'object' || !isRecord(value)) return [];
  const given = Object.entries(schema.properties).filter(([name]) => Object.hasOwn(value, name));
  return given.map(([name, member]): Part => [name, member, value[name]]);
}

// Whether the default of a schema is a value that the schema allows.
import type { Cause, Json } from '@taintmgr/sim-cluster/server';
import { invalidValue, sortedCopy } from '@taintmgr/sim-cluster/server';
import { embeddedCauses } from './embedded.ts';
import type { JsonSchema } from './json-schema.ts';
import { readValue } from './read.ts';
import { compileRules, judge, type RuleError } from './rules.ts';
import { validateValue } from './validate.ts';

/** What is wrong with the default of a schema that stands at `path`. */
export function validateDefault(schema: JsonSchema, path: string): readonly Cause[] {
  const { default: given } = schema;
  if (given === undefined || given === null) return [];
  const unknown: string[] = [];
  const field = `${path}.default`;
  // As it stands: defaults within it are filled in for objects, not here.
  readValue(schema, given, '', { defaults: false, unknown });
  const value = sortedCopy(given);
  const text = 'must not have unknown fields';
  return [
    ...(unknown.length > 0 ? [invalidValue(field, value, text)] : []),
    ...valueCauses(schema, value, field),
  ];
}

function valueCauses(schema: JsonSchema, value: Json, field: string): readonly Cause[] {
  const at = (cause: Cause): Cause => {
    const isHere = !cause.field || cause.field === '<nil>';
    return { ...cause, field: isHere ? field : `${field}.${cause.field}` };
  };
  const embedded = embeddedCauses(schema, value, field);
  if (embedded.length > 0) return embedded;
  const causes = validateValue(schema, value, '').map(at);
  if (causes.length > 0) return causes;
  const errors: RuleError[] = [];
  const rules = compileRules(schema, errors, '', false);
  const unusable = errors
    .filter(({ path: place, member }) => place === '' && member === 'rule')
    .map(({ error }) => invalidValue(field, schema.type ?? '', `rule compile error: ${error}`));
  if (!rules) return unusable;
  // As a value that stays, and as one that is new.
  const kept = judge(rules, value, '', value);
  const broken = kept.length > 0 ? kept : judge(rules, value, '');
  return [...unusable, ...broken.map(at)];
}

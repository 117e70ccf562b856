// Whether the default of a schema is a value that the schema allows.
import type { Cause } from '../objects/errors.ts';
import { invalidValue } from '../validation/causes.ts';
import type { JsonSchema } from './json-schema.ts';
import { readValue } from './read.ts';
import { compileRules, judge } from './rules.ts';
import { validateValue } from './validate.ts';

/** What is wrong with the default of a schema that stands at `path`. */
export function validateDefault(schema: JsonSchema, path: string): readonly Cause[] {
  const { default: given } = schema;
  if (given === undefined || given === null) return [];
  const unknown: string[] = [];
  const field = `${path}.default`;
  // As it stands: defaults within it are filled in for objects, not here.
  const read = readValue(schema, given, '', { defaults: false, unknown });
  if (unknown.length > 0) return [invalidValue(field, given, 'must not have unknown fields')];
  const at = (cause: Cause): Cause => {
    const isHere = !cause.field || cause.field === '<nil>';
    return { ...cause, field: isHere ? field : `${field}.${cause.field}` };
  };
  const causes = validateValue(schema, read, '').map(at);
  if (causes.length > 0) return causes;
  // Rules that do not compile are reported where they stand.
  const rules = compileRules(schema, [], '', false);
  return rules ? judge(rules, read, '').map(at) : [];
}

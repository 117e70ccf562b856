// What a schema says by allOf, anyOf, oneOf and not.
import type { Cause, Json } from '@taintmgr/sim-cluster/server';
import { invalidValue } from '@taintmgr/sim-cluster/server';
import type { JsonSchema } from './json-schema.ts';

type Validate = (schema: JsonSchema, value: Json, path: string) => readonly Cause[];

/** What is wrong with a value by the combinations of its schema. */
export function validateCombinations(
  schema: JsonSchema,
  value: Json,
  path: string,
  validate: Validate,
): readonly Cause[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const causes: Cause[] = [];
  const refuse = (text: string) =>
    causes.push(invalidValue('<nil>', '', `${JSON.stringify(path)} ${text}`));
  if (anyOf.length > 0) {
    const tried = anyOf.map((choice) => validate(choice, value, path));
    if (tried.every((found) => found.length > 0)) {
      refuse('must validate at least one schema (anyOf)');
      causes.push(...(tried[0] ?? []));
    }
  }
  if (oneOf.length > 0) {
    const tried = oneOf.map((choice) => validate(choice, value, path));
    const valid = tried.filter((found) => found.length === 0).length;
    const rule = 'must validate one and only one schema (oneOf).';
    if (valid === 0) {
      refuse(`${rule} Found none valid`);
      causes.push(...(tried[0] ?? []));
    }
    if (valid > 1) refuse(`${rule} Found ${valid} valid alternatives`);
  }
  const failed = allOf
    .map((part) => validate(part, value, path))
    .filter(({ length }) => length > 0);
  if (failed.length > 0) {
    const none = failed.length === allOf.length ? '. None validated' : '';
    refuse(`must validate all the schemas (allOf)${none}`);
    causes.push(...failed.flat());
  }
  if (not && validate(not, value, path).length === 0) {
    refuse('must not validate the schema (not)');
  }
  return causes;
}

// What the root of a schema may say where the status is a subresource: the status is checked on its
// own there, so nothing that takes in the whole object.
import type { Cause } from '@taintmgr/sim-cluster/server';
import { invalidValue } from '@taintmgr/sim-cluster/server';
import type { JsonSchema } from './json-schema.ts';

const allowed = [
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength',
  'MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties',
  'ExternalDocs Example XPreserveUnknownFields XValidations',
].join(' ');
const text = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
const typeText =
  'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
const names: ReadonlySet<string> = new Set(allowed.split(' ').map((name) => name.toLowerCase()));

/** What is wrong with the root of a schema, `path` being where it stands. */
export function validateRoot(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  if (schema.type && schema.type !== 'object') {
    causes.push(invalidValue(`${path}.type`, schema.type, typeText));
  }
  const isOther = ([member, value]: readonly [string, unknown]): boolean =>
    !names.has(goName(member)) && ![undefined, null, false, ''].includes(value as string);
  if (causes.length === 0 && Object.entries(schema).some(isOther)) {
    causes.push(invalidValue(path, schema, text));
  }
  return causes;
}

/** x-kubernetes-validations is XValidations. */
function goName(member: string): string {
  return member
    .replace(/^x-kubernetes-/, 'x')
    .replaceAll('-', '')
    .toLowerCase();
}

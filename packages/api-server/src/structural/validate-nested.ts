// What schemas within allOf, anyOf, oneOf and not may say: they restrict values, and describe nothing.

import type { Cause } from '@taintmgr/sim-cluster/server';
import { equal, forbiddenValue } from '@taintmgr/sim-cluster/server';
import { itemsSchema, type JsonSchema } from './json-schema.ts';

const empty = 'must be empty to be structural';
const undefinedText = 'must be undefined to be structural';
const falseText = 'must be false to be structural';

/** What a restricting schema may not have, and how that is said. */
const forbidden: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', empty],
  ['additionalProperties', undefinedText],
  ['default', undefinedText],
  ['title', empty],
  ['description', empty],
  ['nullable', falseText],
  ['x-kubernetes-preserve-unknown-fields', falseText],
  ['x-kubernetes-embedded-resource', falseText],
  ['x-kubernetes-int-or-string', falseText],
  ['x-kubernetes-list-map-keys', empty],
  ['x-kubernetes-list-type', undefinedText],
  ['x-kubernetes-map-type', undefinedText],
  ['x-kubernetes-validations', empty],
];

/** The two ways in which an int-or-string may say its types again. */
const bothTypes = [{ type: 'integer' }, { type: 'string' }];

/** Schemas within others, `path` being that of the outer one. */
export function validateNested(schema: JsonSchema, path: string): readonly Cause[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const saysTypes = (list: readonly JsonSchema[] | undefined): boolean =>
    equal((list ?? []) as never, bothTypes as never);
  return [
    ...(saysTypes(anyOf)
      ? []
      : anyOf.flatMap((part, index) => partCauses(part, `${path}.anyOf[${index}]`))),
    ...allOf.flatMap((part, index) => {
      const isTypes = index === 0 && saysTypes(part.anyOf);
      const { anyOf: _types, ...rest } = part;
      return partCauses(isTypes ? rest : part, `${path}.allOf[${index}]`);
    }),
    ...oneOf.flatMap((part, index) => partCauses(part, `${path}.oneOf[${index}]`)),
    ...(not ? partCauses(not, `${path}.not`) : []),
  ];
}

function partCauses(part: JsonSchema, path: string): readonly Cause[] {
  const items = itemsSchema(part);
  const own = forbidden.flatMap(([member, text]) => {
    const value = part[member];
    const isSaid = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
    return isSaid && value !== false ? [forbiddenValue(`${path}.${member}`, text)] : [];
  });
  const metadata = Object.hasOwn(part.properties ?? {}, 'metadata')
    ? [forbiddenValue(`${path}.properties[metadata]`, 'must not be specified in a nested context')]
    : [];
  return [
    ...validateNested(part, path),
    ...(items ? partCauses(items, `${path}.items`) : []),
    ...Object.entries(part.properties ?? {}).flatMap(([name, inner]) =>
      partCauses(inner, `${path}.properties[${name}]`),
    ),
    ...own,
    ...metadata,
  ];
}

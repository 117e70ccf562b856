// Specs that a schema allows, the odd ones of them too: whatever an API server may let pass.
import fc from 'fast-check';
import type { ObjectSchema, Schema, StringSchema } from '../../src/kinds/schema.ts';
import { brokenRules, filled } from '../../src/kinds/validation.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Any of them; `sometimes` are values of members, by their names, that are taken often. */
export function legalSpecs(
  schema: ObjectSchema,
  sometimes: Readonly<Record<string, readonly unknown[]>> = {},
): fc.Arbitrary<unknown> {
  return valuesOf(schema, sometimes);
}

/** What breaks a rule is left out where the rule stands, so that not much is made in vain. */
function valuesOf(schema: Schema, sometimes: Fields): fc.Arbitrary<unknown> {
  const values = rawValues(schema, sometimes);
  if (!schema.rules) return values;
  return values.filter((value) => {
    const whole = filled(schema, value, [], []);
    return brokenRules(schema, whole, []).length === 0;
  });
}

function rawValues(schema: Schema, sometimes: Fields): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      return texts(schema);
    case 'number': {
      const { minimum: min = -1000, maximum: max = 1000, exclusiveMinimum } = schema;
      return fc.double({ min, max, minExcluded: exclusiveMinimum === true, noNaN: true });
    }
    case 'integer': {
      const { minimum: min = -1000, maximum: max = 1000 } = schema;
      return fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
    }
    case 'boolean':
      return fc.boolean();
    case 'integerOrString':
      return fc.constantFrom(0, 1, 2, 10_000, 1_000_000, '0%', '1%', '07%', '99%', '100%');
    case 'array': {
      const maxLength = Math.min(schema.maxItems, 3);
      const { minItems: minLength = 0 } = schema;
      return fc.array(valuesOf(schema.items, sometimes), { minLength, maxLength });
    }
    case 'map':
      return fc.dictionary(fc.constantFrom('pool', 'ring'), valuesOf(schema.values, sometimes));
    case 'object':
      return objects(schema, sometimes);
  }
}

function objects({ properties, required = [] }: ObjectSchema, sometimes: Fields) {
  const members = Object.entries(properties).map(([name, member]) => {
    const often = sometimes[name];
    const any = valuesOf(member, sometimes);
    return [name, Array.isArray(often) ? fc.oneof(fc.constantFrom(...often), any) : any] as const;
  });
  return fc.record(Object.fromEntries(members), { requiredKeys: [...required] });
}

const times = [
  '0001-01-01T00:00:00Z',
  '1970-01-01T00:00:20Z',
  '2026-01-01t00:00:00.1234567890123z',
  '9999-12-31T23:59:59-23:59',
];
const lengths = ['0', '0s', '0.000001ms', '1ms', '10s', '1h30m', '999999h999999h999999h999999h'];

function texts(schema: StringSchema): fc.Arbitrary<string> {
  const { enum: words, format, unit, minLength = 0, maxLength = 16, rules = [] } = schema;
  if (words) return fc.constantFrom(...words);
  if (format === 'date-time') return fc.constantFrom(...times);
  if (unit === 'duration') return fc.constantFrom(...lengths);
  const [pattern] = rules.flatMap((rule) => ('matches' in rule ? rule.matches : []));
  if (pattern === undefined) return fc.string({ minLength, maxLength: Math.min(maxLength, 16) });
  const matching = fc.stringMatching(new RegExp(pattern), { size: 'small' });
  return matching.filter(({ length }) => length <= maxLength);
}

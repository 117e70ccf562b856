// Schemas that a definition may not have, and in which words they are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, KubeObject } from '@taintmgr/sim-cluster';
import type { JsonSchema } from '../../src/structural/json-schema.ts';
import { compileRules, judge } from '../../src/structural/rules.ts';
import { definitionWarnings, validateRoot } from '../../src/structural/validate-definition.ts';
import { validateSchema } from '../../src/structural/validate-schema.ts';

const object = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
});
const causes = (schema: JsonSchema): readonly string[] =>
  validateSchema(schema, 's').map(({ field, message }) => `${field}: ${message}`);

const text = { type: 'string' };
const pair = object({ k: text });
const listOf = (items: JsonSchema, more: object = {}): JsonSchema => ({
  type: 'array',
  items,
  ...more,
});
const mapList = (keys: readonly string[], items: JsonSchema): JsonSchema =>
  listOf(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
const required = { ...pair, required: ['k'] };

/** The schema of property `a`, and what is wrong with it. */
const parts: readonly (readonly [string, JsonSchema, readonly string[]])[] = [
  [
    'an embedded resource that is no object',
    { ...text, 'x-kubernetes-embedded-resource': true },
    [
      'type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
      'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
  ],
  [
    'an embedded resource with values',
    { type: 'object', 'x-kubernetes-embedded-resource': true, additionalProperties: text },
    [
      'additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
      'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
  ],
  [
    'an int-or-string that keeps what is unknown',
    { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
    [
      'x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
    ],
  ],
  [
    'an int-or-string that says so again',
    {
      'x-kubernetes-int-or-string': true,
      allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^a' }],
    },
    [],
  ],
  [
    'an int-or-string that says it in another order',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] },
    [
      'anyOf[0].type: Forbidden: must be empty to be structural',
      'anyOf[1].type: Forbidden: must be empty to be structural',
    ],
  ],
  [
    'restrictions that describe',
    {
      ...text,
      not: { nullable: true, title: 'T', default: 'a', 'x-kubernetes-list-type': 'set' },
      oneOf: [{ properties: { metadata: { type: 'object' } } }],
      allOf: [{ items: { 'x-kubernetes-validations': [{ rule: 'true' }] } }],
    },
    [
      'allOf[0].items.x-kubernetes-validations: Forbidden: must be empty to be structural',
      'oneOf[0].properties[metadata].type: Forbidden: must be empty to be structural',
      'oneOf[0].properties[metadata]: Forbidden: must not be specified in a nested context',
      'not.default: Forbidden: must be undefined to be structural',
      'not.title: Forbidden: must be empty to be structural',
      'not.nullable: Forbidden: must be false to be structural',
      'not.x-kubernetes-list-type: Forbidden: must be undefined to be structural',
      'not.type: Required value: must be array if x-kubernetes-list-type is specified',
    ],
  ],
  [
    'items without a type',
    listOf({}),
    ['items.type: Required value: must not be empty for specified array items'],
  ],
  [
    'a map type on a list',
    listOf(text, { 'x-kubernetes-map-type': 'atomic' }),
    ['type: Invalid value: "array": must be object if x-kubernetes-map-type is specified'],
  ],
  [
    'a list type on an object',
    { ...pair, 'x-kubernetes-list-type': 'set' },
    ['type: Invalid value: "object": must be array if x-kubernetes-list-type is specified'],
  ],
  [
    'keys of a list that is no map',
    listOf(required, { 'x-kubernetes-list-map-keys': ['k'] }),
    [
      'x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
    ],
  ],
  [
    'keys twice',
    mapList(['k', 'k'], required),
    ['x-kubernetes-list-map-keys: Invalid value: ["k","k"]: must not contain duplicate entries'],
  ],
  [
    'keys and items that may be null',
    mapList(['k'], {
      ...object({ k: { ...text, nullable: true } }),
      required: ['k'],
      nullable: true,
    }),
    [
      'items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
      'items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
  ],
  [
    'a default that its rules refuse',
    { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 2' }] },
    ['default: Invalid value: 1: failed rule: self > 2'],
  ],
  [
    'a default whose own defaults its rules would need',
    {
      type: 'object',
      default: {},
      properties: { on: { type: 'boolean', default: true } },
      'x-kubernetes-validations': [{ rule: 'self.on', message: 'want it on' }],
    },
    ['default: Invalid value: "object": no such key: on evaluating rule: want it on'],
  ],
  [
    'a default without what is required, which has a default',
    {
      type: 'object',
      default: {},
      required: ['on'],
      properties: { on: { type: 'boolean', default: true } },
    },
    ['default.on: Required value'],
  ],
  [
    'a pattern that Go does not know',
    { ...text, pattern: '^(?!x)' },
    [
      'pattern: Invalid value: "^(?!x)": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?!`',
    ],
  ],
  [
    'rules of what has no type',
    {
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-validations': [{ rule: 'true' }],
    },
    [
      'x-kubernetes-validations: Internal error: internal error: failed to retrieve type information for x-kubernetes-validations',
    ],
  ],
  [
    'a default that has more than its schema, of a wrong type, and rules that do not compile',
    { ...pair, default: { k: 1, more: 2 }, 'x-kubernetes-validations': [{ rule: 'self.b' }] },
    [
      'default: Invalid value: {"k":1,"more":2}: must not have unknown fields',
      'default.k: Invalid value: "integer": k in body must be of type string: "integer"',
    ],
  ],
  [
    'a default whose rules do not compile',
    { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self.b' }] },
    [
      'default: Invalid value: "integer": rule compile error: compilation failed: ERROR: <input>:1:5: type \'int\' does not support field selection\n | self.b\n | ....^',
    ],
  ],
  [
    'wrong defaults of the values of a map: nobody looks',
    { type: 'object', additionalProperties: { ...text, default: 'x', enum: ['a'] } },
    [],
  ],
  [
    'a default where the schema is not structural: nobody looks',
    { ...object({ k: {} }), default: 1 },
    ['properties[k].type: Required value: must not be empty for specified object fields'],
  ],
  [
    'rules without a form, whatever else is wrong',
    {
      ...object({ k: {} }),
      'x-kubernetes-validations': [
        { rule: 'true', message: ' ', reason: 'Nope', fieldPath: '.x' },
        { rule: 'true', message: 'a\nb', messageExpression: ' ' },
        { rule: ' ' },
      ],
    },
    [
      'properties[k].type: Required value: must not be empty for specified object fields',
      'x-kubernetes-validations[0].message: Invalid value: " ": must be non-empty if specified',
      'x-kubernetes-validations[0].reason: Unsupported value: "Nope": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
      'x-kubernetes-validations[0].fieldPath: Invalid value: ".x": must be a valid path',
      'x-kubernetes-validations[1].message: Invalid value: "a\\nb": must not contain line breaks',
      'x-kubernetes-validations[1].messageExpression: Required value: messageExpression must be non-empty if specified',
      'x-kubernetes-validations[2].rule: Required value: rule is not specified',
    ],
  ],
  [
    'a message that does not compile',
    { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', messageExpression: '1' }] },
    [
      'x-kubernetes-validations[0].messageExpression: Invalid value: {"Rule":"true","Message":"","MessageExpression":"1","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string',
    ],
  ],
  [
    'what the server does not read at all',
    { ...object({ k: {} }), patternProperties: { a: text } },
    ['patternProperties: Forbidden: patternProperties is not supported'],
  ],
  [
    'a list of type map without keys, and items that are no objects',
    mapList([], text),
    [
      'x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
      'items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
    ],
  ],
  ['any values beside properties', { ...pair, additionalProperties: true }, []],
  ['an id', { ...text, id: 'x' }, ['id: Forbidden: id is not supported']],
];

for (const [name, schema, expected] of parts) {
  test(`${name}: ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(
      causes(object({ a: schema })),
      expected.map((cause) => `s.properties[a].${cause}`),
    );
  });
}

test('the root may not be null, nor have values, nor defaults of what every object has', () => {
  const root = object({ metadata: object({ name: { ...text, default: 'x' } }) });
  assert.deepEqual(causes({ ...root, nullable: true }), [
    's.nullable: Forbidden: nullable cannot be true at the root',
    's.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata',
  ]);
  assert.deepEqual(causes({ type: 'object', additionalProperties: text }), [
    's.additionalProperties: Forbidden: must not be used at the root',
  ]);
});

test('a rule does not see what is kept without a schema', () => {
  const free = { 'x-kubernetes-preserve-unknown-fields': true };
  const rule = { 'x-kubernetes-validations': [{ rule: 'has(self.free)' }] };
  const [cause = ''] = causes(object({ a: { ...object({ free }), ...rule } }));
  assert.match(cause, /undefined field 'free'/);
});

test('formats of texts that nobody knows are warned of, each once', () => {
  const schema = object({
    a: { ...text, format: 'made-up' },
    b: listOf({ ...text, format: 'made-up' }),
    c: { ...text, format: 'date-time' },
    d: { type: 'integer', format: 'int64' },
    e: { type: 'integer', format: 'date-time' },
  });
  const definition = { spec: { versions: [{ schema: { openAPIV3Schema: schema } }] } };
  assert.deepEqual(definitionWarnings(definition as unknown as KubeObject), [
    'unrecognized format "date-time"',
    'unrecognized format "made-up"',
  ]);
});

test('what goes wrong while a rule runs is told with the rule', () => {
  const ruled = (rule: string, part: JsonSchema): JsonSchema => ({
    ...part,
    'x-kubernetes-validations': [{ rule }],
  });
  const loops = 'self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d >= 0))))';
  const numbers = listOf({ type: 'integer' }, { maxItems: 60 });
  const cases: readonly (readonly [JsonSchema, Json, string])[] = [
    [
      ruled('self < 10', { 'x-kubernetes-int-or-string': true }),
      'x',
      `"": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self < 10`,
    ],
    [
      ruled('self[9] == 1', numbers),
      [1],
      '"array": index out of bounds: 9 evaluating rule: self[9] == 1',
    ],
    [
      ruled(loops, numbers),
      Array.from({ length: 60 }, () => 1),
      `"array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${loops}`,
    ],
  ];
  for (const [schema, value, expected] of cases) {
    const tree = compileRules(schema, [], '', false);
    assert.ok(tree);
    const said = judge(tree, value, 'f').map(({ field, message }) => `${field}: ${message}`);
    assert.deepEqual(said, [`f: Invalid value: ${expected}`]);
  }
});

const others =
  /^s: Invalid value: .*: only \[Description Type .* XValidations\] fields are allowed/u;
const roots: readonly (readonly [string, JsonSchema, RegExp | undefined])[] = [
  [
    'what is common',
    { ...pair, required: ['k'], description: 'A pair.', title: 'Pair' },
    undefined,
  ],
  ['rules', { ...pair, 'x-kubernetes-validations': [{ rule: 'true' }] }, undefined],
  ['unknown fields', { ...pair, 'x-kubernetes-preserve-unknown-fields': true }, undefined],
  ['members that say no', { ...pair, nullable: false }, undefined],
  ['alternatives', { ...pair, oneOf: [{ required: ['k'] }] }, others],
  ['a number of members', { ...pair, maxProperties: 9 }, others],
  ['a map type', { ...pair, 'x-kubernetes-map-type': 'atomic' }, others],
  [
    'another type',
    { type: 'array', oneOf: [] },
    /^s.type: Invalid value: "array": only "object" is/u,
  ],
];

for (const [name, schema, expected] of roots) {
  test(`the root of a schema with a status of its own: ${name}`, () => {
    const found = validateRoot(schema, 's').map(({ field, message }) => `${field}: ${message}`);
    assert.equal(found.length, expected ? 1 : 0, found.join('\n'));
    if (expected) assert.match(found.join('\n'), expected);
  });
}

test('a type that every object of JavaScript inherits is no type', () => {
  const schema = { openAPIV3Schema: { type: 'constructor', format: 'int32' } };
  const spec = { versions: [{ name: 'v1', schema }] };
  assert.deepEqual(definitionWarnings({ metadata: { name: 'a' }, spec } as unknown as KubeObject), [
    'unrecognized format "int32"',
  ]);
});

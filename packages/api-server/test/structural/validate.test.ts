// Values by their schema: formats, combinations, paths of columns, the order of versions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@taintmgr/sim-cluster';
import { hasFormat } from '../../src/cel/string-formats.ts';
import { byPriority } from '../../src/discovery/documents.ts';
import { yamlText } from '../../src/server/formats.ts';
import { findAll, parsePath } from '../../src/structural/json-path.ts';
import type { JsonSchema } from '../../src/structural/json-schema.ts';
import { readValue } from '../../src/structural/read.ts';
import { duplicateCauses, validateValue } from '../../src/structural/validate.ts';

const formats: readonly (readonly [string, string, string])[] = [
  ['duration', '1h30m 300ms 1.5s 2d 0', '5parsecs 1 h'],
  [
    'date-time',
    '2026-01-01T00:00:00Z 2026-01-01T00:00:00.5+02:00',
    '2026-01-01 2026-13-01T00:00:00Z 2026-02-30T18:00:00Z',
  ],
  ['date', '2026-02-28', '2026-02-30 26-1-1'],
  ['ipv4', '1.2.3.4', '300.1.1.1 ::1'],
  ['cidr', '10.0.0.0/8 fd00::/8', '10.0.0.0/33 10.0.0.0'],
  ['uuid', '8af1e9a9-145a-4315-8969-1bbd5d244c65', '8af1e9a9'],
  ['hostname', 'a.b-c.example', '-a a_b'],
  ['byte', 'YQ==', 'Y'],
  ['uuid4', '8af1e9a9-145a-4315-8969-1bbd5d244c65', '8af1e9a9-145a-5315-8969-1bbd5d244c65'],
  ['uuid3', '8af1e9a9145a331509691bbd5d244c65', '8af1e9a9-145a-4315-8969-1bbd5d244c65'],
  ['hexcolor', '#fff 00FF7f', '#ff'],
  ['rgbcolor', 'rgb(0,10,255)', 'rgb(0,10,256)'],
  ['ssn', '123-45-6789 123456789', '12-345-6789'],
  ['bsonobjectid', '507f1f77bcf86cd799439011', '507f1f77'],
  ['unheard-of', 'anything', ''],
];

for (const [format, good, bad] of formats) {
  test(`format ${format}`, () => {
    for (const text of good.split(' ')) assert.ok(hasFormat(format, text), text);
    for (const text of bad.split(' ').filter((word) => word !== '')) {
      assert.equal(hasFormat(format, text), false, text);
    }
  });
}

const causes = (schema: JsonSchema, value: Json): readonly string[] =>
  validateValue(schema, value, 'f').map(({ field, message }) => `${field}: ${message}`);

const integer = { type: 'integer' };
const time = { type: 'string', format: 'date-time' };
const wrongValues: readonly (readonly [string, JsonSchema, Json, readonly string[]])[] = [
  [
    'a fraction for an integer, out of its bounds',
    { ...integer, minimum: 1, enum: [5] },
    0.5,
    [
      'f: Invalid value: "number": f in body must be of type integer: "number"',
      'f: Unsupported value: 0.5: supported values: "5"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
      'f: Invalid value: 0.5: f in body should be greater than or equal to 1',
    ],
  ],
  [
    'more than 64 bits',
    { type: 'string' },
    1e21,
    ['f: Invalid value: "number": f in body must be of type string: "number"'],
  ],
  [
    'a number for a time',
    time,
    5,
    ['f: Invalid value: "int64": f in body must be of type date-time: "int64"'],
  ],
  [
    'an object for a time',
    time,
    {},
    ['f: Invalid value: "": f in body must be of type date-time: ""'],
  ],
  ['a list for a time', time, ['x'], []],
  [
    'a format of another type is none',
    { type: 'string', format: 'int32' },
    [],
    ['f: Invalid value: "array": f in body must be of type string: "array"'],
  ],
  [
    'one item and one byte',
    { maxItems: 1, items: { maxLength: 1 } },
    ['ab', 'c'],
    ['f: Too many: 2: must have at most 1 item', 'f[0]: Too long: may not be more than 1 byte'],
  ],
  [
    'a factor that is none',
    { ...integer, multipleOf: 0 },
    4,
    ['f: Invalid value: 0: factor MultipleOf declared for f must be positive: 0'],
  ],
  [
    'null, which is none of the words',
    { ...integer, nullable: true, enum: [1] },
    null,
    ['f: Unsupported value: null: supported values: "1"'],
  ],
  [
    'the wrong type, by which alternatives fail too',
    { type: 'object', not: { required: ['a'] } },
    'x',
    [
      'f: Invalid value: "string": f in body must be of type object: "string"',
      '<nil>: Invalid value: "": "f" must not validate the schema (not)',
    ],
  ],
];

for (const [name, schema, value, expected] of wrongValues) {
  test(`refused in all the words of the real server: ${name}`, () => {
    assert.deepEqual(causes(schema, value), expected);
  });
}

test('lists of values of a map are named by key in brackets where items are there twice', () => {
  const set: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: {} };
  const schema: JsonSchema = { properties: { a: { additionalProperties: set } } };
  const found = duplicateCauses(schema, { a: { 'x.y': [1, 1] } }, '');
  assert.deepEqual(
    found.map(({ field }) => field),
    ['a[x.y][1]'],
  );
});

test('anyOf, allOf and not', () => {
  const any = { anyOf: [{ minimum: 5 }, { maximum: 1 }] };
  assert.deepEqual(causes(any, 7), []);
  assert.deepEqual(causes(any, 3), [
    '<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)',
    'f: Invalid value: 3: f in body should be greater than or equal to 5',
  ]);
  assert.deepEqual(causes({ not: { minimum: 5 } }, 7), [
    '<nil>: Invalid value: "": "f" must not validate the schema (not)',
  ]);
  assert.equal(causes({ allOf: [{ minimum: 5 }, { maximum: 9 }] }, 3).length, 2);
});

test('a part that is as before may stay', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      rules: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { v: { type: 'integer', maximum: 5 } } },
      },
    },
  };
  const before = { rules: [{ k: 'a', v: 9 }] };
  const after = {
    rules: [
      { k: 'b', v: 1 },
      { k: 'a', v: 9 },
    ],
  };
  assert.deepEqual(validateValue(schema, after, '', before), []);
  assert.equal(validateValue(schema, { rules: [{ k: 'a', v: 8 }] }, '', before).length, 1);
});

test('members that the schema does not know are dropped, but for those it keeps', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'integer', default: 1 },
      raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      at: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: {} },
    },
  };
  const unknown: string[] = [];
  const value = { z: 1, raw: { y: 1 }, at: { kind: 'X', metadata: {}, w: 1 } };
  const read = readValue(schema, value, '', { defaults: true, unknown });
  assert.deepEqual(read, { a: 1, at: { kind: 'X', metadata: {} }, raw: { y: 1 } });
  assert.deepEqual(unknown, ['at.w', 'z']);
});

const status = {
  conditions: [
    { type: 'Other', status: 'False' },
    { type: 'Ready', status: 'True' },
  ],
  labels: { 'a.b/c': 'x' },
};
const paths: readonly (readonly [string, readonly Json[]])[] = [
  ['.conditions[?(@.type=="Ready")].status', ['True']],
  ['.conditions[?(@.type!="Ready")].status', ['False']],
  ['.conditions[*].type', ['Other', 'Ready']],
  ['.conditions[-1].type', ['Ready']],
  ['.labels.a\\.b/c', ['x']],
  [".labels['a.b/c']", ['x']],
  ['.nothing.at.all', []],
];

for (const [path, found] of paths) {
  test(`path ${path}`, () => assert.deepEqual(findAll(parsePath(path) ?? [], status), found));
}

test('what is no path', () => {
  for (const text of ['.a[', 'a', '.a[?(@.b)]', '..']) assert.equal(parsePath(text), null, text);
});

test('versions are in the order in which clients prefer them', () => {
  const versions = ['zeta', 'v1alpha1', 'v1beta2', 'v1', 'v10', 'v1beta1', 'alpha'];
  const sorted = ['v10', 'v1', 'v1beta2', 'v1beta1', 'v1alpha1', 'alpha', 'zeta'];
  assert.deepEqual(versions.toSorted(byPriority), sorted);
});

test('YAML has texts in quotes that would be read as something else', () => {
  const value = {
    kind: 'A',
    list: [{ a: 1, b: [] }, 'y'],
    text: 'true',
    when: '2026-01-01',
    e: {},
  };
  assert.equal(
    yamlText(value),
    'kind: A\nlist:\n- a: 1\n  b: []\n- "y"\ntext: "true"\nwhen: "2026-01-01"\ne: {}\n',
  );
});

// What expressions cost at worst: as the real server's own tests have it for sizes that are known, and without end where they are not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../src/cel/compile.ts';
import { listOf } from '../../src/cel/type.ts';
import { celTypeOf } from '../../src/structural/cel-types.ts';
import { sizesOf } from '../../src/structural/cost.ts';
import type { JsonSchema } from '../../src/structural/json-schema.ts';
import { validateSchema } from '../../src/structural/validate-schema.ts';

const text = { type: 'string' };
const short = { ...text, maxLength: 5 };
const schema: JsonSchema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    short,
    long: text,
    mode: { ...text, enum: ['a', 'abcdef'] },
    few: { type: 'array', maxItems: 10, items: { type: 'integer' } },
    words: { type: 'array', maxItems: 10, items: short },
    many: { type: 'array', items: text },
    map: { type: 'object', maxProperties: 3, additionalProperties: short },
    sub: { type: 'object', properties: { a: { type: 'integer' } } },
    when: { ...text, format: 'date-time' },
    either: { 'x-kubernetes-int-or-string': true, maxLength: 10 },
  },
};

// A name or a field costs one; a text of five characters may have twenty bytes.
const costs: readonly (readonly [string, number])[] = [
  ['true', 0],
  ['self.n == 1', 2],
  ['has(self.sub.a)', 2],
  ['self.n + 1 == 2', 4],
  ["self.short == 'ab'", 3],
  ['self.short == self.long', 6],
  ["self.mode == 'a' || self.n > 1", 6],
  ["self.short.startsWith('abcdefghijk')", 4],
  ["self.short.matches('^[a-z]+$')", 2 + 3 * 2],
  ["self.short.contains('a')", 2 + 2],
  ['(self.short + self.short).size() == 1', 4 + 4 + 1 + 1],
  ['self.n in self.few', 4 + 10],
  ['self.few.all(x, x > 1)', 2 + 10 * (3 + 2) + 1],
  ['self.few.exists(x, x > 1)', 2 + 10 * (4 + 2) + 1],
  ['self.few.exists_one(x, x > 1)', 2 + 10 * (2 + 2) + 2],
  ['self.few.all(i, v, v > i)', 2 + 10 * (3 + 3) + 1],
  ['self.few.map(x, x * 2).size() == 10', 2 + 10 + 10 * (12 + 2) + 1 + 1 + 1],
  ['self.few.filter(x, x > 1).size() == 1', 2 + 10 + 10 * (13 + 2) + 1 + 1 + 1],
  ["self.words.all(x, x.startsWith('a'))", 2 + 10 * (3 + 2) + 1],
  ["self.map.all(k, self.map[k] == 'a')", 2 + 3 * (3 + 5) + 1],
  ['self.few.all(x, self.few.all(y, x == y))', 2 + 10 * (3 + 2 + 10 * (3 + 2) + 1) + 1],
  ["self.when > timestamp('2026-01-01T00:00:00Z')", 4],
  ["self.either == '5'", 3],
  ["dyn(self.n) == 'a'", 3],
  ["self.n > 1 ? self.short == 'a' : self.few.size() == 1", 3 + 4],
  ["['a', 'b'].join('-') == 'a-b'", Number.POSITIVE_INFINITY],
];

for (const [expression, cost] of costs) {
  test(`${expression} costs ${cost}`, () => {
    const self = celTypeOf(schema);
    assert.ok(self);
    const compiled = compile(expression, { self });
    assert.ok('program' in compiled, JSON.stringify(compiled));
    assert.equal(compiled.program.maxCost(sizesOf(schema, false)), cost);
  });
}

const rule = (text: string): JsonSchema => ({ 'x-kubernetes-validations': [{ rule: text }] });
const causes = (part: JsonSchema): readonly string[] =>
  validateSchema({ type: 'object', properties: { a: part } }, 's').map(
    ({ field, message }) => `${field}: ${message.replace(/ \(try .*\)$/, '')}`,
  );

test('a rule is refused when it alone may cost too much', () => {
  const list = { type: 'array', items: short } as const;
  const pairs = rule('self.all(x, self.all(y, x == y))');
  const [own, contributed, total] = causes({ ...list, ...pairs });
  const place = 's.properties[a].x-kubernetes-validations[0].rule';
  assert.equal(
    own,
    `${place}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x`,
  );
  assert.match(contributed ?? '', /: Forbidden: contributed to estimated rule cost total/);
  assert.match(total ?? '', /^s: Forbidden: x-kubernetes-validations estimated rule cost total/);
  assert.deepEqual(causes({ ...list, maxItems: 100, ...pairs }), []);
  assert.match(causes({ ...list, maxItems: 1200, ...pairs }).join(), /by factor of 1\.\d{6}x$/);
});

test('what is in a list counts as often as the list has items', () => {
  const items = { ...short, ...rule("self.matches('^[a-z]+$')") };
  const list = (maxItems: number): JsonSchema => ({ type: 'array', maxItems, items });
  assert.deepEqual(causes(list(1000)), []);
  const cause = causes(list(10_000_000))[0];
  assert.match(cause ?? '', /items\.x-kubernetes-validations\[0\]\.rule: .* factor of 7\.0x$/);
});

test('many rules that are cheap may together be too much', () => {
  const items = { ...short, ...rule("self != 'a'") };
  const list = { type: 'array', maxItems: 4_000_000, items };
  const parts = Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`p${at}`, list]));
  const found = causes({ type: 'object', properties: parts });
  assert.equal(found.length, 5);
  assert.match(found[4] ?? '', /^s: Forbidden: .* exceeds budget by factor of 1\.040000x$/);
});

test('what would go on for too long is stopped before it runs', () => {
  const list = Array.from({ length: 10 }, (_, at) => BigInt(at));
  const loop = (depth: number): string =>
    depth === 0 ? 'true' : `few.all(x${depth}, ${loop(depth - 1)})`;
  const run = (depth: number, items: readonly bigint[]): unknown => {
    const compiled = compile(loop(depth), { few: listOf('int') });
    assert.ok('program' in compiled);
    return compiled.program.evaluate({ few: items });
  };
  assert.deepEqual(run(4, list), { value: true });
  assert.deepEqual(run(8, list), { error: 'operation cancelled: actual cost limit exceeded' });
  assert.deepEqual(run(8, list.slice(0, 2)), { value: true });
});

test('a range is not longer than one expression may cost', () => {
  for (const [count, expected] of [
    [1_000_000, { value: true }],
    [1_000_001, { error: 'operation cancelled: actual cost limit exceeded' }],
    [2 ** 52, { error: 'operation cancelled: actual cost limit exceeded' }],
  ] as const) {
    const compiled = compile(`lists.range(${count}).size() > 1`, {});
    assert.ok('program' in compiled);
    assert.deepEqual(compiled.program.evaluate({}), expected);
  }
});

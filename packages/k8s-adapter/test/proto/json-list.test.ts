// Lists cut object by object, beside the same lists parsed as a whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseList } from '../../src/proto/json-list.ts';
import { fc } from '../world/fast-check.ts';

/** As long as texts have to be to be cut. */
const filling = 'x'.repeat(20_000);

function objectsOf(text: string): unknown {
  return parseList(text, (object) => object)?.items();
}

function listText(items: readonly unknown[], metadata: object = { note: filling }): string {
  return JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items });
}

test('each object of a long list is read once, in order', () => {
  const items = Array.from({ length: 300 }, (_, at) => ({
    metadata: { name: `pod-${at}`, note: filling.slice(0, 100) },
    spec: { nodeName: 'a' },
  }));
  const seen: unknown[] = [];
  const page = parseList(listText(items, { continue: 'more' }), (object) => seen.push(object));
  assert.equal(page?.continueToken, 'more');
  assert.deepEqual(seen, [], 'nothing is read before the next page is asked for');
  page?.items();
  assert.deepEqual(seen, items);
});

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '},{"metadata":',
    '"items":[',
    ']}',
    '\\',
    '"',
    '},{"a":',
    '{"metadata":{"name":"b"}}',
  ),
);
const { value } = fc.letrec<{ value: unknown; list: unknown[]; object: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(text, fc.integer(), fc.constant(null)),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom('metadata', 'items', 'a', 'spec'), tie('value'), {
    maxKeys: 3,
  }),
}));

test('whatever stands in a list, it is read as JSON.parse reads it', () => {
  // Objects that look as those of the list do, so many that the list is cut among them.
  const alike = fc.array(fc.record({ metadata: text }), { maxLength: 50 });
  const object = fc.record({ metadata: value, a: fc.oneof(value, alike), items: value });
  const one = fc.oneof({ arbitrary: object, weight: 5 }, value);
  const drawn = fc.array(one, { maxLength: 50, size: 'max' });
  fc.assert(
    fc.property(drawn, fc.dictionary(text, value, { maxKeys: 2 }), (items, rest) => {
      const { items: _, ...others } = rest;
      for (const list of [
        { ...others, metadata: { note: filling }, items },
        { metadata: { note: filling }, items, ...others },
        { metadata: { note: filling, items }, others },
        [filling, items],
      ]) {
        const whole: unknown = JSON.parse(JSON.stringify(list));
        const wanted =
          whole !== null && typeof whole === 'object' && 'items' in whole ? whole.items : [];
        const read = objectsOf(JSON.stringify(list));
        assert.deepEqual(read, wanted);
        assert.deepEqual(objectsOf(JSON.stringify(list, null, 1)), wanted);
      }
    }),
  );
});

const odd: readonly (readonly [name: string, text: string, objects: unknown])[] = [
  ['nothing in it', listText([]), []],
  ['no items', JSON.stringify({ metadata: { note: filling } }), []],
  ['items that are no list', JSON.stringify({ items: filling }), []],
  [
    'items twice: the last counts',
    `{"items":[{"a":1}],"b":"${filling}","items":[{"a":2}]}`,
    [{ a: 2 }],
  ],
  [
    'items of something else last',
    `{"items":[{"a":1}],"b":{"items":[{"a":"${filling}"}]}}`,
    [{ a: 1 }],
  ],
  ['a line end after it', `${listText([{ a: 1 }, { a: 2 }])}\n`, [{ a: 1 }, { a: 2 }]],
  [
    'objects that begin with something that is not in all',
    listText([{ a: [{ a: 1 }, { a: 2 }] }, { b: 1 }]),
    [{ a: [{ a: 1 }, { a: 2 }] }, { b: 1 }],
  ],
  ['cut short', listText([{ a: 1 }, { a: 2 }]).slice(0, -3), undefined],
  ['no JSON at all', `<html>${filling}`, undefined],
];
for (const [name, given, objects] of odd) {
  test(`a list with ${name}`, () => assert.deepEqual(objectsOf(given), objects));
}

test('with an object that is no JSON the whole is none', () => {
  const broken = listText([{ a: 1 }, { a: 2 }]).replace('"a":2', '"a":');
  assert.equal(objectsOf(broken), undefined);
});

// Lists cut object by object, beside the same lists parsed as a whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ListPage, ListReader } from '../../src/proto/json-list.ts';
import { getRequest } from '../../src/proto/requests.ts';
import { fc } from '../world/fast-check.ts';

const filling = 'x'.repeat(2_000);

/** By its path nothing is known of what has to come. */
const anything = getRequest('/x');

/** Reads a text that comes in pieces of so many bytes. */
function pageOf(text: string, pieceBytes = 1000): ListPage<unknown> | undefined {
  const reader = new ListReader({ request: anything, read: (object) => object });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    reader.push(bytes.subarray(at, at + pieceBytes));
  }
  const page = reader.end();
  return page.kind === 'page' ? page : undefined;
}

function listText(items: readonly unknown[], metadata: object = { note: filling }): string {
  return JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items });
}

test('each object of a long list is read once, in order, before the next has come', () => {
  const items = Array.from({ length: 300 }, (_, at) => ({
    metadata: { name: `pod-${at}`, note: filling.slice(0, 100) },
    spec: { nodeName: 'a' },
  }));
  const seen: unknown[] = [];
  const tokens: string[] = [];
  const reader = new ListReader({
    request: getRequest('/api/v1/pods'),
    read: (object) => seen.push(object),
    onToken: (token) => tokens.push(`${token} ${seen.length}`),
  });
  const text = listText(items, { resourceVersion: '1', continue: 'more' });
  for (let at = 0; at < text.length; at += 1000) {
    reader.push(text.slice(at, at + 1000));
    const isBehind = at > 10_000 && seen.length < Math.trunc(at / 250);
    assert.ok(!isBehind, `${seen.length} of what came in ${at} characters`);
  }
  const page = reader.end();
  assert.equal(page.kind === 'page' && page.continueToken, 'more');
  assert.deepEqual(seen, items);
  assert.deepEqual(tokens, ['more 0'], 'how to go on is told before anything is read');
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
  const alike = fc.array(fc.record({ metadata: text }), { maxLength: 20 });
  const object = fc.record({ metadata: value, a: fc.oneof(value, alike), items: value });
  const one = fc.oneof({ arbitrary: object, weight: 5 }, value);
  const drawn = fc.array(one, { maxLength: 50 });
  const rests = fc.dictionary(text, value, { maxKeys: 2 });
  const pieces = fc.constantFrom(1, 7, 100, 1000, 1e6);
  fc.assert(
    fc.property(drawn, rests, pieces, (items, rest, pieceBytes) => {
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
        assert.deepEqual(pageOf(JSON.stringify(list), pieceBytes)?.items, wanted);
        assert.deepEqual(pageOf(JSON.stringify(list, null, 1), pieceBytes)?.items, wanted);
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
  [
    'what comes after it',
    `{"items":[{"a":1},{"a":2},{"a":3}],"b":[{"a":4},{"a":5}]}`,
    [{ a: 1 }, { a: 2 }, { a: 3 }],
  ],
  [
    'items twice, of which some were read: it is none',
    `{"items":[{"a":"${filling}"},{"a":"${filling}"},{"a":3}],"b":"${filling}","items":[]}`,
    undefined,
  ],
  [
    'characters of several bytes',
    listText([{ a: 'é€😀' }, { a: '\u{feff}' }]),
    [{ a: 'é€😀' }, { a: '\u{feff}' }],
  ],
  ['cut short', listText([{ a: 1 }, { a: 2 }]).slice(0, -3), undefined],
  ['no JSON at all', `<html>${filling}`, undefined],
];
for (const [name, given, objects] of odd) {
  test(`a list with ${name}`, () => {
    for (const pieceBytes of [1, 50, 1000, 1e6]) {
      assert.deepEqual(pageOf(given, pieceBytes)?.items, objects);
    }
  });
}

test('with an object that is no JSON the whole is none', () => {
  const broken = listText([{ a: 1 }, { a: 2 }]).replace('"a":2', '"a":');
  assert.equal(pageOf(broken), undefined);
});

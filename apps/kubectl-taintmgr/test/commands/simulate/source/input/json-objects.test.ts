// Objects are read one by one: as JSON.parse reads the whole, wherever a text is cut into pieces.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAllPositioned } from '@taintmgr/k8s-adapter/manifests';
import fc from 'fast-check';
import type { FoundObject } from '../../../../../src/commands/simulate/source/input/found.ts';
import { JsonObjects } from '../../../../../src/commands/simulate/source/input/json-objects.ts';

interface Read {
  readonly found: readonly FoundObject[];
  readonly values: readonly unknown[];
  readonly faults: readonly string[];
  readonly strangeLines: number;
}

/** Reads a text in pieces of so many bytes. */
function read(text: string, pieceBytes = 7): Read {
  const found: FoundObject[] = [];
  const faults: string[] = [];
  const objects = new JsonObjects('f', {
    object: (one) => void found.push(one),
    fault: (fault) => void faults.push(fault),
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    objects.push(bytes.subarray(at, at + pieceBytes));
  }
  objects.end();
  const values = found.map(({ value }) => value);
  return { found, values, faults, strangeLines: objects.strangeLines };
}

/** The objects of a value, by the rules of lists. */
function objectsOf(value: unknown, implied: object = {}): readonly unknown[] {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return [value];
  const { items, kind, apiVersion = '' } = value as Record<string, unknown>;
  if (!Array.isArray(items)) return [kind === undefined ? { ...implied, ...value } : value];
  const ofItems = typeof kind === 'string' && /.List$/.test(kind);
  const next = ofItems ? { kind: kind.slice(0, -'List'.length), apiVersion } : {};
  return items.flatMap((item) => objectsOf(item, next));
}

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('"', '\\', '{', ']', 'é', '😀', '"items":[', '\n', 'PodList'),
);
const name = fc.constantFrom('a', 'metadata', 'kind', 'items', 'é"');
const { object } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, text, fc.integer(), fc.constant(null), tie('object')),
  object: fc.dictionary(name, fc.oneof(tie('value'), fc.array(tie('value'), { maxLength: 3 }))),
}));
const list = fc.record({
  kind: fc.constantFrom('List', 'PodList', 'NodeList'),
  apiVersion: fc.constant('v1'),
  items: fc.array(object, { maxLength: 4 }),
});
const reversed = list.map(({ items, ...rest }) => ({ items, ...rest }));
const listOfLists = fc.record({
  kind: fc.constant('List'),
  items: fc.array(fc.oneof(list, object)),
});

describe('the objects of a JSON text', () => {
  it('are those that JSON.parse finds, in pieces of any length', () => {
    const documents = fc.array(fc.oneof(list, reversed, listOfLists), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(documents, fc.nat(4), fc.integer({ min: 1, max: 40 }), (all, indent, pieces) => {
        const whole = all.map((one) => JSON.stringify(one, null, indent)).join('\n');
        const { values, faults } = read(whole, pieces);
        assert.deepEqual(faults, []);
        const expected = all.flatMap((one) => objectsOf(JSON.parse(JSON.stringify(one))));
        const plain = (some: readonly unknown[]): string =>
          some
            .map((one) => JSON.stringify(Object.entries(one ?? {}).sort()))
            .sort()
            .join();
        assert.equal(plain(values), plain(expected));
      }),
    );
  });

  it('know their places in the whole text', () => {
    const items = [
      { kind: 'Pod', note: 'é😀' },
      { kind: 'Pod', note: '\\"' },
    ];
    for (const indent of [0, 2]) {
      const whole = `${JSON.stringify({ kind: 'List', items: [...items, { kind: 'Pod', items }] }, null, indent)}\n`;
      const [root] = readAllPositioned('f', whole);
      const placed = read(whole).found.map((one) => one.field()?.at(['note']).fault('x').message);
      const expected = ['0', '1'].map((at) => {
        return root?.at(['items', Number(at), 'note']).fault('x').message;
      });
      assert.deepEqual(placed.slice(0, 2), expected);
      const inner = root?.at(['items', 2, 'items', 0, 'note']).fault('x').message;
      assert.equal(placed[2], inner);
    }
  });

  it('may be without a list, or in a list without anything around', () => {
    assert.deepEqual(read('{"kind": "Node"}').values, [{ kind: 'Node' }]);
    assert.deepEqual(read('[{"kind": "Node"}, 3]').values, [{ kind: 'Node' }, 3]);
  });

  it('are found between logs and other lines', () => {
    const log =
      '==== START logs for container c of pod a/b ====\n{"kind":"Pod"}\n]\n==== END logs for container c ====\n';
    const { values, faults, strangeLines } = read(
      `{"kind":"Node"}\n${log}Warning: x\n{"kind":"Job"}\n`,
    );
    assert.deepEqual([values, faults, strangeLines], [[{ kind: 'Node' }, { kind: 'Job' }], [], 1]);
  });

  const sound = '{"kind":"Pod"}';
  const broken: readonly (readonly [string, string, readonly string[], number])[] = [
    [
      'an item that is no JSON',
      `{"items":[${sound},{"a":tru},${sound}]}`,
      ["f:1:34: Unexpected token '}'"],
      2,
    ],
    [
      'a text that ends too early',
      `{"items":[\n${sound},\n{"a":`,
      ['f:3:6: Unexpected end of JSON input'],
      1,
    ],
    [
      'a list that ends too early',
      `{"items":[${sound}`,
      ['f:1:25: Unexpected end of JSON input'],
      1,
    ],
    [
      'a quote that is missing',
      '{"items":[{"a":"b},\n{"a":"c"}]}',
      ['f:1:20: Bad control character in string literal'],
      0,
    ],
    [
      'a brace that is missing',
      `{"items":[{"a":{"b":1},{"c":2}]}`,
      ['f:1:24: Expected double-quoted property name'],
      0,
    ],
    ['a bracket too many', `{"items":[${sound}]]}`, ["f:1:27: Unexpected token '}'"], 1],
    [
      'a value nested too deep',
      `${'{"a":'.repeat(9_000)}`,
      ['f:1:1501: it is nested more than 300 deep'],
      0,
    ],
  ];
  for (const [what, whole, faults, found] of broken) {
    it(`of ${what} are the sound ones, and the fault has its place`, () => {
      for (const pieces of [1, 7, 100_000]) {
        const got = read(whole, pieces);
        assert.deepEqual([got.faults, got.values.length], [faults, found]);
      }
    });
  }

  it('are of a size that an API server takes', () => {
    const { faults, values } = read(`{"items":[{"a":"${'x'.repeat(2 ** 25)}"}]}`, 2 ** 20);
    assert.deepEqual(values, []);
    assert.match(
      faults.join(),
      /^f:1:11: more than 16 MiB in one object, which no API server stores$/,
    );
  });
});

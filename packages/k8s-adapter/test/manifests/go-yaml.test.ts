import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readGoYaml, YamlError } from '../../src/manifests/go-yaml.ts';
import { readAllPositioned } from '../../src/manifests/positioned.ts';

type Row = readonly [yaml: string, is: unknown];

/**
 * What `kubectl create --dry-run=client --validate=false -o json` of kubectl 1.32 makes of a ConfigMap with these
 * lines in it: its members beyond those of a ConfigMap; null where kubectl refuses it.
 */
const recorded: readonly Row[] = JSON.parse(
  readFileSync(new URL('kubectl-yaml.json', import.meta.url), 'utf8'),
);

/** What is refused here and kubectl takes: a key that is there twice, and rare forms. */
const refusedHere: readonly string[] = [
  ...['v: {1: a, 1: b}\n', 'v: {a: 1, a: 2}\n', 'v: {yes: a, on: b}\n', 'a: 1\na: 2\n'],
  ...['v: {.inf: a}\n', 'a: [1,\n2]\n', 'a: {b: 1,\nc: 2}\n', "a: 'x'# c\n", 'a: [-]\n'],
];
/** What kubectl refuses, or reads otherwise, where nothing else can be meant. */
const takenHere: ReadonlyMap<string, unknown> = new Map([
  ['v: "\\/"\n', { v: '/' }],
  ['v: "\\ud83d\\ude00"\n', { v: '😀' }],
  ['v: {1.1e10: a}\n', { v: { 11000000000: 'a' } }],
  ['v: {18446744073709551615: a}\n', { v: { 18446744073709552000: 'a' } }],
]);

/** Null: refused. */
function readHere(yaml: string): unknown {
  try {
    return readGoYaml(yaml);
  } catch (error) {
    assert.ok(error instanceof YamlError, String(error));
    return null;
  }
}

describe('YAML of Kubernetes objects', () => {
  it(`is read as kubectl reads it, in ${recorded.length} recorded texts`, () => {
    for (const [yaml, is] of recorded) {
      const want = refusedHere.includes(yaml) ? null : (takenHere.get(yaml) ?? is);
      assert.deepEqual(readHere(yaml), want, JSON.stringify(yaml));
    }
    const known = recorded.map(([yaml]) => yaml);
    for (const yaml of [...refusedHere, ...takenHere.keys()]) assert.ok(known.includes(yaml), yaml);
  });

  const bomb = Array.from(
    { length: 9 },
    (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at}, `.repeat(10)}]`,
  );
  for (const [what, text, why] of [
    [
      'lists in lists',
      `a: ${'['.repeat(9_500)}${']'.repeat(9_500)}`,
      /^f:1:\d+: it is nested more/,
    ],
    ['lists without an end', '['.repeat(60_000), /^f:1:\d+: it is nested more than 300 deep$/],
    ['maps in maps', `${'{a: '.repeat(9_500)}1${'}'.repeat(9_500)}`, /nested more than 300 deep/],
    ['maps in JSON', `${'{"a":'.repeat(9_500)}1${'}'.repeat(9_500)}`, /nested more than 300 deep/],
    ['items in items', `${'- '.repeat(9_500)}1`, /nested more than 300 deep/],
    [
      'lists in lists by lines',
      Array.from({ length: 1_100 }, (_, at) => `${' '.repeat(at)}a:\n`).join(''),
      /nested more than 300 deep/,
    ],
    ['keys of keys', `${'? '.repeat(9_500)}1`, /nested more than 300 deep/],
    ['aliases of aliases', `l0: &l0 [x]\n${bomb.join('\n')}`, /stands for more than 100000 values/],
    [
      'merges of merges',
      `a0: &a0 {${Array.from({ length: 2_000 }, (_, at) => `k${at}: 1`).join()}}\n${Array.from({ length: 2_000 }, (_, at) => `b${at}: {<<: *a0}`).join('\n')}`,
      /stands for more than 100000 values/,
    ],
    [
      'an alias deep in its alias',
      `a0: &a0 ${'['.repeat(200)}${']'.repeat(200)}\nb: ${'['.repeat(200)}*a0${']'.repeat(200)}`,
      /nested more than 300 deep/,
    ],
    [
      'a value that contains itself',
      'a: &a {b: [*a]}',
      /^f:1:12: a value contains itself: anchor "a"$/,
    ],
    ['a merge of itself', 'a: &a {<<: *a}', /a value contains itself/],
    ['UTF-16', '\uFFFD\uFFFDa\0:\0', /^f:1:1: the text is in UTF-16, want UTF-8$/],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.throws(() => readAllPositioned('f', text), { name: 'FaultyFile', message: why });
    });
  }

  it('reads what is deep and no deeper than allowed', () => {
    const text = `${'['.repeat(299)}1${']'.repeat(299)}`;
    assert.equal(JSON.stringify(readGoYaml(text)), text);
    assert.equal(JSON.stringify(readGoYaml(`${'- '.repeat(299)}1`)), text);
  });

  it('reads a map that has the names of what objects inherit', () => {
    const text = '{"__proto__": {"a": 1}, "constructor": 2}';
    assert.equal(JSON.stringify(readGoYaml(text)), JSON.stringify(JSON.parse(text)));
  });
});

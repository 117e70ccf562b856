import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FieldTree } from '../../src/objects/kube-object.ts';
import { union, without } from '../../src/patch/tree-sets.ts';

const self: FieldTree = { '.': {} };
const a: FieldTree = { 'f:a': {} };
const b: FieldTree = { 'f:b': {} };

/** A tree of labels and what is in it. */
const labels = (inner: FieldTree): FieldTree => ({ 'f:labels': inner });

describe('the fields of two trees together', () => {
  const cases: readonly (readonly [name: string, FieldTree, FieldTree, FieldTree])[] = [
    ['two members', labels(a), labels(b), labels({ ...a, ...b })],
    ['a member and the map itself', labels(a), labels({}), labels({ ...self, ...a })],
    ['the map itself and a member', labels({}), labels(a), labels({ ...self, ...a })],
    [
      'a member, and the map with another',
      labels(a),
      labels({ ...self, ...b }),
      labels({ ...self, ...a, ...b }),
    ],
    ['the same', labels({ ...self, ...a }), labels({ ...self, ...a }), labels({ ...self, ...a })],
  ];
  for (const [name, one, other, both] of cases) {
    it(name, () => assert.deepEqual(union(one, other), both));
  }
});

describe('the fields of a tree without those of another', () => {
  const cases: readonly (readonly [name: string, FieldTree, FieldTree, FieldTree | null])[] = [
    ['one of two members', labels({ ...a, ...b }), labels(a), labels(b)],
    ['all', labels(a), labels(a), null],
    ['a member, but not the map', labels({ ...self, ...a }), labels(a), labels({})],
    [
      'a member of two, but not the map',
      labels({ ...self, ...a, ...b }),
      labels(a),
      labels({ ...self, ...b }),
    ],
    ['the map, but not its member', labels({ ...self, ...a }), labels({}), labels(a)],
    ['what it does not have', labels(a), labels(b), labels(a)],
  ];
  for (const [name, tree, other, left] of cases) {
    it(name, () => assert.deepEqual(without(tree, other), left));
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharing } from '../../src/objects/json.ts';
import type { Json } from '../../src/objects/kube-object.ts';

describe('a value that shares with one that is known', () => {
  const known = { name: 'a', labels: { x: '1' }, taints: [{ key: 'k' }, { key: 'l' }] };

  it('is the known one where all of it is equal, in whatever order', () => {
    const value = { taints: [{ key: 'k' }, { key: 'l' }], labels: { x: '1' }, name: 'a' };
    assert.equal(sharing(value, known), known);
  });

  it('takes each part that is equal and keeps the others', () => {
    const value = { name: 'b', labels: { x: '1' }, taints: [{ key: 'k' }, { key: 'm' }] };
    const shared = sharing(value, known) as typeof known;
    assert.deepEqual(shared, value);
    assert.equal(shared.labels, known.labels);
    assert.equal(shared.taints[0], known.taints[0]);
    assert.notEqual(shared.taints[1], known.taints[1]);
  });

  const others: readonly (readonly [what: string, value: Json])[] = [
    ['a member less', { name: 'a', labels: { x: '1' } }],
    ['a member more', { ...known, uid: 'u' }],
    ['an item less', { ...known, taints: [{ key: 'k' }] }],
    ['an item more', { ...known, taints: [...known.taints, { key: 'n' }] }],
    ['another kind of value', { ...known, taints: { key: 'k' } }],
    ['null for an object', { ...known, labels: null }],
  ];
  for (const [what, value] of others) {
    it(`stays as it is with ${what}`, () => {
      const before = structuredClone(value);
      assert.deepEqual(sharing<Json>(value, known), before);
      assert.deepEqual(value, before, 'nothing is changed in place');
    });
  }
});

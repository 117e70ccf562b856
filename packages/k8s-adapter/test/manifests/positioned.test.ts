import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readAllPositioned } from '../../src/manifests/positioned.ts';

it('a file knows the place of what is merged, and of what an alias stands for', () => {
  const text = 'a: &x {b: 1}\nc:\n  <<: *x\n  d: *x\n';
  const [document] = readAllPositioned('f', text);
  assert.deepEqual(document?.value, { a: { b: 1 }, c: { b: 1, d: { b: 1 } } });
  assert.equal(document?.find(['c', 'b'])?.place, 'f:1:11');
  assert.equal(document?.find(['c', 'd', 'b'])?.place, 'f:1:11');
  assert.equal(document?.find(['c', 'd'])?.place, 'f:4:3');
});

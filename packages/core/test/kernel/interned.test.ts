import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Interned } from '../../src/kernel/interned.ts';

it('keeps equal values once, for as long as somebody uses them', () => {
  const interned = new Interned<readonly string[]>((value) => value.join());
  const first = ['a'];
  assert.equal(interned.take(first), first);
  assert.equal(interned.take(['a']), first);
  interned.release(['a']);
  assert.equal(interned.take(['a']), first, 'one use is left');
  for (let uses = 0; uses < 2; uses++) interned.release(first);
  const later = ['a'];
  assert.equal(interned.take(later), later);
});

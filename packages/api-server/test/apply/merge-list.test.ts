// Lists whose items have owners of their own, where an old object has a key twice: by structured-merge-diff.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listBy } from '@taintmgr/sim-cluster/server';
import { mergeItems } from '../../src/apply/apply.ts';

const env = listBy('name', 'any');
const items = (names: string): { readonly name: string; readonly from: string }[] =>
  names.split('').map((name, at) => ({ name, from: String(at) }));

describe('items of one key in a list that is applied to', () => {
  for (const [what, live, wanted, merged] of [
    ['stay where they are', 'aba', 'c', 'a0 b1 a2 c+'],
    ['give way to the one that is applied', 'aba', 'ac', 'a+ b1 c+'],
    ['give way before what follows them', 'aax', 'an', 'a+ n+ x2'],
  ] as const) {
    it(what, () => {
      const both = mergeItems(env, items(live), items(wanted), (have, want) => {
        return { ...(have as object), ...(want as object), from: '+' };
      });
      const said = both as ReturnType<typeof items>;
      assert.equal(said.map(({ name, from }) => `${name}${from}`).join(' '), merged);
    });
  }
});

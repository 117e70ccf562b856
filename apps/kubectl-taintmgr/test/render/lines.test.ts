import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { broken } from '../../src/render/lines.ts';

describe('broken', () => {
  const cases: readonly (readonly [name: string, text: string, expected: string])[] = [
    ['leaves what fits', 'Note: it fits', 'Note: it fits'],
    [
      'breaks between words',
      'Note: 12 pods are pending in other namespaces',
      'Note: 12 pods are\n  pending in other\n  namespaces',
    ],
    [
      'keeps a command whole, in a line of its own',
      'hint: to undo: kubectl taintmgr undo drain-20261122',
      'hint: to undo:\n    kubectl taintmgr undo drain-20261122',
    ],
    ['keeps rows of tables', 'a-long-name-of-a-pod     5s', 'a-long-name-of-a-pod     5s'],
    [
      'colours take no room',
      '\u001b[33mWarning:\u001b[39m as it fits',
      '\u001b[33mWarning:\u001b[39m as it fits',
    ],
    ['each line by itself', 'one\ntwo three four five six', 'one\ntwo three four five\n  six'],
  ];
  for (const [name, text, expected] of cases) {
    it(name, () => assert.equal(broken(text, 20), expected));
  }

  it('breaks nothing where there is no terminal', () => {
    const text = 'word '.repeat(100);
    assert.equal(broken(text, null), text);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import { renderTable, screenful, wrapped } from '../../src/render/table.ts';

describe('printable', () => {
  const cases: readonly (readonly [name: string, text: string, expected: string])[] = [
    ['plain text', 'shop/web-0: größer als 5 %', 'shop/web-0: größer als 5 %'],
    ['an escape sequence', '\u001b[31mred', '^[[31mred'],
    ['a line end', 'a\nb\r', 'a^Jb^M'],
    ['delete', '\u007f', '^?'],
    ['the one-byte control sequence introducer', '\u009b2J', '^[2J'],
    ['a right-to-left override', 'a\u202eb', 'a\\u202eb'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ];
  for (const [name, text, expected] of cases) {
    it(name, () => assert.equal(printable(text), expected));
  }
});

describe('renderTable', () => {
  const cases: readonly (readonly [string, string[], string[][], string[]])[] = [
    [
      'aligns columns three spaces apart, without a blank at a line end',
      ['POD', 'IN'],
      [
        ['a-long-name', ''],
        ['b', '5s'],
      ],
      ['POD           IN', 'a-long-name', 'b             5s'],
    ],
    ['has a head without rows', ['POD', 'IN'], [], ['POD   IN']],
    ['counts wide characters as two', ['A', 'B'], [['日本', 'x']], ['A      B', '日本   x']],
    ['counts accents as none', ['A', 'B'], [['e\u0301', 'x']], ['A     B', 'e\u0301     x']],
    ['has columns of six characters at least', ['A', 'B'], [['', 'x']], ['A     B', '      x']],
    ['disarms escapes and line ends', ['A'], [['\u001b[2J\nx']], ['A', '^[[2J^Jx']],
  ];
  for (const [name, head, rows, expected] of cases) {
    it(name, () => assert.deepEqual(renderTable(head, rows).split('\n'), expected));
  }
});

describe('screenful', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['what has room is shown whole', 'a\nb\nc', 'a\nb\nc'],
    ['of what has none the top stays', 'a\nb\nc\n\nd', 'a\nb\n... 2 more'],
    [
      'a line that the terminal breaks takes two',
      `${'x'.repeat(11)}\nb\nc`,
      `${'x'.repeat(11)}\n... 2 more`,
    ],
    ['colours take no room', `\u001b[31m${'x'.repeat(10)}\u001b[39m\nb\nc`, 'same'],
  ];
  for (const [name, text, expected] of cases) {
    it(name, () => {
      const shown = screenful(text, { rows: 4, columns: 10 });
      assert.equal(shown, expected === 'same' ? text : expected);
    });
  }
});

const cases: readonly (readonly [line: string, lines: string])[] = [
  ['', ''],
  ['as it is', 'as it is'],
  ['a line of some words', 'a line of\n    some\n    words'],
  ['  set in, and goes on', '  set in,\n    and\n    goes on'],
  ['averylongwordwithoutaspace', 'averylongwordwithoutaspace'],
  ['before averylongwordwithoutaspace after', 'before\n    averylongwordwithoutaspace\n    after'],
];
for (const [line, lines] of cases) {
  it(`breaks ${JSON.stringify(line)}`, () => {
    assert.equal(wrapped(line, '    ', 11), lines);
  });
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import fc from 'fast-check';
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

describe('renderTable on a terminal that is too narrow', () => {
  const head = ['NAMESPACE', 'POD', 'IN', 'BLOCKED BY', 'BECAUSE'];
  const because = 'no toleration for maintenance=kernel:NoExecute';
  const rows = [
    ['shop', 'web-0', 'overdue by 2d3h', 'PDB web (needs action)', because],
    ['shop', 'web-1', 'overdue by 2d3h', 'PDB web (needs action)', because],
    ['shop', 'db-0', '4d20h', '<none>', 'tolerates maintenance=kernel:NoExecute for 7d'],
  ];
  const below = new Map([[4, 'because']]);
  const at = (width: number | null): readonly string[] =>
    renderTable(head, rows, { width, below }).split('\n');

  const cases: readonly (readonly [string, number, readonly string[]])[] = [
    [
      'puts reasons below their rows, equal ones once',
      80,
      [
        'NAMESPACE  POD    IN               BLOCKED BY',
        'shop       web-0  overdue by 2d3h  PDB web (needs action)',
        'shop       web-1  overdue by 2d3h  PDB web (needs action)',
        `    these 2: because ${because}`,
        'shop       db-0   4d20h            <none>',
        '    because tolerates maintenance=kernel:NoExecute for 7d',
      ],
    ],
    [
      'puts more columns there, without those that say nothing, broken between words',
      40,
      [
        'NAMESPACE  POD    IN',
        'shop       web-0  overdue by 2d3h',
        'shop       web-1  overdue by 2d3h',
        '    these 2: blocked by PDB web (needs',
        '      action); because no toleration for',
        '      maintenance=kernel:NoExecute',
        'shop       db-0   4d20h',
        '    because tolerates',
        '      maintenance=kernel:NoExecute for',
        '      7d',
      ],
    ],
  ];
  for (const [name, width, expected] of cases) {
    it(name, () => assert.deepEqual(at(width), expected));
  }

  it('leaves it as it is where it fits, or where there is no terminal', () => {
    assert.deepEqual(at(200), at(null));
    assert.equal(at(null).length, 4);
  });

  const named = [
    ['shop', 'web-0', '5s', 'PDB web (needs action), node unreachable (needs action)'],
    ['a-namespace-of-30-characters-12', 'a-pod-of-30-characters-123456-7', 'now', 'PDB a'],
  ];
  const namedAt = (width: number, ...more: readonly string[][]): readonly string[] =>
    renderTable(['NAMESPACE', 'POD', 'IN', 'BLOCKED BY'], [...more, ...named.slice(more.length)], {
      ...{ width, titles: 2 },
    }).split('\n');

  it('puts names above their row that are longer than others, and breaks the last column', () => {
    assert.deepEqual(namedAt(60), [
      'NAMESPACE  POD    IN   BLOCKED BY',
      'shop       web-0  5s   PDB web (needs action), node',
      '                       unreachable (needs action)',
      'a-namespace-of-30-characters-12/',
      'a-pod-of-30-characters-123456-7',
      '                  now  PDB a',
    ]);
  });

  it('puts all names above their rows where all are long', () => {
    assert.deepEqual(namedAt(70, named[1] ?? []), [
      'NAMESPACE/POD',
      '  IN   BLOCKED BY',
      ...['a-namespace-of-30-characters-12/a-pod-of-30-characters-123456-7', '  now  PDB a'],
      ...['a-namespace-of-30-characters-12/a-pod-of-30-characters-123456-7', '  now  PDB a'],
    ]);
  });

  it('leaves out columns without a word', () => {
    const cells = [['web-0', '0', '<none>', 'no toleration for maintenance']];
    const lines = renderTable(['POD', 'LATE', 'BLOCKED BY', 'WHY'], cells, { width: 40 });
    assert.equal(lines, 'POD    WHY\nweb-0  no toleration for maintenance');
  });

  it('keeps the first column whole, however narrow the terminal', () => {
    const [first] = renderTable(null, [['a-name-that-is-long', 'x']], { width: 10 }).split('\n');
    assert.equal(first, 'a-name-that-is-long');
  });

  it('is never wider than the terminal where words are shorter', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '日'), minLength: 1, maxLength: 6 });
    const cell = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
    const tables = fc.array(fc.tuple(word, cell, cell, cell), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(tables, fc.integer({ min: 40, max: 120 }), (cells, width) => {
        const lines = renderTable(['A', 'B', 'C', 'D'], cells, { width }).split('\n');
        for (const line of lines) assert.ok(columnsOf(line) <= width, line);
      }),
    );
  });
});

/** What a terminal needs for it: wide characters take two columns. */
function columnsOf(line: string): number {
  return [...line].reduce((sum, one) => sum + (one === '日' ? 2 : 1), 0);
}

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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileList, head, withoutHead } from '../../tidy/heads.ts';
import { faultLines, treeOf } from '../../tidy/tree.ts';

for (const [what, file, code, sentence] of [
  ['at the top', 'src/a.ts', '// What it is for. More.\nimport "x";', 'What it is for.'],
  [
    'of several lines',
    'src/a.ts',
    '/**\n * Reads\n * e.g. this.\n */\nconst a = 1;',
    'Reads e.g. this.',
  ],
  ['behind #!', 'src/a.mjs', '#!/usr/bin/env node\n// Runs.\n', 'Runs.'],
  [
    'after the imports',
    'src/a.ts',
    'import {\n  x,\n} from "x";\n\n/** First. */\nconst b = 1;',
    'First.',
  ],
  [
    'of the namesake',
    'src/taint-clock.ts',
    '/** No. */\ntype T = 1;\n\n/** Yes. */\nexport class TaintClock {}',
    'Yes.',
  ],
  ['nowhere', 'src/a.ts', 'import "x";\nconst a = 1;\n\n/** Later. */\nexport const b = 1;', null],
] as const) {
  test(`what a file is for: a comment ${what}`, () => {
    assert.equal(head(file, code), sentence);
  });
}

test('a source file without a head comment is a fault', () => {
  const tree = treeOf({
    'packages/p/src/a.ts': 'export const a = 1;',
    'packages/p/src/b.ts': '// What it is for.',
    'packages/p/test/c.ts': '',
  });
  assert.deepEqual(faultLines(withoutHead(tree)), [
    'packages/p/src/a.ts: does not say at its head what it is for (a comment, one sentence)',
  ]);
});

test('the list of files says what each of a folder is for', () => {
  const texts = { 'packages/p/src/b.ts': '// A | B.', 'packages/q/src/c.ts': '// C.' };
  assert.equal(fileList(treeOf(texts), 'packages/p/'), 'packages/p/src/b.ts: A | B.\n');
  assert.match(fileList(treeOf(texts)), /^packages\/q\/src\/c.ts: C\.$/m);
});

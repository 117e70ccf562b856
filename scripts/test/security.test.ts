import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

// SECURITY.md names a test for each row of its threat model: it is there, by that title.

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('SECURITY.md', root), 'utf8');
const files = new Map(
  Array.from(text.matchAll(/^\[([\w-]+)\]: (\S+)$/gm), ([, name = '', path = '']) => [name, path]),
);
const rows = text
  .split('\n')
  .filter((line) => /^\| (?!what they do)/.test(line) && line.split(' | ').length === 3);
/** The titles of tests, and what else begins like them, as they are written in a file. */
const title = /\b(?:it|describe)\(\s*(['"`])(.*?)\1,/gs;

describe('each row of SECURITY.md', () => {
  assert.ok(rows.length > 20);
  for (const row of rows) {
    const [deed = '', , shown = ''] = row.slice('| '.length).split(' | ');
    it(deed, () => {
      const proofs = [...shown.matchAll(/\[([\w-]+)\] ((?:"[^"]+"(?:, )?)+)/g)];
      assert.ok(proofs.length > 0, 'it names no test');
      for (const [, name = '', titles = ''] of proofs) {
        const path = files.get(name) ?? assert.fail(`[${name}] is no file`);
        const source = readFileSync(new URL(path, root), 'utf8');
        const found = titlesIn(source);
        for (const [, wanted = ''] of titles.matchAll(/"([^"]+)"/g)) {
          // A whole string is the title of a case in a table.
          const isThere =
            found.some((one) => one.includes(wanted)) || source.includes(`'${wanted}'`);
          assert.ok(isThere, `${path} has no test "${wanted}"`);
        }
      }
    });
  }

  it('makes use of every file that is named', () => {
    for (const [name, path] of files) {
      assert.ok(
        rows.some((row) => row.includes(`[${name}] "`)),
        path,
      );
    }
  });
});

function titlesIn(source: string): readonly string[] {
  return Array.from(source.matchAll(title), ([, , one = '']) => one);
}

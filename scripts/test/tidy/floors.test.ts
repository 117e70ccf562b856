import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importsUp } from '../../tidy/floors.ts';
import { faultLines, treeOf } from '../../tidy/tree.ts';

const house = { 'p/src': { floors: ['index.ts', 'drain/ pressure/ < agent/', 'kernel/'] } };

test('an import may go down, stay in its room, or go where its floor allows', () => {
  const tree = treeOf({
    'p/src/index.ts': "export { a } from './drain/a.ts';\nimport './kernel/time.ts';",
    'p/src/drain/a.ts': "import { b } from './b.ts';\nimport type { T } from '../kernel/time.ts';",
    'p/src/drain/b.ts': "import { readFileSync } from 'node:fs';",
    'p/src/pressure/c.ts': '',
    'p/src/agent/d.ts': "import '../pressure/c.ts';",
    'p/src/kernel/time.ts': '// from "../drain/a.ts"',
    'elsewhere/x.ts': "import '../p/src/drain/a.ts';",
  });
  assert.deepEqual(importsUp(tree, house), []);
});

for (const [what, code] of [
  ['an import', "import { a } from '../drain/a.ts';"],
  ['a type', "import type { A } from '../drain/a.ts';"],
  ['a type in the midst', "export type B = import('../drain/a.ts').A;"],
  ['a re-export', "export * from '../drain/a.ts';"],
  ['a lazy import', "export const later = () => import('../drain/a.ts');"],
  ['an import of several lines', "import {\n  a,\n  b,\n} from '../drain/a.ts';"],
] as const) {
  test(`${what} that goes up is a fault`, () => {
    const tree = treeOf({ 'p/src/drain/a.ts': '', 'p/src/kernel/time.ts': code });
    assert.deepEqual(faultLines(importsUp(tree, house)), [
      'p/src/kernel/time.ts: imports p/src/drain/a.ts, which is above (scripts/tidy/floors.ts)',
    ]);
  });
}

test('rooms of one floor do not import each other, and every file is on a floor', () => {
  const tree = treeOf({
    'p/src/drain/a.ts': "import '../pressure/c.ts';",
    'p/src/pressure/c.ts': "import '../agent/d.ts';",
    'p/src/agent/d.ts': '',
    'p/src/attic/e.ts': '',
  });
  assert.deepEqual(faultLines(importsUp(tree, house)), [
    'p/src/attic/e.ts: is on no floor of scripts/tidy/floors.ts',
    'p/src/drain/a.ts: imports p/src/pressure/c.ts, which is on the same floor (scripts/tidy/floors.ts)',
    'p/src/pressure/c.ts: imports p/src/agent/d.ts, which is on the same floor (scripts/tidy/floors.ts)',
  ]);
});

test('each folder of a folder can be a room of its own', () => {
  const tree = treeOf({
    'p/src/commands/a/x.ts': "import './y/z.ts';\nimport '../b/x.ts';",
    'p/src/commands/a/y/z.ts': '',
    'p/src/commands/b/x.ts': '',
  });
  assert.deepEqual(faultLines(importsUp(tree, { 'p/src': { floors: ['commands/NAME/'] } })), [
    'p/src/commands/a/x.ts: imports p/src/commands/b/x.ts, which is on the same floor (scripts/tidy/floors.ts)',
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { circles } from '../../tidy/imports.ts';
import { faultLines, treeOf } from '../../tidy/tree.ts';

test('a circle of imports is a fault, types and lazy imports included', () => {
  const tree = treeOf({
    'p/a.ts': "import type { B } from './b.ts';",
    'p/b.ts': "export const c = () => import('./c.ts');",
    'p/c.ts': "import './a.ts';",
    'p/d.ts': "import './a.ts';",
  });
  assert.deepEqual(faultLines(circles(tree)), [
    'p/a.ts: imports itself in a circle: p/b.ts -> p/c.ts -> p/a.ts',
  ]);
  const straight = treeOf({
    'p/a.ts': "import './b.ts'; import './c.ts';",
    'p/b.ts': "import './c.ts';",
  });
  assert.deepEqual(circles(straight), []);
});

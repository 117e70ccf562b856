import assert from 'node:assert/strict';
import { test } from 'node:test';
import { floorsFaults, guideFaults, withFloors } from '../../tidy/architecture.ts';
import { faultLines, treeOf } from '../../tidy/tree.ts';

const house = { 'p/src': { floors: ['index.ts', 'drain/ pressure/ < agent/', 'kernel/'] } };

test('a guide names files and folders that exist, and links lead somewhere', () => {
  const tree = treeOf({
    'ARCHITECTURE.md':
      '`core/src/a.ts` `core/src/b.ts` `packages/core/src/` `docs/gone/` `a.ts` `c.ts` `pods/eviction` `node.spec`',
    'packages/core/src/a.ts': '',
    'docs/index.md': '[one](one.md#part) [two](two.md) [up](../ARCHITECTURE.md) [web](https://x/y)',
    'docs/two.md': '',
  });
  assert.deepEqual(faultLines(guideFaults(tree)), [
    'ARCHITECTURE.md: names core/src/b.ts, which is not there',
    'ARCHITECTURE.md: names docs/gone/, which is not there',
    'ARCHITECTURE.md: names c.ts, which is not there',
    'docs/index.md: links to one.md, which is not there',
  ]);
});

test('ARCHITECTURE.md shows the floors that tidy keeps', () => {
  const page = (last: string): string =>
    `x\n\n\`\`\`text\np/src\n  index.ts → drain/ pressure/ < agent/ → ${last}\n\`\`\`\n\ny\n`;
  assert.deepEqual(floorsFaults(treeOf({ 'ARCHITECTURE.md': page('kernel/') }), house), []);
  const old = page('cellar/');
  assert.deepEqual(faultLines(floorsFaults(treeOf({ 'ARCHITECTURE.md': old }), house)), [
    'ARCHITECTURE.md: shows other floors than scripts/tidy/floors.ts: run `npm run tidy -- --write`',
  ]);
  assert.equal(withFloors(old, house), page('kernel/'));
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { chartFiles, chartFolder, madeFolders } from '../chart.ts';

it('deploy/helm/taintmgr is what its sources say (npm run chart)', () => {
  const files = chartFiles();
  for (const [name, text] of files) {
    assert.equal(readFileSync(join(chartFolder, name), 'utf8'), text, name);
  }
  const present = madeFolders.flatMap((folder) => {
    const path = join(chartFolder, folder);
    return existsSync(path) ? readdirSync(path).map((name) => `${folder}/${name}`) : [];
  });
  const made = [...files.keys()].filter((name) =>
    madeFolders.some((one) => name.startsWith(`${one}/`)),
  );
  assert.deepEqual(present.toSorted(), made.toSorted());
});

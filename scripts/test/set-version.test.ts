import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { naming, withVersion } from '../set-version.ts';
import { repository } from '../tidy/tree.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const { version } = JSON.parse(read('packages/core/package.json'));

for (const file of naming) {
  test(`${file} names the version of the packages`, () => {
    assert.ok(read(file).includes(version));
    assert.equal(withVersion(read(file), version), read(file));
    assert.ok(withVersion(read(file), '9.8.7-rc.1').includes('9.8.7-rc.1'));
  });
}

/**
 * What is written anew by a command of its own, and what is of one version on purpose: test data, the plan
 * in docs/releases.md, the versions of Node.
 */
const others =
  /^deploy\/helm\/|^docs\/releases\.md$|^scripts\/node-programs\.json$|(^|\/)(package(-lock)?\.json|CHANGELOG\.md)$|\/testdata\/|\.test\.ts$/;

test('no other file names the version of the packages', () => {
  const { files, read } = repository(fileURLToPath(root));
  const texts = files.filter((file) => /\.(md|ts|mjs|json|ya?ml)$|Dockerfile$/.test(file));
  const named = texts.filter((file) => withVersion(read(file), '9.8.7') !== read(file));
  assert.deepEqual(
    named.filter((file) => !others.test(file)),
    [...naming],
  );
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { naming, withVersion } from '../set-version.ts';

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

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { crdFiles } from '../crds.ts';

const folder = new URL('../../deploy/crds/', import.meta.url);

it('deploy/crds is what the kinds say (npm run crds)', () => {
  const files = readdirSync(folder).map((name) => {
    return [name, readFileSync(new URL(name, folder), 'utf8')] as const;
  });
  assert.deepEqual(new Map(files), crdFiles());
});

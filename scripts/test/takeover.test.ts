import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { takeoverFiles } from '../takeover.ts';

const folder = new URL('../../deploy/takeover/', import.meta.url);

it('deploy/takeover is what the policies say (npm run takeover)', () => {
  const files = readdirSync(folder).map((name) => {
    return [name, readFileSync(new URL(name, folder), 'utf8')] as const;
  });
  assert.deepEqual(new Map(files), takeoverFiles());
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checks } from './index.ts';

const folder = join(import.meta.dirname, '../testdata/vectors');

for (const [name, check] of Object.entries(checks)) {
  describe(`recorded of kube-scheduler 1.36.2: ${name}`, () => {
    const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
      .trim()
      .split('\n');
    for (const line of lines) {
      it(JSON.parse(line).name, () => assert.equal(check(line), null));
    }
  });
}

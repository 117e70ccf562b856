// Runs what was recorded from Kubernetes 1.36.2 itself; `npm run conformance` runs the same on other vectors.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { runVectors } from './index.ts';

/** Has a vector file pass, all of its so many cases. */
export function itIsAsRecorded(name: string, cases: number): void {
  it(`is as recorded: ${name}`, () => {
    const file = new URL(`../testdata/vectors/${name}.jsonl`, import.meta.url);
    const { passed, failures } = runVectors(name, readFileSync(file, 'utf8'));
    assert.deepEqual(failures.slice(0, 5), []);
    assert.equal(passed, cases);
  });
}

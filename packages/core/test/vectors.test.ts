import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { checks, runVectors } from './conformance/index.ts';

// Recorded from Kubernetes 1.36.2 itself; `npm run conformance` runs the same on other vectors.
const sizes: Readonly<Record<string, number>> = {
  'taint-eviction-scenarios': 300,
  'taint-parse': 120,
  'toleration-matching': 4000,
};

describe('recorded vectors', () => {
  for (const name of Object.keys(checks)) {
    it(name, () => {
      const text = readFileSync(new URL(`vectors/${name}.jsonl`, import.meta.url), 'utf8');
      const { passed, failures } = runVectors(name, text);
      assert.deepEqual(failures.slice(0, 5), []);
      assert.equal(passed, sizes[name]);
    });
  }
});

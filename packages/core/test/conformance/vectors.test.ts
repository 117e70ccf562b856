import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { checks, runVectors } from './index.ts';

// Recorded from Kubernetes 1.36.2 itself; `npm run conformance` runs the same on other vectors.
const sizes: Readonly<Record<string, number>> = {
  'condition-taints': 120,
  'kubelet-pressure-sequences': 240,
  'kubelet-qos': 120,
  'kubelet-ranking': 180,
  'kubelet-threshold-parse': 260,
  'label-reconcile': 60,
  'node-health': 150,
  'rate-limited-queue': 200,
  'zone-state': 1000,
  'taint-eviction-scenarios': 300,
  'taint-parse': 120,
  'toleration-matching': 4000,
};

describe('recorded vectors', () => {
  for (const name of Object.keys(checks)) {
    it(name, () => {
      const text = readFileSync(
        new URL(`../testdata/vectors/${name}.jsonl`, import.meta.url),
        'utf8',
      );
      const { passed, failures } = runVectors(name, text);
      assert.deepEqual(failures.slice(0, 5), []);
      assert.equal(passed, sizes[name]);
    });
  }
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { checkDeviceTaints } from './device-taints.ts';
import { ClusterReplay } from './device-taints-cluster.ts';

const file = new URL('../testdata/vectors/device-taints.jsonl', import.meta.url);
const lines = readFileSync(file, 'utf8').trim().split('\n');

describe('recorded histories of the device-taint-eviction-controller in a simulated cluster', () => {
  for (const [index, line] of lines.entries()) {
    const recorded = JSON.parse(line);
    it(`${index}: ${recorded.family}`, () => {
      assert.equal(
        checkDeviceTaints(recorded, (objects, rules) => new ClusterReplay(objects, rules)),
        null,
      );
    });
  }
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { checkDeviceTaints } from './device-taints.ts';

const file = new URL('../testdata/vectors/device-taints.jsonl', import.meta.url);
const lines = readFileSync(file, 'utf8').trim().split('\n');

describe('recorded histories of the device-taint-eviction-controller', () => {
  it('come out as they were', () => {
    const differences = lines.flatMap((line, index) => {
      const difference = checkDeviceTaints(JSON.parse(line));
      return difference === null ? [] : [`${index}: ${difference}`];
    });
    assert.deepEqual(differences, []);
    assert.equal(lines.length, 93);
  });

  it('differ where the recording is another: a pod, its second, a status', () => {
    const [, shared = ''] = lines;
    const others: readonly (readonly [string, string, RegExp])[] = [
      ['"at":3.02', '"at":5.02', /^p1: at 3.02, recorded 5.02$/],
      ['"evicted":true', '"evicted":false', /^p1: evicted/],
      ['2 pods evicted', '1 pod evicted', /^r1-0: False Completed 2 pods evicted/],
    ];
    for (const [said, instead, difference] of others) {
      assert.match(checkDeviceTaints(JSON.parse(shared.replace(said, instead))) ?? '', difference);
    }
  });
});

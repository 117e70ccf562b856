import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTaint, parseTaint } from '@taintmgr/core';
import { parseTaintChanges } from '../../src/model/taint.ts';
import { itIsAsRecorded } from '../conformance/recorded.ts';

describe('taint specs', () => {
  const faults: readonly [string, RegExp][] = [
    ['maintenance', /^invalid taint "maintenance": want key=value:effect or key:effect$/],
    ['a=b:Evict', /effect "Evict": want NoSchedule, PreferNoSchedule, NoExecute$/],
    ['=b:NoExecute', /key "": want 1 to 63 of letters/],
    ['UPPER.case/a:NoExecute', /key "UPPER.case\/a": the prefix must be a lower-case DNS/],
    ['a/b/c:NoExecute', /key "a\/b\/c": want name or prefix\/name$/],
    ['a:NoExecute:x', /want key=value:effect or key:effect$/],
    ['a=-b:NoExecute', /value "-b": want 1 to 63 of letters/],
  ];
  for (const [spec, message] of faults) {
    it(`${spec} names what is wrong`, () => {
      assert.throws(() => parseTaint(spec), { name: 'RangeError', message });
    });
  }

  it('names the addition that stands twice', () => {
    assert.throws(() => parseTaintChanges(['a=b:NoExecute', 'c-', 'a:NoExecute']), {
      message:
        'invalid taint "a:NoExecute": another taint with key "a" and effect NoExecute is given',
    });
  });

  it('writes what it read', () => {
    for (const spec of ['a=b:NoExecute', 'example.com/a:NoSchedule']) {
      assert.equal(formatTaint(parseTaint(spec)), spec);
    }
  });
});

itIsAsRecorded('taint-parse', 120);

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { formatTaint, parseTaint } from '@taintmgr/core';

interface Vector {
  readonly specs: readonly string[];
  readonly error: boolean;
  readonly taintsToAdd?: readonly { key: string; value?: string; effect: string }[] | null;
}

const lines = readFileSync(new URL('vectors/taint-parse.jsonl', import.meta.url), 'utf8');
const additions = lines
  .trim()
  .split('\n')
  .map((line): Vector => JSON.parse(line))
  .filter(({ specs }) => specs.length === 1 && !specs[0]?.endsWith('-'));

describe('taint specs', () => {
  it('finds recorded additions', () => assert.ok(additions.length >= 20));

  for (const { specs, error, taintsToAdd } of additions) {
    const spec = specs[0] ?? '';
    it(`${JSON.stringify(spec)} is ${error ? 'refused' : 'read'} as kubectl does`, () => {
      if (error) {
        assert.throws(() => parseTaint(spec), RangeError);
        return;
      }
      const [expected] = taintsToAdd ?? [];
      assert.deepEqual(parseTaint(spec), { value: '', ...expected, timeAdded: null });
    });
  }

  const faults: readonly [string, RegExp][] = [
    ['maintenance', /^invalid taint "maintenance": want key=value:effect or key:effect$/],
    ['a=b:Evict', /effect "Evict": want NoSchedule, PreferNoSchedule, NoExecute$/],
    ['=b:NoExecute', /key "": want 1 to 63 of letters/],
    ['UPPER.case/a:NoExecute', /key "UPPER.case\/a": the prefix must be a lower-case DNS/],
    ['a/b/c:NoExecute', /key "a\/b\/c": want name or prefix\/name$/],
    ['a=-b:NoExecute', /value "-b": want 1 to 63 of letters/],
  ];
  for (const [spec, message] of faults) {
    it(`${spec} names what is wrong`, () => {
      assert.throws(() => parseTaint(spec), { name: 'RangeError', message });
    });
  }

  it('writes what it read', () => {
    for (const spec of ['a=b:NoExecute', 'example.com/a:NoSchedule']) {
      assert.equal(formatTaint(parseTaint(spec)), spec);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparesNumbers, dutyOf, managerFlags } from '../../src/evictors/look.ts';

/** As of a pod that runs it with these flags. */
function flagsOf(...flags: readonly string[]) {
  const containers = [{ name: 'm', command: ['kube-controller-manager', ...flags] }];
  return managerFlags({ spec: { containers } });
}

// Go's strconv.ParseBool takes these, and no others.
it('a name that every object has is the name of no controller', () => {
  const flags = flagsOf('--controllers=constructor,toString,__proto__');
  assert.deepEqual(dutyOf(flags, 'taint-eviction-controller').runs, false);
});

describe('feature gates of kube-controller-manager', () => {
  for (const [gates, compares] of [
    ['', false],
    ['TaintTolerationComparisonOperators=true', true],
    ['TaintTolerationComparisonOperators=1', true],
    ['A=true,kube:TaintTolerationComparisonOperators=True', true],
    ['AllAlpha=T', true],
    ['AllAlpha=true,TaintTolerationComparisonOperators=0', false],
    ['AllAlpha=true,TaintTolerationComparisonOperators=false', false],
  ] as const) {
    it(`say that Lt and Gt ${compares ? '' : 'do not '}count: ${gates}`, () => {
      assert.equal(comparesNumbers(flagsOf(`--feature-gates=${gates}`)), compares);
    });
  }

  for (const no of ['false', 'F', '0']) {
    it(`leave taint eviction to the node lifecycle controller: ${no}`, () => {
      const gate = `--feature-gates=SeparateTaintEvictionController=${no}`;
      const flags = flagsOf('--controllers=*,-taint-eviction-controller', gate);
      assert.equal(dutyOf(flags, 'taint-eviction-controller').runs, true);
    });
  }
});

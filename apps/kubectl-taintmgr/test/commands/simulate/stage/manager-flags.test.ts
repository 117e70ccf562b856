import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPositioned } from '@taintmgr/k8s-adapter/manifests';
import {
  managerDefaults,
  managerFlagsText,
  readManagerFlags,
} from '../../../../src/commands/simulate/stage/manager-flags.ts';

describe('the flags of kube-controller-manager', () => {
  const graces: readonly (readonly [minor: number | null, grace: number])[] = [
    [30, 40_000],
    [31, 40_000],
    [32, 50_000],
    [36, 50_000],
    [null, 50_000],
  ];
  for (const [minor, grace] of graces) {
    it(`give nodes ${grace / 1000} s in ${minor === null ? 'an unknown version' : `1.${minor}`}`, () => {
      assert.equal(managerDefaults(minor).nodeMonitorGracePeriodMs, grace);
    });
  }

  it('are printed as it takes them', () => {
    assert.equal(
      managerFlagsText(managerDefaults(36)),
      '--node-monitor-period=5s --node-monitor-grace-period=50s --node-startup-grace-period=1m ' +
        '--node-eviction-rate=0.1 --secondary-node-eviction-rate=0.01 ' +
        '--unhealthy-zone-threshold=0.55 --large-cluster-size-threshold=50',
    );
  });

  const read = (text: string) => readManagerFlags(readPositioned('flags.yaml', text, 'flags'));

  it('are read by their names', () => {
    const text = '{node-monitor-grace-period: 40s, node-eviction-rate: 0.2}';
    assert.deepEqual(read(text), { nodeMonitorGracePeriodMs: 40_000, nodeEvictionRate: 0.2 });
  });

  const wrong: readonly (readonly [string, RegExp])[] = [
    ['{nodeMonitorGracePeriod: 40s}', /unknown field, did you mean node-monitor-grace-period\?/],
    ['{node-monitor-grace-period: 40}', /want a duration such as 90s, 5m or 1h30m, got 40/],
    ['{node-eviction-rate: -1}', /want a number from 0 on, got -1/],
  ];
  for (const [text, message] of wrong) {
    it(`are refused where they are none: ${text}`, () => {
      assert.throws(() => read(text), message);
    });
  }
});

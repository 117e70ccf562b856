import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as core from '@taintmgr/core';

describe('numbers of the node lifecycle', () => {
  const mass = { share: 0.5, nodesMin: 3, withinMs: 1, holdMs: 1 };
  const flapping = { times: 2, withinMs: 1, healthyMs: 1 };
  type Lifecycle = NonNullable<NonNullable<Parameters<typeof core.createEngine>[0]>['lifecycle']>;
  const fields: readonly (readonly [string, number, (value: number) => Lifecycle])[] = [
    ['podEvictionTimeoutMs', 0, (podEvictionTimeoutMs) => ({ podEvictionTimeoutMs })],
    ['nodeMonitorPeriodMs', 1, (nodeMonitorPeriodMs) => ({ nodeMonitorPeriodMs })],
    ['nodeMonitorGracePeriodMs', 1, (nodeMonitorGracePeriodMs) => ({ nodeMonitorGracePeriodMs })],
    ['nodeStartupGracePeriodMs', 1, (nodeStartupGracePeriodMs) => ({ nodeStartupGracePeriodMs })],
    ['largeClusterSizeThreshold', 0, (value) => ({ largeClusterSizeThreshold: value })],
    ['healthyMs', 0, (healthyMs) => ({ healthyMs })],
    ['writesInFlightMax', 1, (writesInFlightMax) => ({ writesInFlightMax })],
    ['massUnreachable.nodesMin', 1, (nodesMin) => ({ massUnreachable: { ...mass, nodesMin } })],
    ['massUnreachable.withinMs', 1, (withinMs) => ({ massUnreachable: { ...mass, withinMs } })],
    ['massUnreachable.holdMs', 0, (holdMs) => ({ massUnreachable: { ...mass, holdMs } })],
    ['flapping.times', 1, (times) => ({ flapping: { ...flapping, times } })],
    ['flapping.withinMs', 1, (withinMs) => ({ flapping: { ...flapping, withinMs } })],
    ['flapping.healthyMs', 0, (healthyMs) => ({ flapping: { ...flapping, healthyMs } })],
  ];
  for (const [field, least, lifecycle] of fields) {
    it(`${field} is a whole number from ${least}`, () => {
      core.createEngine({ lifecycle: lifecycle(least) });
      for (const value of [least - 1, least + 0.5]) {
        const message = `config.lifecycle.${field}: got ${value}, want a whole number from ${least}`;
        assert.throws(() => core.createEngine({ lifecycle: lifecycle(value) }), { message });
      }
    });
  }
});

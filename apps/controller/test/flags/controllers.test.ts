import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseControllers } from '../../src/flags/controllers.ts';

const [eviction, lifecycle, drains, pressure, devices] = [
  'taint-eviction-controller',
  'node-lifecycle-controller',
  'node-drain-controller',
  'node-pressure-controller',
  'device-taint-eviction-controller',
];

describe('--controllers', () => {
  const cases: readonly (readonly [names: string, enabled: readonly string[] | string])[] = [
    ['*', [eviction, lifecycle, drains]],
    ['', []],
    // It runs only where it is named.
    ['node-pressure-controller', [pressure]],
    ['*,node-pressure-controller', [eviction, lifecycle, drains, pressure]],
    ['*,-node-pressure-controller', [eviction, lifecycle, drains]],
    ['*,device-taint-eviction-controller', [eviction, lifecycle, drains, devices]],
    [eviction, [eviction]],
    ['*,-node-lifecycle-controller', [eviction, drains]],
    ['-taint-eviction-controller,*', [lifecycle, drains]],
    ['node-drain-controller', [drains]],
    ['nodelifecycle', [lifecycle]],
    ['*,-nodelifecycle', [eviction, drains]],
    // The first that names it decides.
    ['node-lifecycle-controller,-nodelifecycle', [lifecycle]],
    ['-nodelifecycle,node-lifecycle-controller,*', [eviction, drains]],
    ['*,job-controller', 'job-controller'],
    ['*,-job-controller', 'job-controller'],
    ['*,--nodelifecycle', '-nodelifecycle'],
    ['-*', '*'],
  ];
  for (const [names, expected] of cases) {
    it(names || 'nothing', () => {
      const chosen = chooseControllers(names === '' ? [] : names.split(','));
      if (typeof chosen === 'string') return assert.equal(chosen, expected);
      assert.deepEqual(chosen.enabled, expected);
      assert.deepEqual([...chosen.enabled, ...chosen.disabled].sort(), [
        devices,
        drains,
        lifecycle,
        pressure,
        eviction,
      ]);
    });
  }
});

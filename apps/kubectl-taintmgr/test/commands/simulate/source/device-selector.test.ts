import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { selectsDevice } from '../../../../src/commands/simulate/source/device-selector.ts';

const device = {
  driver: 'gpu.example.com',
  attributes: {
    model: { string: 'a100' },
    numa: { int: 1 },
    'other.example.com/linked': { bool: true },
    driverVersion: { version: '1.2.3' },
  },
  capacity: { memory: { value: '40Gi' } },
  allowMultipleAllocations: false,
};
const own = 'device.attributes["gpu.example.com"]';

describe('a selector of devices', () => {
  const cases: readonly (readonly [string, boolean | RegExp])[] = [
    ['device.driver == "gpu.example.com"', true],
    ['device.driver in ["a", "b"]', false],
    [`${own}.model == "a100" && ${own}.numa == 1`, true],
    [`${own}.model.matches("^h")`, false],
    ['device.attributes["other.example.com"].linked', true],
    [`"model" in ${own}`, true],
    ['"model" in device.attributes["nobody.example.com"]', false],
    ['device.capacity["gpu.example.com"].memory.compareTo(quantity("20Gi")) > 0', true],
    ['device.capacity["gpu.example.com"].memory.isLessThan(quantity("40000M"))', false],
    [`${own}.nothing == "x"`, /No such key: nothing/],
    [`${own}.driverVersion.isGreaterThan(semver("1.0.0"))`, /semver/],
    ['device.driver', /want true or false/],
    ['device.driver ==', /^CEL runtime error: /],
  ];
  for (const [expression, expected] of cases) {
    it(expression, () => {
      const selected = selectsDevice(expression, device);
      if (typeof expected === 'boolean') assert.equal(selected, expected);
      else assert.match(typeof selected === 'boolean' ? '' : selected.error, expected);
    });
  }
});

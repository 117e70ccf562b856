import assert from 'node:assert/strict';
import { it } from 'node:test';
import { containerStorage, usageOf as usedOf } from '../../../src/pressure/observation/usage.ts';
import { pressurePod, usageOf } from '../objects.ts';

const volumes = [
  { name: 'cache', kind: 'emptyDir' },
  { name: 'ram', kind: 'emptyDir', medium: 'Memory' },
];
const pod = pressurePod('web', { volumes });
const usage = usageOf('web', {
  workingSetBytes: 7,
  processes: 3,
  containers: [
    {
      name: 'main',
      workingSetBytes: 7,
      rootfs: { usedBytes: 100, inodesUsed: 10 },
      logs: { usedBytes: 20, inodesUsed: null },
    },
  ],
  volumes: [
    { name: 'cache', usedBytes: 3, inodesUsed: 1 },
    { name: 'ram', usedBytes: 1000, inodesUsed: 1 },
  ],
});

it('is what the signal measures; memory of volumes is no disk', () => {
  const used = [
    'memory.available',
    'pid.available',
    'nodefs.available',
    'nodefs.inodesFree',
  ] as const;
  assert.deepEqual(
    used.map((signal) => usedOf(pod, usage, signal, 'single')),
    [7, 3, 123, 11],
  );
});

it('leaves out of the disk of the kubelet what lies on that of images', () => {
  assert.equal(usedOf(pod, usage, 'nodefs.available', 'dedicatedImages'), 23);
  assert.equal(usedOf(pod, usage, 'imagefs.available', 'dedicatedImages'), 100);
  assert.equal(usedOf(pod, usage, 'imagefs.available', 'splitImages'), 0);
});

it('is not known where nothing is said', () => {
  assert.equal(usedOf(pod, usageOf('web'), 'nodefs.available', 'single'), null);
  const [container] = usage.containers;
  assert.ok(container);
  assert.deepEqual(
    [containerStorage(container, true), containerStorage(container, false)],
    [120, 20],
  );
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manifestOf, readRequest } from '../../../src/commands/taint-device/request.ts';

// The command line of taint-device as a rule, and what is wrong with others.

const good: readonly (readonly [target: string, selector: object])[] = [
  ['gpu.example.com', { driver: 'gpu.example.com' }],
  ['gpu.example.com/n1', { driver: 'gpu.example.com', pool: 'n1' }],
  ['gpu.example.com/n1/gpu-0', { driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' }],
  ['gpu.example.com/a/b/gpu-0', { driver: 'gpu.example.com', pool: 'a/b', device: 'gpu-0' }],
  ['gpu.example.com/a/b/', { driver: 'gpu.example.com', pool: 'a/b' }],
  ['gpu.example.com/n1/', { driver: 'gpu.example.com', pool: 'n1' }],
];

const bad: readonly (readonly [
  args: readonly [target: string, taint?: string],
  flags: Parameters<typeof readRequest>[2],
  message: string,
])[] = [
  [
    ['health=bad:NoExecute'],
    {},
    'health=bad:NoExecute is a taint; name DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE before it, or add --all-devices',
  ],
  [['gpu.example.com'], {}, 'name a taint after gpu.example.com, such as health=bad:NoExecute'],
  [
    ['gpu.example.com', 'health:NoExecute'],
    { allDevices: true },
    '--all-devices and gpu.example.com exclude each other: give the taint alone',
  ],
  [
    ['gpu.example.com//gpu-0', 'health:NoExecute'],
    {},
    'got "gpu.example.com//gpu-0", want DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE, such as gpu.example.com/node-1/gpu-0',
  ],
  [
    ['/n1/gpu-0', 'health:NoExecute'],
    {},
    'got "/n1/gpu-0", want DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE, such as gpu.example.com/node-1/gpu-0',
  ],
  [
    ['gpu.example.com/', 'health:NoExecute'],
    {},
    'got "gpu.example.com/", want DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE, such as gpu.example.com/node-1/gpu-0',
  ],
  [
    ['gpu.example.com', 'health:NoSchedule'],
    {},
    'health:NoSchedule: want the effect NoExecute, or None for a preview; for NoSchedule no pod leaves',
  ],
  [
    ['gpu.example.com', 'health:NoExecute-'],
    {},
    'health:NoExecute-: to take a taint back, name its rule: kubectl taintmgr undo devicetaintrule/NAME',
  ],
  [
    ['gpu.example.com', 'health'],
    {},
    'invalid taint "health": want key=value:effect or key:effect',
  ],
  [
    ['gpu.example.com', 'health:None'],
    { snooze: 1000 },
    '--snooze and health:None exclude each other: for None no pod leaves',
  ],
  [
    ['devicetaintrule/a', 'health:NoExecute'],
    { name: 'b' },
    'devicetaintrule/a and health:NoExecute, --name exclude each other: the rule says it',
  ],
  [['devicetaintrule/A_b'], {}, 'devicetaintrule/A_b: want the name of a rule'],
];

describe('the request of taint-device', () => {
  for (const [target, deviceSelector] of good) {
    it(`reads ${target}`, () => {
      const request = readRequest(target, 'health=bad:NoExecute', { name: 'a' });
      if (request.kind !== 'new') assert.fail(request.kind);
      assert.deepEqual(manifestOf(request, 'resource.k8s.io/v1', 'None'), {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceTaintRule',
        metadata: { name: 'a', annotations: { 'taintmgr.dev/taint-device': 'made' } },
        spec: { deviceSelector, taint: { key: 'health', value: 'bad', effect: 'None' } },
      });
    });
  }

  it('selects all devices only where a flag says so', () => {
    const request = readRequest('health:NoExecute', undefined, { allDevices: true });
    assert.deepEqual(request.kind === 'new' && request.selector, {
      ...{ driver: null, pool: null, device: null },
    });
    assert.match(request.name, /^taint-\d{8}-\d{6}-[0-9a-f]{4}$/);
  });

  it('takes a rule that is there', () => {
    for (const target of ['devicetaintrule/a', 'devicetaintrules.resource.k8s.io/a']) {
      assert.deepEqual(readRequest(target, undefined, {}), {
        kind: 'rule',
        name: 'a',
        effect: 'NoExecute',
      });
    }
  });

  for (const [args, flags, message] of bad) {
    it(`refuses ${args.join(' ')} ${Object.keys(flags).join(' ')}`, () => {
      assert.throws(() => readRequest(args[0], args[1], flags), { message });
    });
  }
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Devices } from '@taintmgr/core/devices';
import type { TaintManager } from '../../src/cluster/taint-managers.ts';
import {
  agoOrIn,
  deviceEvictor,
  deviceEvictorText,
  selectorText,
} from '../../src/report/devices.ts';

// Who evicts for taints of devices, and the words around them.

const at = 1_000_000;
const upstream = 'kube-controller-manager (device-taint-eviction-controller)';

function manager(renewedAt: number, takeover: object): TaintManager {
  const base = { name: 'taintmgr', leader: 'a', isResigned: false, controllers: [], shadow: null };
  return { ...base, renewedAt, takeover } as unknown as TaintManager;
}

const cases: readonly (readonly [name: string, managers: readonly TaintManager[], text: string])[] =
  [
    ['nobody else', [], upstream],
    [
      'takeover that decides about device taints',
      [manager(at, { enabled: true, deviceTaints: true })],
      `taintmgr-controller in namespaces that are taken over, ${upstream} in others`,
    ],
    ['takeover of node taints alone', [manager(at, { enabled: true })], upstream],
    ['takeover that is off', [manager(at, { enabled: false, deviceTaints: true })], upstream],
    [
      'a leader that has stopped',
      [manager(at - 600_000, { enabled: true, deviceTaints: true })],
      upstream,
    ],
  ];
for (const [name, managers, text] of cases) {
  it(name, () => {
    const evictor = deviceEvictor(managers, { devices: new Devices(), at });
    assert.equal(deviceEvictorText(evictor), text);
  });
}

it('says of rules without any status that they may evict nobody', () => {
  const text = deviceEvictorText({ takesOver: false, actsOnRules: false });
  assert.match(text, /it has written no status of any rule, and then rules evict nobody/);
});

it('says what a selector selects', () => {
  const any = { driver: null, pool: null, device: null };
  assert.equal(selectorText(null), 'nothing (no deviceSelector)');
  assert.equal(selectorText(any), 'every device of every driver');
  assert.equal(selectorText({ ...any, pool: 'n1', device: 'a' }), 'pool n1, device a');
});

it('says how long ago, or in how long', () => {
  assert.deepEqual(
    [agoOrIn(null, at), agoOrIn(at - 61_000, at), agoOrIn(at + 61_000, at)],
    ['unknown', '1m1s ago', 'in 1m1s'],
  );
});

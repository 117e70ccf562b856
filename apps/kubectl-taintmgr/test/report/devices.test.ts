import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Devices } from '@taintmgr/core/devices';
import type { Evictors } from '@taintmgr/k8s-adapter/client';
import { deviceEvictor, type TaintManager } from '@taintmgr/k8s-adapter/survey';
import {
  agoOrIn,
  deviceEvictorText,
  heedlessness,
  selectorText,
} from '../../src/report/devices.ts';

// Who evicts for taints of devices, and the words around them.

const at = 1_000_000;
const upstream = 'kube-controller-manager (device-taint-eviction-controller)';

function manager(renewedAt: number, takeover?: object, controllers: string[] = []): TaintManager {
  const base = { name: 'taintmgr', leader: 'a', isResigned: false, shadow: null };
  return { ...base, controllers, renewedAt, takeover } as unknown as TaintManager;
}

const duty = 'device-taint-eviction-controller';
type Kind = 'acts' | 'doesNotAct' | 'unknown';

const cases: readonly (readonly [
  name: string,
  managers: readonly TaintManager[],
  kind: Kind,
  text: string,
])[] = [
  ['kube-controller-manager as it is seen', [], 'acts', upstream],
  ['nobody can tell', [], 'unknown', `unknown: assume ${upstream}`],
  ['nobody', [], 'doesNotAct', `no controller: kube-controller-manager runs without ${duty}`],
  [
    'takeover that decides about device taints',
    [manager(at, { enabled: true, deviceTaints: true })],
    'acts',
    `taintmgr-controller in namespaces that are taken over, ${upstream} in others`,
  ],
  ['takeover of node taints alone', [manager(at, { enabled: true })], 'acts', upstream],
  [
    'taintmgr-controller alone',
    [manager(at, undefined, [duty])],
    'doesNotAct',
    'taintmgr-controller',
  ],
  [
    'both',
    [manager(at, { enabled: false }, [duty])],
    'unknown',
    `taintmgr-controller and ${upstream}, whichever comes first`,
  ],
  [
    'a leader that has stopped',
    [manager(at - 600_000, { enabled: true, deviceTaints: true })],
    'acts',
    upstream,
  ],
];
for (const [name, managers, kind, text] of cases) {
  it(name, () => {
    const verdict = { kind, evidence: [] } as unknown as Evictors['upstream'][typeof duty];
    const evictors = { upstream: { [duty]: verdict } } as unknown as Evictors;
    const evictor = deviceEvictor(managers, evictors, { devices: new Devices(), at });
    assert.equal(deviceEvictorText(evictor), text);
    assert.equal(heedlessness(evictor), name === 'nobody' ? 'all' : null);
  });
}

it('says of rules without any status that they may evict nobody', () => {
  const evictor = { ours: null, upstream: true, actsOnRules: false };
  assert.match(
    deviceEvictorText(evictor),
    /it has written no status of any rule, and then rules evict no pods/,
  );
  assert.equal(heedlessness(evictor), 'rules');
});

it('says what a selector selects', () => {
  const any = { driver: null, pool: null, device: null };
  assert.equal(selectorText({ selector: null }), 'nothing (no deviceSelector)');
  assert.equal(selectorText({ selector: any }), 'every device of every driver');
  const one = { ...any, pool: 'n1', device: 'a' };
  assert.equal(selectorText({ selector: one }), 'pool n1, device a');
  const unread = { selector: null, unreadSelection: ['deviceClassName', 'selectors'] };
  const unknown = 'by deviceClassName, selectors: which devices is not known here';
  assert.equal(selectorText(unread), unknown);
});

it('says how long ago, or in how long', () => {
  assert.deepEqual(
    [agoOrIn(null, at), agoOrIn(at - 61_000, at), agoOrIn(at + 61_000, at)],
    ['unknown', '1m1s ago', 'in 1m1s'],
  );
});

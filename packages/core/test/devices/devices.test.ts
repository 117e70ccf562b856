import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AllocatedDevice,
  type ClaimingPodEvent,
  type DeviceEvent,
  type DeviceSelector,
  Devices,
  type DeviceTaintRule,
  describeDeviceCause,
  describeDeviceReason,
  type PodClaim,
  type ResourceClaim,
  type ResourceSlice,
} from '@taintmgr/core/devices';
import { makePod } from '../../src/model/builders.ts';
import type { Pod } from '../../src/model/pod.ts';
import type { Taint } from '../../src/model/taint.ts';
import type { Toleration } from '../../src/model/toleration.ts';
import { fc } from '../fast-check.ts';

const since = Date.parse('2026-11-29T03:31:04Z');
const driver = 'gpu.example.com';

function taint(given: Partial<Taint> = {}): Taint {
  return { key: 'health', value: 'bad', effect: 'NoExecute', timeAdded: since, ...given };
}

function rule(given: Partial<DeviceTaintRule> = {}): DeviceTaintRule {
  const selector = { driver, pool: null, device: null };
  const fields = { name: 'ecc', uid: 'u-ecc', generation: 1, progress: null };
  return { ...fields, selector, taint: taint(), ...given };
}

function slice(taints: readonly Taint[], given: Partial<ResourceSlice> = {}): ResourceSlice {
  const devices = [{ name: 'gpu-0', taints }];
  return { name: 'n1-gpu-x7', driver, pool: 'n1', generation: 1, devices, ...given };
}

function tolerating(given: Partial<Toleration> = {}): Toleration {
  const all = { key: 'health', operator: 'Exists', value: '', effect: 'NoExecute' };
  return { ...all, tolerationSeconds: null, ...given };
}

function allocated(tolerations: readonly Toleration[] = []): AllocatedDevice {
  return { driver, pool: 'n1', device: 'gpu-0', request: 'r0', tolerations };
}

function claim(given: Partial<ResourceClaim> = {}): ResourceClaim {
  const names = { namespace: 'default', name: 'gpu', uid: 'u-gpu', ownerUid: null };
  return { ...names, allocated: [allocated()], reservedFor: ['default/train-1'], ...given };
}

const named: PodClaim = { name: 'c0', claim: 'gpu', origin: 'named' };

function pod(claims: readonly PodClaim[] | undefined = [named], nodeName = 'n1'): Pod {
  return makePod({ name: 'train-1', nodeName, claims });
}

/** Everything at once: a pod, its claim, and whatever else is there. */
function world(
  events: readonly (DeviceEvent | ClaimingPodEvent)[],
  given: Partial<ResourceClaim> = {},
): Devices {
  const devices = new Devices();
  devices.handle({ kind: 'resourceClaimUpsert', claim: claim(given) });
  for (const event of events) devices.handle(event);
  return devices;
}

const ruled: DeviceEvent = { kind: 'deviceTaintRuleUpsert', rule: rule() };

/** The verdict in words, seconds after `since`. */
function told(devices: Devices, of: Pod = pod()): string {
  const verdict = devices.verdictOf(of);
  if (verdict.at === null) return verdict.because.map(describeDeviceReason).join('\n');
  const lacks = verdict.lacks.length > 0 ? ` (without ${verdict.lacks})` : '';
  const causes = verdict.causes.map((one) => `${one.at - since}: ${describeDeviceCause(one)}`);
  return causes.join('\n') + lacks;
}

const byRule =
  'device gpu.example.com/n1/gpu-0 of claim gpu is tainted health=bad:NoExecute by DeviceTaintRule ecc since 2026-11-29T03:31:04Z';

function withTolerations(tolerations: readonly Toleration[]): Devices {
  return world([ruled], { allocated: [allocated(tolerations)] });
}

function withTaint(given: Partial<Taint>): Devices {
  return world([{ kind: 'deviceTaintRuleUpsert', rule: rule({ taint: taint(given) }) }]);
}

function withSelector(selector: DeviceSelector | null): Devices {
  return world([{ kind: 'deviceTaintRuleUpsert', rule: rule({ selector }) }]);
}

function withUnread(effect: string): Devices {
  const unreadSelection = ['deviceClassName'];
  const given = { selector: null, unreadSelection, taint: taint({ effect }) };
  return world([{ kind: 'deviceTaintRuleUpsert', rule: rule(given) }]);
}

const wraps = (seconds: number | bigint): string =>
  told(withTolerations([tolerating({ tolerationSeconds: seconds })])).split(':')[0] ?? '';

const cases: readonly (readonly [name: string, got: () => string, want: string])[] = [
  ['a rule', () => told(world([ruled])), `0: ${byRule}; the claim does not tolerate it`],
  [
    'a slice',
    () => told(world([{ kind: 'resourceSliceUpsert', slice: slice([taint()]) }])),
    '0: device gpu.example.com/n1/gpu-0 of claim gpu is tainted health=bad:NoExecute by its driver in ResourceSlice n1-gpu-x7 (#0) since 2026-11-29T03:31:04Z; the claim does not tolerate it',
  ],
  [
    'the shortest toleration',
    () =>
      told(
        withTolerations([
          tolerating({ tolerationSeconds: 20 }),
          tolerating({ tolerationSeconds: 5 }),
        ]),
      ),
    `5000: ${byRule}; the claim tolerates it for 5s`,
  ],
  [
    'one without limit beside a short one',
    () => told(withTolerations([tolerating({ tolerationSeconds: 5 }), tolerating()])),
    'claim gpu tolerates health=bad:NoExecute of device gpu.example.com/n1/gpu-0 without limit',
  ],
  [
    'a toleration without effect',
    () => told(withTolerations([tolerating({ effect: '' })])),
    `0: ${byRule}; the claim's toleration of health names no effect; only NoExecute counts here, while the scheduler takes it for all effects`,
  ],
  [
    'a toleration of another value',
    () => told(withTolerations([tolerating({ operator: 'Equal', value: 'good' })])),
    `0: ${byRule}; the claim does not tolerate it`,
  ],
  [
    'effect None',
    () => told(withTaint({ effect: 'None' })),
    'rule ecc taints its device gpu.example.com/n1/gpu-0 health=bad:None (a preview); NoExecute would evict it at once',
  ],
  [
    'effect NoSchedule',
    () => told(withTaint({ effect: 'NoSchedule' })),
    'rule ecc taints its device gpu.example.com/n1/gpu-0 health=bad:NoSchedule; NoExecute would evict it at once',
  ],
  ['a selector of nothing', () => told(withSelector(null)), 'its devices have no taint'],
  [
    'a selector of everything',
    () => told(withSelector({ driver: null, pool: null, device: null })),
    `0: ${byRule}; the claim does not tolerate it`,
  ],
  [
    'a selector of another device',
    () => told(withSelector({ driver, pool: 'n1', device: 'gpu-1' })),
    'its devices have no taint',
  ],
  [
    'no claims',
    () => told(world([ruled]), makePod({ name: 'web', nodeName: 'n1' })),
    'it uses no ResourceClaim',
  ],
  [
    'not bound',
    () => told(world([ruled]), pod([named], '')),
    `not bound to a node; once it is bound: ${byRule}; the claim does not tolerate it`,
  ],
  [
    'not reserved',
    () => told(world([ruled], { reservedFor: ['other'] })),
    `claim gpu is not reserved for it, though ${byRule}`,
  ],
  ['not allocated', () => told(world([ruled], { allocated: null })), 'claim gpu is not allocated'],
  [
    'a claim that is not there',
    () => told(world([ruled]), pod([{ ...named, claim: 'gone' }])),
    'claim gone does not exist',
  ],
  [
    'a claim that is yet to be made',
    () => told(world([ruled]), pod([{ name: 'c0', claim: null, origin: 'template' }])),
    'no ResourceClaim has been made for its claim c0',
  ],
  [
    'a claim that was made for another pod',
    () => told(world([ruled], { ownerUid: 'other' }), pod([{ ...named, origin: 'template' }])),
    `claim gpu was made for another pod, though ${byRule}`,
  ],
  [
    'a claim of its own',
    () =>
      told(
        world([ruled], { ownerUid: 'default/train-1' }),
        pod([{ ...named, origin: 'template' }]),
      ),
    `0: ${byRule}; the claim does not tolerate it`,
  ],
  [
    'an extended resource',
    () => told(world([ruled]), pod([{ ...named, origin: 'extended' }])),
    `claim gpu was made for an extended resource: Kubernetes up to 1.37 does not evict for its devices, though ${byRule}`,
  ],
  [
    'no rights',
    () => told(world([{ kind: 'deviceRights', hidden: ['resourceslices', 'devicetaintrules'] }])),
    'unknown: no permission to read resourceslices and devicetaintrules',
  ],
  [
    'a right that is lacking where another tells enough',
    () => told(world([ruled, { kind: 'deviceRights', hidden: ['resourceslices'] }])),
    `0: ${byRule}; the claim does not tolerate it (without resourceslices)`,
  ],
  [
    'a rule by class',
    () => told(withUnread('NoExecute')),
    'unknown: DeviceTaintRule ecc selects by class or by CEL, and which devices these are cannot be told here',
  ],
  [
    'a rule by class that evicts nobody',
    () => told(withUnread('None')),
    'its devices have no taint',
  ],
  ['seconds that int64 holds', () => wraps(9_223_372_036), '9223372036000'],
  ['seconds that wrap into the past', () => wraps(9_223_372_037), '-9223372036710'],
  ['seconds that wrap to 49 years', () => wraps(20_000_000_000), '1553255926290'],
  ['the largest seconds, exactly', () => wraps(2n ** 63n - 1n), '-1000'],
  ['the largest seconds, as JSON has them', () => wraps(2 ** 63), '-1000'],
  ['negative seconds', () => wraps(-4), '0'],
];

describe('a verdict about devices', () => {
  for (const [name, got, want] of cases) it(name, () => assert.equal(got(), want));

  it('of two causes tells the earliest first', () => {
    const first = rule({ name: 'a', taint: taint({ key: 'first', timeAdded: since - 9000 }) });
    const devices = world([ruled, { kind: 'deviceTaintRuleUpsert', rule: first }]);
    const verdict = devices.verdictOf(pod());
    assert.ok(verdict.at !== null);
    assert.equal(verdict.at, since - 9000);
    assert.deepEqual(
      verdict.causes.map(({ source }) => source.name),
      ['a', 'ecc'],
    );
  });

  it('tells a claim once that its pod names ever so often', () => {
    const names = Array.from({ length: 3 }, (_, index) => ({ ...named, name: `c${index}` }));
    const devices = world([ruled]);
    const verdict = devices.verdictOf(pod(names));
    assert.ok(verdict.at !== null);
    assert.equal(verdict.causes.length, 1);
    assert.equal(devices.hitsOn(pod(names)).length, 1);
  });

  it('without rules is that of slices', () => {
    assert.deepEqual(world([ruled]).verdictOf(pod(), { withRules: false }), {
      at: null,
      because: [{ code: 'NotTainted' }],
    });
  });

  it('goes by slices of the highest generation', () => {
    const devices = world([{ kind: 'resourceSliceUpsert', slice: slice([taint()]) }]);
    const newer = slice([], { name: 'newer', generation: 2 });
    devices.handle({ kind: 'resourceSliceUpsert', slice: newer });
    assert.equal(told(devices), 'its devices have no taint');
    devices.handle({ kind: 'resourceSliceDelete', name: 'newer' });
    assert.notEqual(devices.verdictOf(pod()).at, null);
    devices.handle({ kind: 'resourceSliceUpsert', slice: slice([]) });
    assert.equal(told(devices), 'its devices have no taint');
  });
});

describe('devices', () => {
  it('know if kube-controller-manager acts on rules', () => {
    assert.equal(new Devices().actsOnRules, null);
    assert.equal(world([ruled]).actsOnRules, false);
    const status = { status: 'False', reason: 'NotStarted', message: '' };
    const progress = { ...status, observedGeneration: 1, transitionAt: since };
    const seen = rule({ name: 'seen', progress });
    assert.equal(world([ruled, { kind: 'deviceTaintRuleUpsert', rule: seen }]).actsOnRules, true);
  });

  it('tell the reach of a rule as if it were alone and executed', () => {
    const devices = world([
      { kind: 'podUpsert', pod: pod() },
      { kind: 'resourceSliceUpsert', slice: slice([]) },
    ]);
    const gpu = { driver, pool: 'n1', device: 'gpu-0' };
    const reach = devices.reachOf(rule({ taint: taint({ effect: 'None' }) }));
    assert.deepEqual(reach.published, [gpu]);
    assert.equal(reach.allocated.length, 1);
    assert.deepEqual(
      reach.pods.map((one) => one.pod.name),
      ['train-1'],
    );
    const nothing = { published: [], allocated: [], pods: [] };
    assert.deepEqual(devices.reachOf(rule({ selector: null })), nothing);
    const any: DeviceSelector = { driver: null, pool: null, device: null };
    for (const part of ['driver', 'pool', 'device'] as const) {
      const of = devices.reachOf(rule({ selector: { ...any, [part]: gpu[part] } }));
      assert.deepEqual(of, devices.reachOf(rule({ selector: any })));
      assert.deepEqual(devices.reachOf(rule({ selector: { ...any, [part]: 'x' } })), nothing);
    }
    assert.deepEqual(
      devices.podsOf(gpu).map(({ name }) => name),
      ['train-1'],
    );
  });
});

// A dumb twin: it keeps the events' last words and reads everything anew for each question.

type Objects = {
  readonly slices: Map<string, ResourceSlice>;
  readonly rules: Map<string, DeviceTaintRule>;
  readonly claims: Map<string, ResourceClaim>;
};

/** When the pod goes by the words of the specification; null: it stays. */
function twinAt({ slices, rules, claims }: Objects, { namespace, uid, ...of }: Pod): number | null {
  const times: number[] = [];
  for (const { claim: name, origin } of of.nodeName === '' ? [] : (of.claims ?? [])) {
    const used = claims.get(`${namespace}/${name}`);
    if (!used?.allocated || !used.reservedFor.includes(uid) || origin === 'extended') continue;
    if (origin === 'template' && used.ownerUid !== uid) continue;
    for (const one of used.allocated) {
      const pool = [...slices.values()].filter(
        (other) => other.driver === one.driver && other.pool === one.pool,
      );
      const current = pool.filter((other) => pool.every((x) => x.generation <= other.generation));
      const published = current.flatMap(({ devices }) =>
        devices.filter((device) => device.name === one.device).flatMap(({ taints }) => taints),
      );
      const ruledTaints = [...rules.values()].filter(({ selector }) => {
        if (!selector) return false;
        const parts = ['driver', 'pool', 'device'] as const;
        return parts.every((part) => selector[part] === null || selector[part] === one[part]);
      });
      for (const found of [...published, ...ruledTaints.map((other) => other.taint)]) {
        if (found.effect !== 'NoExecute') continue;
        const waits = one.tolerations
          .filter(({ effect, key }) => effect === 'NoExecute' && ['', found.key].includes(key))
          .filter(({ operator, value }) => operator === 'Exists' || value === found.value)
          .map(({ tolerationSeconds }) => Number(tolerationSeconds ?? Number.POSITIVE_INFINITY));
        const wait = waits.length === 0 ? 0 : Math.max(0, Math.min(...waits));
        if (!waits.includes(Number.POSITIVE_INFINITY)) {
          times.push((found.timeAdded ?? 0) + wait * 1000);
        }
      }
    }
  }
  return times.length === 0 ? null : Math.min(...times);
}

const keys = fc.constantFrom('health', 'ecc', 'maint');
const values = fc.constantFrom('', 'a', 'b');
const pools = fc.constantFrom('p0', 'p1');
const names = fc.constantFrom('d0', 'd1', 'd2');
const taints = fc.record({
  key: keys,
  value: values,
  effect: fc.constantFrom('NoExecute', 'NoExecute', 'NoExecute', 'NoSchedule', 'None'),
  timeAdded: fc.integer({ min: 0, max: 90 }).map((second) => second * 1000),
});
const tolerations = fc.record({
  key: fc.oneof(keys, fc.constant('')),
  operator: fc.constantFrom('', 'Equal', 'Exists', 'Lt'),
  value: values,
  effect: fc.constantFrom('NoExecute', 'NoExecute', '', 'NoSchedule'),
  tolerationSeconds: fc.option(fc.integer({ min: -3, max: 60 })),
});
const uids = ['u0', 'u1', 'u2'];

const events: fc.Arbitrary<DeviceEvent | ClaimingPodEvent> = fc.oneof(
  fc.record({
    kind: fc.constant('resourceSliceUpsert' as const),
    slice: fc.record({
      name: fc.constantFrom('s0', 's1', 's2'),
      driver: fc.constant(driver),
      pool: pools,
      generation: fc.integer({ min: 1, max: 2 }),
      devices: fc.uniqueArray(
        fc.record({ name: names, taints: fc.array(taints, { maxLength: 2 }) }),
        {
          maxLength: 3,
          selector: ({ name }) => name,
        },
      ),
    }),
  }),
  fc.record({
    kind: fc.constant('resourceSliceDelete' as const),
    name: fc.constantFrom('s0', 's1', 's2'),
  }),
  fc.record({
    kind: fc.constant('deviceTaintRuleUpsert' as const),
    rule: fc.record({
      name: fc.constantFrom('r0', 'r1'),
      uid: fc.constantFrom('a', 'b'),
      generation: fc.constant(1),
      selector: fc.option(
        fc.record({
          driver: fc.constantFrom(null, driver, 'other'),
          pool: fc.option(pools),
          device: fc.option(names),
        }),
      ),
      taint: taints,
      progress: fc.constant(null),
    }),
  }),
  fc.record({
    kind: fc.constant('deviceTaintRuleDelete' as const),
    name: fc.constantFrom('r0', 'r1'),
  }),
  fc.record({
    kind: fc.constant('resourceClaimUpsert' as const),
    claim: fc.record({
      namespace: fc.constant('default'),
      name: fc.constantFrom('c0', 'c1', 'c2'),
      uid: fc.constant('u'),
      ownerUid: fc.option(fc.constantFrom(...uids)),
      allocated: fc.option(
        fc.array(
          fc.record({
            driver: fc.constant(driver),
            pool: pools,
            device: names,
            request: fc.constant('r'),
            tolerations: fc.array(tolerations, { maxLength: 3 }),
          }),
          { maxLength: 3 },
        ),
        { freq: 8 },
      ),
      reservedFor: fc.subarray(uids),
    }),
  }),
  fc.record({
    kind: fc.constant('resourceClaimDelete' as const),
    namespace: fc.constant('default'),
    name: fc.constantFrom('c0', 'c1', 'c2'),
  }),
  fc.record({
    kind: fc.constant('podUpsert' as const),
    pod: fc
      .record({
        uid: fc.constantFrom(...uids),
        nodeName: fc.constantFrom('', 'n1', 'n1', 'n1'),
        claims: fc.option(
          fc.array(
            fc.record({
              name: fc.constant('own'),
              claim: fc.constantFrom('c0', 'c1', 'c2', null),
              origin: fc.constantFrom('named' as const, 'named', 'template', 'extended'),
            }),
            { maxLength: 2 },
          ),
          { nil: undefined, freq: 8 },
        ),
      })
      .map(({ uid, nodeName, claims }) => makePod({ name: uid, uid, nodeName, claims })),
  }),
  fc.record({ kind: fc.constant('podDelete' as const), uid: fc.constantFrom(...uids) }),
);

describe('after changes in any order', () => {
  it('each pod has the verdict of who reads everything anew, and who has another one is named', () => {
    fc.assert(
      fc.property(fc.array(events, { minLength: 1, maxLength: 40 }), (drawn) => {
        const devices = new Devices();
        const objects: Objects = { slices: new Map(), rules: new Map(), claims: new Map() };
        const pods = new Map<string, Pod>();
        for (const event of drawn) {
          const before = new Map(Array.from(pods, ([uid, one]) => [uid, devices.verdictOf(one)]));
          const touched = devices.handle(event);
          follow(objects, pods, event);
          for (const one of pods.values()) {
            const verdict = devices.verdictOf(one);
            assert.equal(verdict.at, twinAt(objects, one));
            const earlier = before.get(one.uid);
            if (!touched.has(one.uid) && earlier) assert.deepEqual(verdict, earlier);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('what is gone is forgotten', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 30 }), (drawn) => {
        const devices = new Devices();
        for (const event of drawn) devices.handle(event);
        for (const name of ['s0', 's1', 's2'])
          devices.handle({ kind: 'resourceSliceDelete', name });
        for (const name of ['r0', 'r1']) devices.handle({ kind: 'deviceTaintRuleDelete', name });
        for (const name of ['c0', 'c1', 'c2']) {
          devices.handle({ kind: 'resourceClaimDelete', namespace: 'default', name });
        }
        for (const uid of uids) devices.handle({ kind: 'podDelete', uid });
        assert.deepEqual([...devices.pods(), ...devices.claims(), ...devices.rules()], []);
        assert.deepEqual(devices.published(), []);
        assert.equal(devices.poolCount, 0);
      }),
    );
  });
});

function follow(
  { slices, rules, claims }: Objects,
  pods: Map<string, Pod>,
  event: DeviceEvent | ClaimingPodEvent,
): void {
  if (event.kind === 'resourceSliceUpsert') slices.set(event.slice.name, event.slice);
  if (event.kind === 'resourceSliceDelete') slices.delete(event.name);
  if (event.kind === 'deviceTaintRuleUpsert') rules.set(event.rule.name, event.rule);
  if (event.kind === 'deviceTaintRuleDelete') rules.delete(event.name);
  if (event.kind === 'resourceClaimUpsert') claims.set(`default/${event.claim.name}`, event.claim);
  if (event.kind === 'resourceClaimDelete') claims.delete(`default/${event.name}`);
  if (event.kind === 'podUpsert') pods.set(event.pod.uid, event.pod);
  if (event.kind === 'podDelete') pods.delete(event.uid);
}

it('tells of the pods of a rule by class when it comes, changes and goes', () => {
  const devices = world([{ kind: 'podUpsert', pod: pod() }]);
  const unread = { selector: null, unreadSelection: ['deviceClassName'] };
  const put = (given: Partial<DeviceTaintRule>): number =>
    devices.handle({ kind: 'deviceTaintRuleUpsert', rule: rule(given) }).size;
  assert.deepEqual([put(unread), put(unread), put({ selector: null }), put(unread)], [1, 0, 1, 1]);
  assert.equal(devices.handle({ kind: 'deviceTaintRuleDelete', name: 'ecc' }).size, 1);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePod } from '../../src/model/builders.ts';
import {
  Interned,
  KeptPod,
  KeptTraits,
  keepPod,
  plainPod,
  traitsOf,
  withTolerations,
} from '../../src/model/kept-pod.ts';
import type { Pod } from '../../src/model/pod.ts';
import { fc } from '../fast-check.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1' };
const base = makePod({
  name: 'web',
  namespace: 'shop',
  nodeName: 'a',
  owner,
  labels: { app: 'web' },
});

/** Each differs from the one above in one thing that pods may share. */
const others: readonly Pod[] = [
  { ...base, namespace: 'other' },
  { ...base, phase: 'Pending' },
  { ...base, generation: 2 },
  { ...base, mirror: true },
  { ...base, hasEmptyDir: true },
  { ...base, gracePeriodSeconds: 5 },
  { ...base, optedOut: true },
  { ...base, unsafeToEvict: true },
  { ...base, doNotDisrupt: true },
  { ...base, ready: 'False' },
  { ...base, priority: 7 },
  { ...base, priorityClassName: 'high' },
  { ...base, owner: null },
  { ...base, owner: { ...owner, kind: 'Job' } },
  { ...base, owner: { ...owner, apiVersion: 'apps/v2' } },
  { ...base, labels: undefined },
  { ...base, labels: { app: 'web', tier: 'front' } },
  { ...base, labels: { app: 'other' } },
  { ...base, labels: { other: 'web' } },
  { ...base, disruption: { reason: 'PreemptionByScheduler', manager: null } },
  { ...base, disruption: { reason: 'PreemptionByScheduler', manager: 'scheduler' } },
  { ...base, tolerations: [tolerating('a', null)] },
  { ...base, tolerations: [tolerating('a', 30)] },
  { ...base, tolerations: [tolerating('a', Number.NEGATIVE_INFINITY)] },
  { ...base, tolerations: [tolerating('a', 30), tolerating('b', 30)] },
];

function tolerating(key: string, tolerationSeconds: number | null): Pod['tolerations'][number] {
  return { key, operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds };
}

/** All that a pod says, of whatever making it is. */
function told(pod: Pod): object {
  const { name, uid, nodeName, boundAt, deletionTimestamp } = pod;
  return { name, uid, nodeName, boundAt, deletionTimestamp, ...traitsOf(pod) };
}

describe('a pod as it is kept', () => {
  it('says what the pod said', () => {
    for (const pod of [base, ...others]) {
      const kept = new KeptPod(pod, new KeptTraits().take(pod, null));
      assert.deepEqual(told(kept), told(pod));
    }
  });

  it('has room for claims only where it uses some', () => {
    const traits = new KeptTraits().take(base, null);
    const claims = [{ name: 'gpu', claim: 'web-gpu', origin: 'template' }] as const;
    const claiming = keepPod({ ...base, claims }, traits);
    assert.deepEqual(plainPod(claiming), { ...plainPod(base), claims });
    assert.deepEqual(
      withTolerations(claiming, []),
      keepPod({ ...base, claims }, { ...traits, tolerations: [] }),
    );
    assert.equal(Object.hasOwn(keepPod(base, traits), 'claims'), false);
    assert.equal(Object.hasOwn(plainPod(base), 'claims'), false);
  });

  it('with other tolerations is the same in all else', () => {
    const pod = withTolerations(base, [tolerating('b', 1)]);
    assert.deepEqual(told(pod), told({ ...base, tolerations: [tolerating('b', 1)] }));
  });
});

describe('traits', () => {
  it('are kept once where they are equal', () => {
    const traits = new KeptTraits();
    const first = traits.take(base, null);
    const copy = { ...base, owner: { ...owner }, labels: { app: 'web' }, name: 'web-2', uid: '2' };
    assert.equal(traits.take(copy, null), first);
  });

  it('are others where one thing differs, and share the rest with what the pod had', () => {
    for (const pod of others) {
      const traits = new KeptTraits();
      const first = traits.take(base, null);
      const second = traits.take(pod, first);
      assert.notEqual(second, first);
      assert.deepEqual(second, traitsOf(pod));
      if (pod.owner === base.owner) assert.equal(second.owner, first.owner);
      if (pod.labels === base.labels) assert.equal(second.labels, first.labels);
    }
  });

  it('are forgotten when nobody has them, and not before', () => {
    const traits = new KeptTraits();
    const first = traits.take(base, null);
    traits.take(base, first);
    traits.release(first);
    assert.equal(traits.take(base, null), first);
    for (let uses = 0; uses < 2; uses++) traits.release(first);
    assert.notEqual(traits.take(base, null), first);
  });

  it('say the same as without sharing, in whatever order pods come and go', () => {
    const step = fc.record({
      uid: fc.nat(3),
      pod: fc.constantFrom(base, ...others),
      goes: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const traits = new KeptTraits();
        const kept = new Map<number, KeptPod>();
        const twin = new Map<number, Pod>();
        for (const { uid, pod, goes } of steps) {
          const before = kept.get(uid) ?? null;
          if (goes) {
            kept.delete(uid);
            twin.delete(uid);
          } else {
            kept.set(uid, new KeptPod(pod, traits.take(pod, before?.traits ?? null)));
            twin.set(uid, pod);
          }
          if (before) traits.release(before.traits);
        }
        for (const [uid, pod] of twin) {
          const found = kept.get(uid);
          assert.deepEqual(found && told(found), told(pod));
        }
      }),
    );
  });
});

it('keeps equal values once, for as long as somebody uses them', () => {
  const interned = new Interned<readonly string[]>((value) => value.join());
  const first = ['a'];
  assert.equal(interned.take(first), first);
  assert.equal(interned.take(['a']), first);
  interned.release(['a']);
  assert.equal(interned.take(['a']), first, 'one use is left');
  for (let uses = 0; uses < 2; uses++) interned.release(first);
  const later = ['a'];
  assert.equal(interned.take(later), later);
});

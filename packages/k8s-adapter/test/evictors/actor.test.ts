import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Actor, actorOf } from '../../src/evictors/actor.ts';
import type { DutyVerdict, Evidence, LeaseSight } from '../../src/evictors/judge.ts';

// Who acts, by what was seen of kube-controller-manager and of taintmgr-controller.

const startedAt = Date.UTC(2026, 0, 2);
const acquiredAt = startedAt + 60_000;

function lease(namespace: string, name: string): Evidence {
  const seen: LeaseSight = {
    namespace,
    name,
    uid: 'uid',
    resourceVersion: '1',
    holder: 'cp_1',
    duration: 15_000,
    renewedAt: acquiredAt,
    acquiredAt,
  };
  return { kind: 'lease', lease: seen, life: 'alive', age: 0 };
}

const managerLease = lease('kube-system', 'kube-controller-manager');
const ourLease = lease('taintmgr-system', 'taintmgr-controller');
const managerPod: Evidence = {
  kind: 'pod',
  namespace: 'kube-system',
  name: 'kcm',
  uid: 'uid',
  says: null,
  startedAt,
};
const forbidden: Evidence = { kind: 'forbidden', right: 'list pods in kube-system' };
const noLease: Evidence = { kind: 'noLease', name: 'kube-controller-manager' };

const acts = (...evidence: readonly Evidence[]): DutyVerdict => ({
  kind: 'acts',
  who: 'cp_1',
  evidence,
});
const absent = (...evidence: readonly Evidence[]): DutyVerdict => ({
  kind: 'doesNotAct',
  evidence,
});
const unknown = (who: string | null, ...evidence: readonly Evidence[]): DutyVerdict => ({
  kind: 'unknown',
  who,
  evidence,
});

type Case = readonly [
  name: string,
  manager: DutyVerdict,
  ours: DutyVerdict,
  expected: Pick<Actor, 'name' | 'rules' | 'sure' | 'upstreamSince'>,
];

const manager = 'kube-controller-manager';
const ours = 'taintmgr-controller';

const cases: readonly Case[] = [
  [
    'kube-controller-manager with its flags',
    acts(managerLease, managerPod),
    absent(),
    { name: manager, rules: manager, sure: true, upstreamSince: acquiredAt },
  ],
  [
    'the same without leader election: since its process began',
    acts(noLease, managerPod),
    absent(),
    { name: manager, rules: manager, sure: true, upstreamSince: startedAt },
  ],
  [
    'a living kube-controller-manager whose flags cannot be seen',
    unknown('cp_1', managerLease, { kind: 'noPod' }),
    absent(),
    { name: manager, rules: manager, sure: false, upstreamSince: acquiredAt },
  ],
  [
    'one that may be inside of the server',
    unknown(null, noLease, { kind: 'noPod' }, { kind: 'embedded', version: 'v1.36.2+k3s1' }),
    absent(),
    { name: manager, rules: manager, sure: false, upstreamSince: null },
  ],
  [
    'ours, where the other says that it does not',
    absent(managerLease, managerPod),
    acts(ourLease),
    { name: ours, rules: ours, sure: true, upstreamSince: null },
  ],
  [
    'ours, where of the other nothing is seen',
    unknown(null, noLease, { kind: 'noPod' }),
    acts(ourLease),
    { name: ours, rules: ours, sure: false, upstreamSince: null },
  ],
  [
    'both',
    acts(managerLease, managerPod),
    acts(ourLease),
    { name: 'both', rules: 'both', sure: true, upstreamSince: acquiredAt },
  ],
  [
    'nobody, with proof',
    absent(managerLease, managerPod),
    absent(),
    { name: 'nobody', rules: ours, sure: true, upstreamSince: null },
  ],
  [
    'nobody, as far as anybody can see',
    unknown(null, noLease, { kind: 'noPod' }),
    absent(),
    { name: 'unknown', rules: manager, sure: false, upstreamSince: null },
  ],
  [
    'one that Events name',
    unknown(null, noLease, { kind: 'noPod' }, { kind: 'events', pods: 2, age: 1000 }),
    absent(),
    { name: manager, rules: manager, sure: false, upstreamSince: null },
  ],
  [
    'without any right to look',
    unknown(null, forbidden, forbidden),
    unknown(null, forbidden),
    { name: 'unknown', rules: manager, sure: false, upstreamSince: null },
  ],
  [
    'without the right to look for ours',
    absent(managerLease, managerPod),
    unknown(null, forbidden),
    { name: 'unknown', rules: ours, sure: false, upstreamSince: null },
  ],
];

describe('who acts on NoExecute taints', () => {
  for (const [name, verdict, taintmgr, expected] of cases) {
    it(name, () => {
      const upstream = {
        'taint-eviction-controller': verdict,
        'node-lifecycle-controller': absent(),
        'device-taint-eviction-controller': absent(),
      };
      const { source, ...actor } = actorOf({ upstream, taintmgr });
      assert.deepEqual(actor, expected);
      assert.notEqual(source, '');
    });
  }

  it('says what shows it', () => {
    const upstream = {
      'taint-eviction-controller': acts(managerLease, managerPod),
      'node-lifecycle-controller': absent(),
      'device-taint-eviction-controller': absent(),
    };
    const { source } = actorOf({ upstream, taintmgr: absent() });
    assert.equal(source, 'lease kube-system/kube-controller-manager; pod kube-system/kcm');
  });
});

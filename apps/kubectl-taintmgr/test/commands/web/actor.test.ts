import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { actorOf, type Evictors } from '@taintmgr/k8s-adapter';
import { liveActor } from '../../../src/commands/web/actor.ts';
import { acts, may, withUpstream } from '../../world/explained.ts';
import { nobody } from '../../world/values.ts';

const published = { kind: 'published', name: 'taintmgr', leader: 'manager-1' } as const;
const evidence = [{ ...published, startedAt: 1000, age: 0 }];
const ours = { ...nobody, taintmgr: { ...acts, evidence } };

const cases: readonly (readonly [Evictors, text: string, since: number | null])[] = [
  [nobody, 'No controller evicts here', null],
  [withUpstream(acts), 'kube-controller-manager evicts here', null],
  [
    withUpstream({ ...may, who: null }),
    'It is unknown who evicts here (leases and pods): assume kube-controller-manager',
    null,
  ],
  [ours, 'taintmgr-controller evicts here, leader manager-1', 1000],
  [
    { ...ours, upstream: withUpstream(acts).upstream },
    'kube-controller-manager and taintmgr-controller evict here, whichever comes first',
    null,
  ],
];

describe('who evicts, on the live page', () => {
  for (const [evictors, text, since] of cases) {
    it(`is said as: ${text}`, () => {
      const evictor = { ...actorOf(evictors), asksBudgets: null };
      const { evictedBy, evictedSince } = liveActor({ evictors, evictor });
      assert.deepEqual([evictedBy, evictedSince], [text, since]);
    });
  }

  it('is both where namespaces are taken over', () => {
    const evictor = { ...actorOf(ours), asksBudgets: null, takesOver: true } as const;
    assert.equal(
      liveActor({ evictors: ours, evictor }).evictedBy,
      'taintmgr-controller evicts in namespaces that are taken over, kube-controller-manager in others',
    );
  });
});

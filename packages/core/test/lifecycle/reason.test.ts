import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ClusterClock } from '../../src/kernel/time.ts';
import { type LifecycleReason, reasonAtWallTime } from '../../src/lifecycle/reason.ts';

it('leaves the machine with the times of the cluster, and a rule with its own', () => {
  const clock = new ClusterClock();
  clock.set(1000);
  const reasons: readonly (readonly [LifecycleReason, LifecycleReason])[] = [
    [
      { code: 'Unreachable', heardAt: 5 },
      { code: 'Unreachable', heardAt: 1005 },
    ],
    [
      { code: 'Recovering', until: 5, flaps: 2 },
      { code: 'Recovering', until: 1005, flaps: 2 },
    ],
    [
      { code: 'Queued', place: 1, at: 5 },
      { code: 'Queued', place: 1, at: 1005 },
    ],
    [
      { code: 'MassUnreachable', nodes: 3, until: 5 },
      { code: 'MassUnreachable', nodes: 3, until: 1005 },
    ],
    [
      { code: 'ViewOld', since: 5 },
      { code: 'ViewOld', since: 1005 },
    ],
    [
      { code: 'ConditionRule', rule: 'r', condition: 'c', since: 5 },
      { code: 'ConditionRule', rule: 'r', condition: 'c', since: 5 },
    ],
  ];
  for (const [own, told] of reasons) assert.deepEqual(reasonAtWallTime(own, clock), told);
});

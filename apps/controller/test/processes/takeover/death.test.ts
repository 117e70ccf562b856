import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startReplica } from '../../harness/replica.ts';
import {
  assertSpared,
  beatOf,
  evictions,
  holding,
  pause,
  restartManager,
  resume,
  startReplicaOf,
  takeoverFlags,
  upset,
} from './takeover-controller.ts';
import { mark, TakeoverWorld, tokenOf, users } from './takeover-world.ts';

// Who decides when controllers with --takeover die, or when there are two of them, over HTTPS.

const minute = 60_000;

describe('the controller dies', () => {
  it('kill -9: pods are spared until its last heartbeat is a minute old, and not longer', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    pause(world);
    const flags = [...takeoverFlags, '-v=4'];
    const replica = startReplica(t, world.kubeconfig('controller'), flags);
    await replica.saw('publishing status');
    await world.untilPolicies(true, 'kept');
    upset(world);
    await assertSpared(world, 'kept');
    replica.strike('SIGKILL');
    const beat = beatOf(world);
    // By the API server's clock, which dates the mark to the second before.
    const path = '/api/v1/namespaces/in/pods/kept/status?dryRun=All';
    const answers: number[] = [];
    const body = mark();
    for (const at of [beat + minute - 1000, beat + minute + 2000]) {
      world.clock.ahead = at - Date.now();
      answers.push((await world.ask('admin', 'PATCH', path, body, 'strategic-merge-patch')).status);
    }
    assert.deepEqual(answers, [403, 200]);
    // 55 s later it is refused as ever; its timers end at another time, so it starts anew.
    world.clock.ahead = beat + 55_000 - Date.now();
    await restartManager(world);
    await assertSpared(world, 'kept', 10);
    // A minute later it decides again.
    world.clock.ahead = beat + minute + 3000 - Date.now();
    await restartManager(world);
    await world.deleted('in', 'kept');
    assert.equal(beatOf(world), beat);
  });

  it('there are two leaders for a moment: nobody is deleted by kube-controller-manager', async (t) => {
    const { world, controller: first } = await holding(t, 'kept', {
      before: (one) => one.pod('out', 'gone'),
    });
    // Somebody deletes the lease, and the leader hears nothing of leases any more.
    const isLease = (path: string): boolean => path.includes('/leases/');
    world.refuse((request) => tokenOf(request) === 'controller' && isLease(request.path));
    world.api.delete('leases', 'kube-system', 'taintmgr-controller');
    const second = await startReplicaOf(t, world, 'replica');
    await second.saw('became the leader');
    await second.saw('publishing status');
    const hasLost = (): boolean =>
      first.lines.some(({ msg }) => msg === 'no longer the leader, standing by');
    assert.equal(hasLost(), false);
    upset(world);
    await world.deleted('out', 'gone');
    await assertSpared(world, 'kept');
    resume(world);
    await world.deleted('in', 'kept');
    assert.equal(hasLost(), false);
    // Both may have asked; the pod went once, by a request of ours.
    const asked = evictions(world);
    assert.ok(asked.length > 0 && asked.every(({ user }) => user === users.controller));
    const removals = world.asked.filter(
      ({ method, path, user }) =>
        method === 'DELETE' && path.includes('/pods/kept') && user === users.manager,
    );
    assert.deepEqual(removals, []);
    await first.saw('no longer the leader, standing by');
    await Promise.all([first.stop(), second.stop()]);
  });
});

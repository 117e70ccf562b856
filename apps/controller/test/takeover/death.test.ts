import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startReplica } from '../harness/replica.ts';
import {
  pause,
  published,
  startController,
  startReplicaOf,
  takeoverFlags,
} from './takeover-controller.ts';
import { mark, TakeoverWorld, tokenOf, users } from './takeover-world.ts';

// Who decides when controllers with --takeover die, or when there are two of them, over HTTPS.

const minute = 60_000;

/** When the leader last wrote its status. */
function beatOf(world: TakeoverWorld): number {
  return Date.parse(published(world).renewTime ?? assert.fail('there is no heartbeat'));
}

/** kube-controller-manager starts anew, as its timers end at another time than the heartbeat. */
async function restartManager(world: TakeoverWorld): Promise<void> {
  await world.manager.stop();
  world.manager.start();
}

describe('the controller dies', () => {
  it('kill -9: pods are spared until its last heartbeat is a minute old, and not longer', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    pause(world);
    const flags = [...takeoverFlags, '-v=4'];
    const replica = startReplica(t, world.kubeconfig('controller'), flags);
    await replica.saw('publishing status');
    await world.untilPolicies(true, 'kept');
    world.manager.start();
    world.taint();
    await world.refused('in', 'kept');
    replica.strike('SIGKILL');
    const beat = beatOf(world);
    // To the second, by the mark's own time.
    const path = '/api/v1/namespaces/in/pods/kept/status?dryRun=All';
    const answers: number[] = [];
    for (const at of [beat + minute - 1000, beat + minute + 1000]) {
      const body = mark(undefined, at);
      answers.push((await world.ask('admin', 'PATCH', path, body, 'strategic-merge-patch')).status);
    }
    assert.deepEqual(answers, [403, 200]);
    // 55 s later it is refused as ever, whatever makes it try.
    world.clock.ahead = beat + 55_000 - Date.now();
    await restartManager(world);
    await world.refused('in', 'kept', 10);
    assert.equal(world.isDeleted('in', 'kept'), false);
    // A minute later it decides again.
    world.clock.ahead = beat + minute + 3000 - Date.now();
    await restartManager(world);
    await world.deleted('in', 'kept');
    assert.equal(beatOf(world), beat);
  });

  it('there are two leaders for a moment: nobody is deleted by kube-controller-manager', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    world.pod('out', 'gone');
    pause(world);
    const first = await startController(t, world);
    await first.saw('publishing status');
    await world.untilPolicies(true, 'kept');
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
    world.manager.start();
    world.taint();
    await world.deleted('out', 'gone');
    await world.refused('in', 'kept');
    assert.equal(world.isDeleted('in', 'kept'), false);
    world.api.delete('evictionpauses.taintmgr.dev', '', 'audit');
    await world.deleted('in', 'kept');
    assert.equal(hasLost(), false);
    // Both may have asked; the pod went once, by a request of ours.
    const asked = world.asked.filter(({ path }) => path.includes('/pods/kept/eviction'));
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

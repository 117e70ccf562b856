import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mark, TakeoverWorld } from './takeover-world.ts';

// What the admission policies do to a kube-controller-manager, over HTTPS. The heartbeat is the
// test's: no controller runs.

const crd = 'taintmanagers.taintmgr.dev';
const strategic = 'strategic-merge-patch';

describe('a kube-controller-manager beside a heartbeat', () => {
  it('2: deletes the pods of other namespaces at once, and is refused those opted in', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    world.pod('out', 'gone');
    world.installPolicies();
    await world.beat();
    await world.untilPolicies(true, 'kept');
    world.manager.start();
    world.taint();
    await world.deleted('out', 'gone');
    await world.refused('in', 'kept');
    assert.equal(world.isDeleted('in', 'kept'), false);
    assert.deepEqual(world.api.get('pods', 'in', 'kept')?.status?.conditions ?? [], []);
    const events = world.api.list('events');
    const messages = events.map(({ message }) => message);
    assert.ok(messages.includes('Marking for deletion Pod in/kept'), messages.join());
  });

  it('3: is refused when a toleration of a second is over', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept', {
      tolerations: [{ key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }],
    });
    world.installPolicies();
    await world.beat();
    await world.untilPolicies(true, 'kept');
    world.manager.start();
    const taintedAt = performance.now();
    world.taint();
    await world.refused('in', 'kept');
    assert.ok(performance.now() - taintedAt > 900);
    assert.equal(world.isDeleted('in', 'kept'), false);
  });

  const stale: readonly [string, (world: TakeoverWorld) => void | Promise<void>][] = [
    ['is older than a minute', (world) => world.beat(61_000)],
    [
      'has no object',
      (world) => {
        world.api.delete(crd, '', 'taintmgr');
      },
    ],
    [
      'has no kind',
      (world) => {
        world.api.delete('customresourcedefinitions', '', crd);
      },
    ],
  ];
  for (const [name, change] of stale) {
    it(`4: deletes when the heartbeat ${name}`, async (t) => {
      const world = await TakeoverWorld.start(t);
      world.pod('in', 'p');
      world.installPolicies();
      await world.beat();
      await world.untilPolicies(true, 'p');
      await change(world);
      await world.untilPolicies(false, 'p');
      world.manager.start();
      world.taint();
      await world.deleted('in', 'p');
    });
  }

  it('5: deletes when the policies are gone, and is refused when they are back', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'first');
    world.installPolicies();
    await world.beat();
    await world.untilPolicies(true, 'first');
    world.removePolicies();
    await world.untilPolicies(false, 'first');
    world.manager.start();
    world.taint();
    await world.deleted('in', 'first');
    world.taint(false);
    world.pod('in', 'second');
    world.installPolicies();
    await world.untilPolicies(true, 'second');
    world.taint();
    await world.refused('in', 'second');
    assert.equal(world.isDeleted('in', 'second'), false);
  });

  it('5: does so too when only the binding is gone', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'p');
    world.installPolicies();
    await world.beat();
    await world.untilPolicies(true, 'p');
    world.api.delete('validatingadmissionpolicybindings', '', 'taintmgr-takeover');
    await world.untilPolicies(false, 'p');
    world.manager.start();
    world.taint();
    await world.deleted('in', 'p');
  });

  it('6: is refused again after a restart', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    world.installPolicies();
    await world.beat();
    await world.untilPolicies(true, 'kept');
    world.manager.start();
    world.taint();
    await world.refused('in', 'kept');
    await world.manager.stop();
    world.manager.start();
    await world.refused('in', 'kept', 10);
    assert.equal(world.isDeleted('in', 'kept'), false);
    assert.equal(world.marks('in', 'kept').length, 10);
  });

  it('7: a kubelet writes the status of a pod that has the condition', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'p');
    world.installPolicies();
    await world.beat();
    await world.untilPolicies(true, 'p');
    const path = '/api/v1/namespaces/in/pods/p/status';
    const marked = await world.ask('controller', 'PATCH', path, mark(), strategic);
    assert.equal(marked.status, 200, marked.text);
    const ready = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    const written = await world.ask('kubelet', 'PATCH', path, ready, strategic);
    assert.equal(written.status, 200, written.text);
    const again = await world.ask('kubelet', 'PATCH', path, mark(), strategic);
    assert.equal(again.status, 200, again.text);
  });

  it('8: evictions through the API and preemption pass', async (t) => {
    const world = await TakeoverWorld.start(t);
    for (const name of ['evicted', 'preempted', 'deleted']) world.pod('in', name);
    world.installPolicies();
    await world.beat();
    await world.untilPolicies(true, 'deleted');
    const pods = '/api/v1/namespaces/in/pods';
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } };
    const evicted = await world.ask('admin', 'POST', `${pods}/evicted/eviction`, eviction);
    assert.equal(evicted.status, 201, evicted.text);
    const preemption = mark('PreemptionByScheduler');
    const path = `${pods}/preempted/status`;
    const preempted = await world.ask('scheduler', 'PATCH', path, preemption, strategic);
    assert.equal(preempted.status, 200, preempted.text);
    const deleted = await world.ask('admin', 'DELETE', `${pods}/deleted`, {});
    assert.equal(deleted.status, 200, deleted.text);
  });
});

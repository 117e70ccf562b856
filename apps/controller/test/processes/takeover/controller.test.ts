import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assertEvicted,
  assertSpared,
  beatOf,
  begun,
  bindings,
  eventsOn,
  holding,
  pause,
  policies,
  published,
  resume,
  startController,
  upset,
} from './takeover-controller.ts';
import { TakeoverWorld, tokenOf, users } from './takeover-world.ts';

// The whole controller with --takeover beside a kube-controller-manager, over HTTPS.

interface Condition {
  readonly type: string;
  readonly message?: string;
}

describe('a controller with --takeover', () => {
  it('1, 2: spares what it holds, says so, evicts when it may, and leaves others alone', async (t) => {
    const { world, controller } = await holding(t, 'kept', {
      before: (one) => one.pod('out', 'gone'),
    });
    upset(world);
    await world.deleted('out', 'gone');
    await assertSpared(world, 'kept');
    const held =
      'TaintManagerEvictionHeld: taintmgr decides about Pod in/kept, not kube-controller-manager: ' +
      'deadlines are paused by audit until that is resumed';
    await world.until(() => eventsOn(world, 'kept').includes(held));
    await world.until(() => published(world).takeover?.spared === 1);
    const { byNamespace, policyVersion, drift } = published(world).takeover ?? {};
    assert.deepEqual(byNamespace, [{ name: 'in', spared: 1, held: 1, evicted: 0, letThrough: 0 }]);
    assert.equal(policyVersion, '4');
    assert.deepEqual(drift ?? [], []);
    resume(world);
    await world.deleted('in', 'kept');
    assertEvicted(world, 'kept');
    assert.equal(eventsOn(world, 'kept').filter((one) => one.includes('Held')).length, 1);
    await controller.stop();
  });

  it('does not act before the policies are there and the heartbeat was written', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'due');
    world.taint();
    const controller = await startController(t, world);
    await world.deleted('in', 'due');
    const first = (method: string, part: string): number =>
      world.asked.findIndex((one) => {
        return one.user === users.controller && one.method === method && one.path.includes(part);
      });
    const eviction = first('POST', 'pods/due/eviction');
    assert.ok(eviction > 0);
    for (const part of [
      ...[`${policies}/taintmgr-takeover`, `${policies}/taintmgr-readiness`],
      ...[`${bindings}/taintmgr-takeover`, `${bindings}/taintmgr-readiness`],
      'taintmanagers/taintmgr/status',
    ]) {
      const at = first('PATCH', part);
      assert.ok(at >= 0 && at < eviction, part);
    }
    await controller.stop();
  });

  it('acts not at all where the policies cannot be installed, and says why', async (t) => {
    const world = await TakeoverWorld.start(t, {
      controller: [
        {
          verbs: ['*'],
          apiGroups: ['', 'coordination.k8s.io', 'taintmgr.dev', 'policy'],
          resources: ['*'],
        },
        { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['*'] },
      ],
    });
    world.pod('in', 'due');
    world.taint();
    const controller = await startController(t, world);
    await controller.saw('could not check the policies of takeover', {
      object: 'validatingadmissionpolicy/taintmgr-takeover',
    });
    await controller.saw('publishing status');
    world.manager.start();
    await world.deleted('in', 'due');
    await controller.stop();
    assertEvicted(world);
  });

  it('9: lets a pod be whose namespace is opted out', async (t) => {
    const { world, controller } = await holding(t, 'kept');
    upset(world);
    await assertSpared(world, 'kept');
    const one = world.api.get('namespaces', '', 'in') ?? assert.fail();
    world.api.update('namespaces', { ...one, metadata: { ...one.metadata, labels: {} } });
    resume(world);
    // kube-controller-manager has forgotten it, and looks again where something changes.
    world.taint(false);
    world.taint();
    await world.deleted('in', 'kept');
    await controller.stop();
    assertEvicted(world);
  });

  it('11: takes its mark away when an eviction was called off, and the next veto works', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    world.refuse(({ method, path }) => method === 'DELETE' && path.includes('/pods/kept'));
    const controller = await startController(t, world, '--mode=delete');
    await begun(world, controller, 'kept');
    world.taint();
    const isMarked = (): boolean => {
      const conditions: readonly { readonly type: string }[] =
        world.api.get('pods', 'in', 'kept')?.status?.conditions ?? [];
      return conditions.some(({ type }) => type === 'DisruptionTarget');
    };
    await world.until(isMarked);
    world.taint(false);
    await controller.saw('removed the condition DisruptionTarget: the pod stays');
    assert.equal(isMarked(), false);
    pause(world);
    await controller.saw('eviction cancelled', {}, 1);
    upset(world);
    await assertSpared(world, 'kept');
    await controller.stop();
  });

  it('13: is the only one who deletes what it has marked', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'kept');
    world.refuse((one) => one.method === 'DELETE' && tokenOf(one) === 'controller');
    const controller = await startController(t, world, '--mode=delete');
    await begun(world, controller, 'kept');
    world.taint();
    const message = (): string => {
      const conditions: readonly Condition[] =
        world.api.get('pods', 'in', 'kept')?.status?.conditions ?? [];
      return conditions.find(({ type }) => type === 'DisruptionTarget')?.message ?? '';
    };
    await world.until(() => message() !== '');
    world.manager.start();
    const statuses = (): readonly number[] => world.marks('in', 'kept').map(({ status }) => status);
    await world.until(() => statuses().length === 5 || world.isDeleted('in', 'kept'));
    assert.equal(world.isDeleted('in', 'kept'), false, message());
    assert.deepEqual(statuses(), [403, 403, 403, 403, 403]);
    assert.equal(message(), 'taintmgr: deleting due to NoExecute taint');
    world.refuse(() => false);
    await world.deleted('in', 'kept');
    await controller.stop();
  });
});

describe('readiness with --takeover', () => {
  it('12: is held for a pause, and released with it', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'p');
    const ready = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }];
    const one = world.api.get('pods', 'in', 'p') ?? assert.fail();
    world.api.update('pods', { ...one, status: { ...one.status, conditions: ready } }, 'status');
    const controller = await startController(t, world);
    await begun(world, controller, 'p');
    const mark = async (): Promise<number> => {
      const lastTransitionTime = new Date().toISOString();
      const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime }];
      const path = '/api/v1/namespaces/in/pods/p/status?dryRun=All';
      const kind = 'strategic-merge-patch';
      return (await world.ask('manager', 'PATCH', path, { status: { conditions } }, kind)).status;
    };
    /** As node-lifecycle-controller does, again and again. */
    const marked = async (status: number): Promise<void> => {
      while ((await mark()) !== status) await world.passed(50);
    };
    assert.equal(await mark(), 200);
    pause(world, 'network', { reason: 'network work', deadlines: false, readiness: true });
    await world.until(() => published(world).takeover?.holdReadiness !== undefined);
    assert.deepEqual(published(world).takeover?.holdReadiness, {
      ...{ reason: 'pause network: network work', all: true, zones: [], nodes: [] },
    });
    await marked(403);
    resume(world, 'network');
    await world.until(() => published(world).takeover?.holdReadiness === undefined);
    await marked(200);
    // Not because the policies gave way by themselves, as they do where the heartbeat is older.
    assert.ok(world.clock.now() - beatOf(world) < 60_000);
    await controller.stop();
  });
});

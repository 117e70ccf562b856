import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertEvicted, assertSpared, eventsOn, published } from './takeover-controller.ts';
import { unreachableScene } from './unreachable-nodes.ts';

// Nodes become unreachable together: it may be the control plane that is cut off. Beside a controller with
// --takeover and a kube-controller-manager that watches over nodes, over HTTPS.

describe('nodes become unreachable together', { concurrency: true }, () => {
  it('most of them: nobody marks pods not ready while that is held, and then at once', async (t) => {
    const massUnreachable = { share: 0.5, nodesMin: 3, within: '20s', hold: '12s' };
    const names = ['a-1', 'a-2', 'b-1'];
    const { world, nodes, controller } = await unreachableScene(t, names, { massUnreachable });
    nodes.stop(...names);
    await world.until(() => published(world).takeover?.holdReadiness !== undefined);
    const { reason } = published(world).takeover?.holdReadiness ?? assert.fail();
    assert.match(reason, /^3 nodes became unreachable at once: held until 20/);
    // Where nothing is taken over it marks as ever; here it is refused at each of its looks.
    await world.until(() => !nodes.isReady('out', 'stays'));
    await assertSpared(world, 'stays', 2);
    assert.equal(nodes.isReady('in', 'stays'), true);
    let heldAtTheEnd: unknown = 'never marked';
    await world.until(() => {
      const isMarked = !nodes.isReady('in', 'stays');
      if (isMarked) heldAtTheEnd = published(world).takeover?.holdReadiness;
      return isMarked;
    });
    assert.equal(heldAtTheEnd, undefined, 'not before the hold was over');
    assertEvicted(world);
    await controller.stop();
  });

  it('a whole zone: its pods stay as they are until one of its nodes is ready', async (t) => {
    const names = ['a-1', 'a-2', 'b-1', 'b-2'];
    const { world, nodes, controller } = await unreachableScene(t, names, {
      fullDisruption: 'hold',
    });
    nodes.addPod('in', 'kept', 1);
    nodes.stop('a-1', 'a-2');
    await world.until(() => published(world).takeover?.holdReadiness !== undefined);
    assert.equal(
      published(world).takeover?.holdReadiness?.reason,
      'zone a: the whole zone is down, and such zones are held until one of their nodes is ready',
    );
    await world.until(() => !nodes.isReady('out', 'stays'));
    // It wants both: to mark them not ready, and to evict the one that tolerates that for a second.
    await assertSpared(world, 'stays', 1);
    const held =
      'TaintManagerEvictionHeld: taintmgr decides about Pod in/kept, not kube-controller-manager: ' +
      'deadlines are paused by the hold of zone a until one of its nodes is ready';
    await world.until(() => eventsOn(world, 'kept').includes(held));
    await assertSpared(world, 'kept');
    assert.deepEqual([nodes.isReady('in', 'stays'), nodes.isReady('in', 'kept')], [true, true]);
    await world.until(() => published(world).zones?.some(({ heldSince }) => heldSince) === true);
    assertEvicted(world);
    nodes.resume('a-2');
    await world.until(() => !nodes.isReady('in', 'stays'));
    assert.equal(published(world).takeover?.holdReadiness, undefined);
    await world.deleted('in', 'kept');
    assertEvicted(world, 'kept');
    await controller.stop();
  });
});

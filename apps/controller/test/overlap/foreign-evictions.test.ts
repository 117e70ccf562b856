import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event, Outcome, Pod } from '@taintmgr/core';
import { nodeFromJson } from '@taintmgr/k8s-adapter';
import { type ForeignEviction, ForeignEvictions } from '../../src/overlap/foreign-evictions.ts';
import { marked } from './marked-pod.ts';

describe('foreign evictions', () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5);

  function world() {
    const found: ForeignEviction[] = [];
    const watch = new ForeignEvictions((eviction) => found.push(eviction));
    const evict = { kind: 'evictPod', id: 'c1', pod: marked('api', null) } as never;
    const machine = watch.around({
      nextWake: () => null,
      handle: (_, { kind }) => (kind === 'tick' ? [evict] : []),
    });
    const hear = (...events: readonly Event[]): void => {
      for (const event of events) machine.handle(now, event);
    };
    const later = (ms: number, event: Event): void => void machine.handle(now + ms, event);
    return { found, hear, later };
  }
  const upsert = (one: Pod): Event => ({ kind: 'podUpsert', pod: one });
  const nodeWith = (...taints: readonly object[]): Event => ({
    kind: 'nodeUpsert',
    node: nodeFromJson({ metadata: { name: 'n1' }, spec: { taints } }),
  });
  const tainted = nodeWith({ key: 'bad', effect: 'NoExecute' });
  const synced: Event = { kind: 'synced' };

  it('are told once, with whose program it was', () => {
    const { found, hear } = world();
    const one = upsert(marked('web', 'kube-controller-manager'));
    hear(tainted, synced, one, one);
    assert.deepEqual(found, [
      {
        pod: { namespace: 'shop', name: 'web', uid: 'uid-web', nodeName: 'n1' },
        manager: 'kube-controller-manager',
        heldBack: null,
        isTakenOver: false,
        isForDevice: false,
        unknownReason: null,
      },
    ]);
  });

  describe('for taints of devices', () => {
    const device = { driver: 'gpu', pool: 'n1', device: 'd0' };
    const claim: Event = {
      kind: 'resourceClaimUpsert',
      claim: {
        ...{ namespace: 'shop', name: 'c', uid: 'c', ownerUid: null, reservedFor: ['uid-web'] },
        allocated: [{ ...device, request: 'r', tolerations: [] }],
      },
    };
    const rule: Event = {
      kind: 'deviceTaintRuleUpsert',
      rule: {
        ...{ name: 'r', uid: 'r', generation: 1, progress: null, selector: device },
        taint: { key: 'health', value: '', effect: 'NoExecute', timeAdded: now },
      },
    };
    const markedBy = (manager: string): Event => {
      const claims = [{ name: 'c', claim: 'c', origin: 'named' }] as const;
      const disruption = { reason: 'DeletionByDeviceTaintManager', manager };
      return upsert({ ...marked('web', null), claims, disruption });
    };
    const theirs = markedBy('kube-controller-manager');

    it('are told once, whatever is heard first', () => {
      for (const events of [
        [claim, rule, theirs, theirs],
        [theirs, claim, rule],
      ]) {
        const { found, hear } = world();
        hear(synced, ...events);
        assert.deepEqual(
          found.map((one) => [one.pod.name, one.manager, one.isForDevice]),
          [['web', 'kube-controller-manager', true]],
        );
      }
    });

    it('are none where no taint of a device explains the mark, nor those of our own', () => {
      for (const events of [
        [claim, theirs],
        [claim, rule, markedBy('taintmgr-controller')],
        [claim, rule, markedBy('taintmgr-controller'), theirs],
      ]) {
        const { found, hear } = world();
        hear(synced, ...events);
        assert.deepEqual(found, []);
      }
    });
  });

  it('are not those of our own programs, whichever replica it was', () => {
    const { found, hear } = world();
    const ours = ['taintmgr-controller', 'kubectl-taintmgr', null];
    hear(tainted, synced, ...ours.map((who, index) => upsert(marked(`web-${index}`, who))));
    assert.deepEqual(found, []);
  });

  it('are not made of a mark of ours by rewriting managedFields, as whoever may patch a pod can', () => {
    const theirs = upsert(marked('web', 'kube-controller-manager'));
    const ours = upsert(marked('web', 'taintmgr-controller'));
    const gone: Event = { kind: 'podDelete', uid: 'uid-web' };
    const alone = [synced, ours];
    for (const before of [alone, alone.toReversed(), [...alone, gone]]) {
      const { found, hear, later } = world();
      hear(tainted, ...before, theirs);
      // A finalizer has kept it for long.
      later(11 * 60_000, upsert(marked('api', 'taintmgr-controller')));
      later(12 * 60_000, theirs);
      assert.deepEqual(found, []);
    }
  });

  it('are not those of before we looked', () => {
    const { found, hear } = world();
    const old = upsert(marked('old', 'kube-controller-manager'));
    hear(tainted, old, synced, old);
    assert.deepEqual(found, []);
  });

  it('are told of pods that a taint makes go, in whatever order that is heard', () => {
    const { found, hear } = world();
    const one = upsert(marked('web', 'kube-controller-manager'));
    hear(nodeWith(), synced, one, one);
    assert.equal(found.length, 0);
    hear(nodeWith({ key: 'bad', effect: 'NoSchedule' }));
    assert.equal(found.length, 0);
    hear(tainted);
    assert.deepEqual(
      found.map(({ pod }) => pod.name),
      ['web'],
    );
  });

  it('are told where the taint has just gone, and not a minute later', () => {
    for (const [ms, count] of [
      [60_000, 1],
      [60_000 + 1, 0],
    ] as const) {
      const { found, hear, later } = world();
      hear(tainted, synced, nodeWith());
      later(ms, upsert(marked('web', 'kube-controller-manager')));
      assert.equal(found.length, count);
    }
  });

  it('are not told of a pod that tolerates every taint of its node', () => {
    const { found, hear } = world();
    const one = marked('web', 'kube-controller-manager');
    const toleration = { key: '', operator: 'Exists', value: '', effect: '' };
    const tolerant = (tolerationSeconds: number | null): Event =>
      upsert({ ...one, tolerations: [{ ...toleration, tolerationSeconds }] });
    hear(tainted, synced, tolerant(null));
    assert.deepEqual(found, []);
    hear(tolerant(60));
    assert.equal(found.length, 1);
  });

  it('tell what held the pod back, of one that we have asked for in vain', () => {
    const { found, hear } = world();
    const outcome: Outcome = {
      kind: 'blocked',
      message: 'PDB api needs 2 and has 2',
      retryAfter: null,
      budget: null,
    };
    hear(tainted, synced, { kind: 'tick' }, { kind: 'result', id: 'c1', outcome });
    hear(upsert(marked('api', 'kube-controller-manager')));
    assert.equal(found[0]?.heldBack, 'PDB api needs 2 and has 2');
  });
});

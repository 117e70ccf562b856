import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Rule } from '@taintmgr/sim-cluster';
import { EvictorSearch, findEvictors } from '../../src/client/find-evictors.ts';
import type { Asker } from '../../src/evictors/look.ts';
import {
  contradictionText,
  otherEvictors,
  taintEvictors,
  verdictText,
} from '../../src/evictors/verdict-words.ts';

import {
  controlPlane,
  everything,
  eviction,
  find,
  lifecycle,
  minute,
  off,
  publish,
  putLease,
  putManager,
  putMirror,
  putNode,
  serverTime,
  soon,
  type World,
  world,
} from './world.ts';

// What a tenant, a kubelet or an absent object says never decides alone.

const own: Asker = {
  lease: { namespace: 'kube-system', name: 'taintmgr-controller' },
  manager: 'taintmgr',
  controllers: [eviction, lifecycle],
  declared: null,
};
const asked = async ({ client }: World, fields: Partial<Asker> = {}) => {
  return await findEvictors(client, { ...soon, asker: { ...own, ...fields } });
};

describe('a lease that a tenant has written', () => {
  it('is no other installation, and not nobody', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000, 'tenant');
    putManager(one, 'kcm-cp', [off]);
    const { taintmgr } = await asked(one);
    assert.equal(taintmgr.kind, 'unknown');
    assert.deepEqual(taintEvictors(await findEvictors(one.client, soon)), {
      kind: 'unknown',
      agent: 'taintmgr-controller',
      text:
        'whether taintmgr-controller evicts for NoExecute taints here is unknown: lease ' +
        'tenant/taintmgr-controller (taintmgr-controller_1) proves nothing: any client that may write leases ' +
        'there can write it, and no TaintManager names its holder',
      advice: 'find out who wrote it',
    });
  });

  it('keeps no NodeDrain of an installation from its work, alive or not', async () => {
    for (const age of [1000, minute, -minute]) {
      const one = world();
      putManager(one, 'kcm-cp', [off]);
      assert.equal(otherEvictors(await asked(one)).kind, 'nobody');
      putLease(one, 'taintmgr-controller', age, 'tenant');
      assert.equal(otherEvictors(await asked(one)).kind, 'nobody');
      putLease(one, 'taintmgr-controller', 1000, 'taintmgr-system', { holder: 'real' });
      assert.equal(otherEvictors(await asked(one)).kind, 'acts');
    }
  });

  it('hides nothing of an installation that publishes itself', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000, 'tenant');
    publish(one, 'taintmgr', { leader: 'ours_1' });
    const { taintmgr } = await findEvictors(one.client, soon);
    assert.equal('who' in taintmgr && taintmgr.who, 'ours_1, TaintManager taintmgr');
  });

  it('is none either where it has the name of the leader', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000);
    putLease(one, 'taintmgr-controller', 1000, 'tenant');
    publish(one, 'taintmgr', { leader: 'taintmgr-controller_1' });
    assert.equal((await asked(one)).taintmgr.kind, 'unknown');
    const { taintmgr } = await findEvictors(one.client, soon);
    assert.equal(
      'who' in taintmgr && taintmgr.who,
      'taintmgr-controller_1, lease kube-system/taintmgr-controller',
    );
  });
});

describe('a lease that a tenant has written in the name of another installation', () => {
  const controllers = ['node-pressure-controller'];
  for (const [what, theirs] of [
    ['that works beside ours', controllers],
    ['that does the same work', [eviction]],
  ] as const) {
    it(`says nothing of what that one runs, ${what}`, async () => {
      const kind = theirs === controllers ? 'doesNotAct' : 'acts';
      for (const claims of [eviction, controllers.join()]) {
        for (const real of ['zoo', null]) {
          const one = world();
          publish(one, 'other', { leader: 'o_1', controllers: theirs });
          if (real !== null) {
            putLease(one, 'taintmgr-controller', 1000, real, {
              holder: 'o_1',
              controllers: theirs.join(),
            });
          }
          putLease(one, 'taintmgr-controller', 1000, 'a-tenant', {
            holder: 'o_1',
            controllers: claims,
          });
          assert.equal((await asked(one)).taintmgr.kind, kind, `${real} ${claims}`);
        }
      }
    });
  }

  it('says nothing once another one leads there', async () => {
    const one = world();
    const search = new EvictorSearch(one.client, { ...soon, asker: own });
    publish(one, 'other', { leader: 'o_1', controllers });
    putLease(one, 'taintmgr-controller', 1000, 'a-tenant', {
      holder: 'o_1',
      controllers: eviction,
    });
    assert.equal((await search.find()).taintmgr.kind, 'doesNotAct');
    one.published.length = 0;
    publish(one, 'other', { leader: 'o_2', controllers });
    assert.equal((await search.find()).taintmgr.kind, 'doesNotAct');
  });
});

describe('another installation', () => {
  const elsewhere = { lease: { namespace: 'b', name: 'taintmgr-controller' }, manager: 'b' };

  it('with other work is none to stand by for, by its lease', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000);
    const lease = one.api.get('leases', 'kube-system', 'taintmgr-controller');
    const annotations = { 'taintmgr.dev/controllers': 'node-pressure-controller' };
    assert.ok(lease);
    one.api.update('leases', { ...lease, metadata: { ...lease.metadata, annotations } });
    assert.equal((await asked(one, elsewhere)).taintmgr.kind, 'doesNotAct');
    const controllers = [eviction, 'node-pressure-controller'];
    assert.equal((await asked(one, { ...elsewhere, controllers })).taintmgr.kind, 'acts');
  });

  it('with other work is none to stand by for, by its TaintManager', async () => {
    const one = world();
    publish(one, 'pressure', { leader: 'p_1', controllers: ['node-pressure-controller'] });
    assert.equal((await asked(one)).taintmgr.kind, 'doesNotAct');
    publish(one, 'second', { leader: 's_1' });
    const { taintmgr } = await asked(one);
    assert.equal('who' in taintmgr && taintmgr.who, 's_1, TaintManager second');
  });
});

describe('a mirror pod of a kubelet', () => {
  for (const flags of [[], [off]]) {
    const claim = flags.length === 0 ? 'on' : 'off';
    it(`that claims ${claim} proves nothing where no other pod is`, async () => {
      const one = world();
      putNode(one, 'evil');
      putMirror(one, 'evil', ...flags);
      const verdict = await find(one);
      assert.equal(verdict.kind, 'unknown');
      assert.equal(
        verdictText(verdict),
        'unknown (pod kube-system/kcm-evil proves nothing: no node of the control plane runs it)',
      );
      putLease(one, 'kube-controller-manager', 1000);
      assert.equal((await find(one)).kind, 'unknown');
      assert.equal((await asked(one, { declared: [] })).upstream[eviction].kind, 'doesNotAct');
      assert.equal((await asked(one, { declared: [eviction] })).upstream[eviction].kind, 'acts');
    });

    it(`that claims ${claim} changes nothing beside one of the control plane`, async () => {
      for (const real of [[], [off]]) {
        const one = world();
        putNode(one, 'cp', controlPlane);
        putNode(one, 'evil');
        putMirror(one, 'cp', ...real);
        const before = await find(one);
        putMirror(one, 'evil', ...flags);
        assert.equal((await find(one)).kind, before.kind);
        assert.equal(before.kind, real.length === 0 ? 'acts' : 'doesNotAct');
      }
    });
  }

  it('hides none of the control plane by another label, and is not hidden by another label itself', async () => {
    for (const real of [[], [off]]) {
      const one = world();
      putNode(one, 'cp', controlPlane);
      putNode(one, 'evil');
      putManager(one, 'kcm-cp', real, {}, 'k8s-app');
      putLease(one, 'kube-controller-manager', 1000);
      const before = await find(one);
      assert.equal(before.kind, real.length === 0 ? 'acts' : 'doesNotAct');
      putMirror(one, 'evil', ...(real.length === 0 ? [off] : []));
      assert.equal((await find(one)).kind, before.kind);
    }
  });

  it('is not believed on the node that a lease of the leader names: an add-on there may write leases', async () => {
    for (const flags of [[], [off]]) {
      const one = world();
      putNode(one, 'kube-controller-manager');
      putMirror(one, 'kube-controller-manager', ...flags);
      putLease(one, 'kube-controller-manager', 1000);
      assert.equal((await find(one)).kind, 'unknown');
    }
  });

  it('is not believed where nodes may not be read', async () => {
    const pods: Rule = { ...everything, apiGroups: [''], resources: ['pods'] };
    const leases: Rule = { ...everything, apiGroups: ['coordination.k8s.io'] };
    const one = world([pods, leases]);
    putNode(one, 'cp', controlPlane);
    putMirror(one, 'cp', off);
    assert.equal((await find(one)).kind, 'unknown');
  });
});

describe('what an administrator declares', () => {
  const lease = (one: World): void => putLease(one, 'kube-controller-manager', 1000);
  const nothing = (): void => {};
  for (const [name, put] of [
    ['with a lease and no pod', lease],
    ['with neither', nothing],
  ] as const) {
    it(`decides about a kube-controller-manager ${name}`, async () => {
      const one = world();
      put(one);
      const declared = [lifecycle];
      const { upstream } = await asked(one, { declared });
      assert.deepEqual([upstream[eviction].kind, upstream[lifecycle].kind], ['doesNotAct', 'acts']);
      assert.equal((await asked(one)).upstream[eviction].kind, 'unknown');
    });

    it(`and its leader publishes is believed of one ${name}`, async () => {
      const one = world();
      put(one);
      publish(one, 'pressure', {
        leader: 'p_1',
        controllers: ['node-pressure-controller'],
        settings: { 'kube-controller-manager-runs': 'none' },
      });
      assert.deepEqual(taintEvictors(await findEvictors(one.client, soon)), {
        kind: 'nobody',
        text: 'no controller here evicts for NoExecute taints (as TaintManager pressure says)',
      });
    });
  }

  it('does not stand against the flags of a pod', async () => {
    const one = world();
    putManager(one, 'kcm-cp', []);
    const { upstream } = await asked(one, { declared: [] });
    assert.equal(upstream[eviction].kind, 'acts');
    assert.equal(
      contradictionText(upstream[eviction].evidence),
      '--kube-controller-manager-runs says that kube-controller-manager does not do this work, but ' +
        'pod kube-system/kcm-cp runs it (by default)',
    );
  });

  it('does not stand against what a leader has seen', async () => {
    const one = world();
    publish(one, 'taintmgr', {
      leader: 'ours_1',
      settings: { 'kube-controller-manager-runs': 'none' },
      conditions: [
        {
          ...{ type: 'EvictedByOther', status: 'True', reason: 'SeveralNodes' },
          message: 'it has marked pods of 2 nodes',
          lastTransitionTime: new Date(serverTime).toISOString(),
        },
      ],
    });
    const verdict = await find(one);
    assert.equal(verdict.kind, 'acts');
    assert.equal(
      contradictionText(verdict.evidence),
      'TaintManager taintmgr says that kube-controller-manager does not do this work, but ' +
        'it has marked pods of 2 nodes',
    );
  });
});

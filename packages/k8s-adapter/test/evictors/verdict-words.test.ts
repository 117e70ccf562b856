import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Rule } from '@taintmgr/sim-cluster';
import { findEvictors } from '../../src/client/find-evictors.ts';
import { actorOf } from '../../src/evictors/actor.ts';
import type { Asker } from '../../src/evictors/look.ts';
import { taintEvictors } from '../../src/evictors/verdict-words.ts';
import { everything, eviction, publish, putLease, putManager, soon, world } from './world.ts';

describe('who evicts for NoExecute taints', () => {
  it('is unknown where leases and pods can be read and there are none', async () => {
    const evictors = await findEvictors(world().client, soon);
    assert.deepEqual(taintEvictors(evictors), {
      kind: 'unknown',
      agent: 'kube-controller-manager',
      text:
        'whether kube-controller-manager evicts for NoExecute taints here is unknown: ' +
        'it shows neither a pod nor a lease',
      advice:
        'start it with --controllers=*,-taint-eviction-controller and declare that to taintmgr-controller: ' +
        '--kube-controller-manager-runs=node-lifecycle-controller',
    });
  });

  it('is nobody where the flags of its pod say so', async () => {
    const one = world();
    putManager(one, 'kcm-cp', ['--controllers=*,-taint-eviction-controller']);
    assert.deepEqual(taintEvictors(await findEvictors(one.client, soon)), {
      kind: 'nobody',
      text:
        'no controller here evicts for NoExecute taints ' +
        '(--controllers=*,-taint-eviction-controller of pod kube-system/kcm-cp)',
    });
  });

  it('is unknown in k3s, whose server needs neither a lease nor a pod', async () => {
    const evictors = await findEvictors(world([everything], 'v1.33.1+k3s1').client, soon);
    assert.deepEqual(taintEvictors(evictors), {
      kind: 'unknown',
      agent: 'kube-controller-manager',
      text:
        'whether kube-controller-manager evicts for NoExecute taints here is unknown: ' +
        'the server of v1.33.1+k3s1 runs it without a pod, and may do so without a lease',
      advice:
        'start it with --controllers=*,-taint-eviction-controller and declare that to taintmgr-controller: ' +
        '--kube-controller-manager-runs=node-lifecycle-controller',
    });
  });

  it('is kube-controller-manager, with the flag that makes it so', async () => {
    const one = world();
    putManager(one, 'kcm-cp', ['--feature-gates=SeparateTaintEvictionController=false']);
    assert.deepEqual(taintEvictors(await findEvictors(one.client, soon)), {
      kind: 'acts',
      agent: 'kube-controller-manager',
      text: 'kube-controller-manager (kcm-cp) evicts for NoExecute taints here, without asking PDBs',
      advice:
        'start it with --controllers=*,-taint-eviction-controller and without ' +
        '--feature-gates=SeparateTaintEvictionController=false',
    });
  });

  it('is kube-controller-manager, for which Lt and Gt count where its flags say so', async () => {
    const one = world();
    putManager(one, 'kcm-cp', ['--feature-gates=TaintTolerationComparisonOperators=true']);
    const actor = actorOf(await findEvictors(one.client, soon));
    assert.deepEqual([actor.name, actor.comparesNumbers], ['kube-controller-manager', true]);
  });

  it('is taintmgr-controller, in whatever namespace it runs, where its TaintManager names it', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000, 'team-a');
    publish(one, 'taintmgr', { leader: 'taintmgr-controller_1' });
    const evictors = await findEvictors(one.client, soon);
    assert.equal(
      taintEvictors(evictors).text,
      'taintmgr-controller (taintmgr-controller_1, lease team-a/taintmgr-controller) evicts for ' +
        'NoExecute taints here, by its own policies',
    );
  });

  it('is not the installation that asks', async () => {
    const one = world();
    putLease(one, 'taintmgr-controller', 1000, 'team-a');
    const lease = { namespace: 'team-a', name: 'taintmgr-controller' };
    const asker: Asker = { lease, manager: 'taintmgr', controllers: [eviction], declared: null };
    const { taintmgr } = await findEvictors(one.client, { ...soon, asker });
    assert.equal(taintmgr.kind, 'doesNotAct');
  });

  it('is unknown where other installations may not be looked for', async () => {
    const usual: Rule = { ...everything, verbs: ['get'], namespace: 'kube-system' };
    const pods: Rule = { ...everything, apiGroups: [''], resources: ['pods'] };
    const one = world([usual, pods]);
    putManager(one, 'kcm-cp', ['--controllers=-*']);
    const before = taintEvictors(await findEvictors(one.client, soon));
    assert.deepEqual(before, {
      kind: 'unknown',
      agent: 'taintmgr-controller',
      text:
        'whether taintmgr-controller evicts for NoExecute taints here is unknown: ' +
        'no permission to list leases named taintmgr-controller',
      advice: 'grant the permission to list leases named taintmgr-controller',
    });
    putLease(one, 'taintmgr-controller', 1000);
    assert.equal(taintEvictors(await findEvictors(one.client, soon)).kind, 'acts');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Taint } from '@taintmgr/core';
import { forecastOf } from '@taintmgr/core/lifecycle';
import type { EvictionPause } from '@taintmgr/core/policy';
import { pauseOf } from '../policy/objects.ts';

const now = 1_000_000;
const unreachable = { key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoExecute' };

describe('outlook', () => {
  it('a node that is ready counts as lost after its grace', () => {
    const nodes = [node('a-1', 'True'), node('a-2', 'True')];
    const { health, zone } = forecastOf(now, {
      node: at(nodes, 0),
      nodes,
      leaseRenewedAt: now - 4000,
    });
    assert.equal(health.unreachableAt, now + 46_000);
    assert.deepEqual(health.because, [{ code: 'Ready' }]);
    assert.deepEqual([zone?.state, zone?.rate, zone?.ready], ['Normal', 0.1, 2]);
    assert.deepEqual([health.place, health.taintAt], [null, null]);
  });

  it('a kubelet that renews its lease is alive, however old its status is', () => {
    const nodes = [node('a-1', 'True', [], now - 600_000, now - 290_000)];
    const { health } = forecastOf(now, { node: at(nodes, 0), nodes, leaseRenewedAt: now - 4000 });
    assert.deepEqual([health.heardAt, health.unreachableAt], [now - 4000, now + 46_000]);
  });

  it('a node whose lease may not be read is unknown, and not lost', () => {
    const sighted = (status: string): readonly unknown[] => {
      const nodes = [node('a-1', status, [], now - 600_000, now - 290_000), node('a-2', 'True')];
      const sighting = { node: at(nodes, 0), nodes, leaseRenewedAt: 'hidden' } as const;
      const { heardAt, unreachableAt, because } = forecastOf(now, sighting).health;
      return [heardAt, unreachableAt, because.map(({ code }) => code).join()];
    };
    assert.deepEqual(sighted('True'), [null, null, 'Ready,LeaseHidden']);
    assert.deepEqual(sighted('Unknown'), [null, null, 'Unknown']);
  });

  it('nodes wait in the order in which they were lost, behind the last that was tainted', () => {
    const nodes = [
      node('a-1', 'Unknown', [{ ...unreachable, timeAdded: now - 4000 }]),
      node('a-2', 'Unknown', [], now - 20_000),
      node('a-3', 'False', [], now - 30_000),
      ...['a-4', 'a-5', 'a-6', 'a-7'].map((name) => node(name, 'True')),
    ];
    const of = (index: number): readonly unknown[] => {
      const sighting = { node: at(nodes, index), nodes, leaseRenewedAt: null };
      const { place, taintAt } = forecastOf(now, sighting).health;
      return [place, taintAt === null ? null : taintAt - now];
    };
    assert.deepEqual(of(0), [null, null]);
    assert.deepEqual(of(2), [1, 6000]);
    assert.deepEqual(of(1), [2, 16_000]);
  });

  it('a node that a pause keeps from its taint waits for no turn, and holds up nobody', () => {
    const nodes = [
      node('a-1', 'False', [], now - 30_000),
      node('a-2', 'False', [], now - 20_000),
      ...['a-3', 'a-4', 'a-5', 'a-6'].map((name) => node(name, 'True')),
    ];
    const here = pauseOf('night', { readiness: true, until: now + 1000 });
    const pauses = (of: EvictionPause) => (index: number) => {
      const seen = { node: at(nodes, index), nodes, leaseRenewedAt: null, pauses: [of] };
      const { place, because } = forecastOf(now, seen).health;
      return [place, because.map(({ code }) => code).join()];
    };
    assert.deepEqual(pauses(here)(0), [null, 'KubeletNotReady,ReadinessPaused']);
    assert.deepEqual(pauses(here)(2), [null, 'Ready']);
    for (const other of [
      { ...here, readiness: false },
      { ...here, until: now },
      { ...here, scope: { ...here.scope, namespaces: ['shop'] } },
      { ...here, scope: { ...here.scope, taintKeys: ['other'] } },
    ]) {
      assert.deepEqual(pauses(other)(0), [1, 'KubeletNotReady']);
      assert.deepEqual(pauses(other)(1), [2, 'KubeletNotReady']);
    }
  });

  it('a zone that is stopped says so', () => {
    const nodes = ['a-1', 'a-2', 'a-3'].map((name) => node(name, 'Unknown'));
    const all = [...nodes, node('a-4', 'True')];
    const { health } = forecastOf(now, { node: at(all, 0), nodes: all, leaseRenewedAt: null });
    assert.deepEqual(health.because.at(-1), { code: 'ZoneStopped', notReady: 3, size: 4 });
    assert.deepEqual([health.place, health.taintAt, health.unreachableAt], [1, null, null]);
  });

  it('with every zone down nobody waits', () => {
    const nodes = [node('a-1', 'Unknown'), node('b-1', 'Unknown')];
    const { health } = forecastOf(now, { node: at(nodes, 0), nodes, leaseRenewedAt: null });
    assert.deepEqual(health.because, [{ code: 'Unknown' }, { code: 'AllZonesDown' }]);
    assert.equal(health.place, null);
  });

  it('a node that never reported has the startup grace from its creation', () => {
    const fresh = { ...node('a-1', 'True'), conditions: [], createdAt: now - 10_000 };
    const { health } = forecastOf(now, { node: fresh, nodes: [fresh], leaseRenewedAt: null });
    assert.equal(health.unreachableAt, now + 50_000);
    assert.equal(health.because[0]?.code, 'NotReported');
  });
});

function node(
  name: string,
  ready: string,
  taints: readonly Taint[] = [],
  transitionAt = now,
  heartbeatAt = now - 60_000,
): Node {
  const times = { heartbeatAt, transitionAt };
  const conditions = [{ type: 'Ready', status: ready, reason: '', message: '', ...times }];
  const labels = { 'topology.kubernetes.io/zone': name.slice(0, 1) };
  return { name, uid: name, taints, labels, conditions };
}

function at(nodes: readonly Node[], index: number): Node {
  return nodes[index] ?? assert.fail(`no node ${index}`);
}

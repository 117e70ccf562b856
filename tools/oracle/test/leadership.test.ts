import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import type { Replica } from '../src/api-history.ts';
import { Checkers } from '../src/checkers.ts';
import { evictionDefaults } from '../src/terms.ts';
import { brokenIn, start } from './world/lifecycle-scenario.ts';

describe('of two replicas that elect one', () => {
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'ctl', namespace: 'kube-system' },
    spec: { holderIdentity: 'one', leaseDurationSeconds: 15 },
  };

  /** The first takes the lease; one of them makes a pod leave. */
  function brokenBy(actor: 'first' | 'second'): readonly string[] {
    const clock = new VirtualClock(start);
    const api = new ApiServer({ clock, random: seededRandom(1) });
    const checkers = new Checkers(api, { ...evictionDefaults, elected: true });
    const { apiHistory } = checkers;
    const replicas = { first: apiHistory.first, second: apiHistory.replica() };
    const line = apiHistory.server(api.exchange);
    const send = (replica: Replica, method: string, path: string, body: object): void => {
      const headers = { 'content-type': 'application/json' };
      const nothing = { head: () => {}, data: () => {}, end: () => {}, reset: () => {} };
      replica.client(line)({ method, path, headers, body: JSON.stringify(body) }, nothing);
    };
    for (const replica of Object.values(replicas)) replica.beginRun();
    api.create('pods', pod('default', 'p'));
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    send(replicas.first, 'POST', leases, lease);
    // A record that is kept in a lease elects nobody.
    const metadata = { ...lease.metadata, name: 'ctl-limits' };
    send(replicas.first, 'POST', leases, { ...lease, metadata, spec: {} });
    clock.advanceTo(start + 1000);
    send(replicas[actor], 'DELETE', '/api/v1/namespaces/default/pods/p', {});
    checkers.atEnd();
    return brokenIn(checkers.violations);
  }

  it('the one that holds the lease acts', () => {
    assert.ok(!brokenBy('first').includes('acts without the lease'));
  });

  it('the other does not', () => {
    assert.ok(brokenBy('second').includes('acts without the lease'));
  });
});

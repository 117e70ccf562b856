import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { pdb, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import type { Replica } from '../src/api-history.ts';
import { Checkers } from '../src/checkers.ts';
import { evictionDefaults, type Terms } from '../src/terms.ts';
import { brokenIn, Scenario, start } from './world/lifecycle-scenario.ts';

// What is promised of evictions beside their time, kept and broken by hand.

const bad = { key: 'bad', effect: 'NoExecute' };

/** A node with two pods that somebody taints, and a client that makes pods leave. */
class Evictions {
  readonly scenario = new Scenario({ a: 2 });
  readonly checkers: Checkers;

  constructor(terms: Partial<Terms> = {}) {
    const { api, checkers } = this.scenario;
    this.checkers = new Checkers(api, { ...evictionDefaults, ...terms }, checkers.apiHistory);
    for (const name of ['p', 'q']) this.scenario.addPod('a-1', name);
    this.scenario.at(20);
    const { resourceVersion: _, ...metadata } = this.scenario.node('a-1').metadata;
    api.update('nodes', { ...this.scenario.node('a-1'), metadata, spec: { taints: [bad] } });
    this.scenario.at(21);
  }

  remove(name: string, options: object = {}): void {
    const { uid } = this.scenario.api.get('pods', 'default', name)?.metadata ?? {};
    const body = { preconditions: { uid }, ...options };
    this.scenario.write('DELETE', `/api/v1/namespaces/default/pods/${name}`, body);
  }

  get broken(): readonly string[] {
    this.checkers.atEnd();
    return brokenIn(this.checkers.violations);
  }
}

describe('a share of the pods', () => {
  const terms = { windows: [{ per: 'node', percent: 50, windowMs: 10_000 }] } as const;

  it('may leave within a window', () => {
    const evictions = new Evictions(terms);
    evictions.remove('p');
    evictions.scenario.at(40);
    evictions.remove('q');
    assert.deepEqual(evictions.broken, []);
  });

  it('and no more, though the first is long gone', () => {
    const evictions = new Evictions(terms);
    evictions.remove('p');
    evictions.scenario.at(30);
    evictions.remove('q');
    assert.deepEqual(evictions.broken, ['window']);
  });

  it('nor by another replica, or after a restart', () => {
    const evictions = new Evictions({ windows: [{ per: 'total', pods: 1, windowMs: 10_000 }] });
    evictions.remove('p');
    evictions.checkers.apiHistory.first.beginRun();
    evictions.remove('q');
    assert.ok(evictions.broken.includes('window'));
  });

  it('to which pods that came after the taint do not count', () => {
    const evictions = new Evictions(terms);
    evictions.scenario.addPod('a-1', 'late');
    evictions.remove('p');
    evictions.remove('late');
    assert.deepEqual(evictions.broken, []);
  });
});

describe('a rate that trips', () => {
  const rates = [{ per: 'node', podsPerSecond: 0.01, burst: 1, trips: true }] as const;
  const policies = [{ key: 'bad', gracePeriodSeconds: 0 }];

  /** Two pods leave at once; both are gone in the same instant. */
  function brokenBy(...names: readonly string[]): readonly string[] {
    const evictions = new Evictions({ rates, policies });
    evictions.scenario.addPod('a-1', 'late');
    for (const name of names) evictions.remove(name, { gracePeriodSeconds: 0 });
    return evictions.broken;
  }

  it('lets no second pod go', () => {
    assert.deepEqual(brokenBy('p', 'q'), ['rate']);
  });

  it('does not count pods that came after the taint', () => {
    assert.deepEqual(brokenBy('late', 'p'), []);
  });
});

describe('where limits may hold pods for as long as they like', () => {
  const terms = { mayStop: true } as const;

  /** The pods that are said to be overdue long after everything has become calm. */
  function overdue(evictions: Evictions): readonly string[] {
    evictions.scenario.at(1000);
    evictions.checkers.atRest(start + 60_000);
    return evictions.checkers.violations.map(({ invariant, evidence }) => {
      assert.equal(invariant, 'overdue');
      return /default\/\S+/.exec(evidence)?.[0] ?? evidence;
    });
  }

  it('those that were there before the taint may wait', () => {
    assert.deepEqual(overdue(new Evictions(terms)), []);
  });

  it('those that came after it do not count, and have to go', () => {
    const evictions = new Evictions(terms);
    evictions.scenario.at(40);
    evictions.scenario.addPod('a-1', 'late');
    assert.deepEqual(overdue(evictions), ['default/late']);
  });

  it('those that came before it was written anew may wait', () => {
    const evictions = new Evictions(terms);
    const { scenario } = evictions;
    scenario.at(40);
    scenario.addPod('a-1', 'late');
    scenario.at(45);
    const { resourceVersion: _, ...metadata } = scenario.node('a-1').metadata;
    const timeAdded = new Date(start + 45_000).toISOString();
    const spec = { taints: [{ ...bad, timeAdded }] };
    scenario.api.update('nodes', { ...scenario.node('a-1'), metadata, spec });
    assert.deepEqual(overdue(evictions), []);
  });

  it('all have to go where no limit is', () => {
    assert.deepEqual(overdue(new Evictions()), ['default/p', 'default/q']);
  });
});

describe('budgets', () => {
  const budget = pdb('default', 'both', { minAvailable: 2 }, {});

  it('are not overdrawn, nor passed over', () => {
    const evictions = new Evictions({ mode: 'evict' });
    evictions.scenario.api.create('poddisruptionbudgets', budget);
    evictions.scenario.at(30);
    evictions.remove('p');
    assert.deepEqual(evictions.broken, ['budget overdrawn', 'deletes too early']);
  });

  it('are passed over when their time is over', () => {
    const evictions = new Evictions({ mode: 'evictThenDelete', deleteAfterMs: 8000 });
    evictions.scenario.api.create('poddisruptionbudgets', budget);
    evictions.scenario.at(27);
    evictions.remove('p');
    assert.deepEqual(evictions.broken, ['deletes too early']);
    evictions.scenario.at(29);
    evictions.remove('q');
    assert.equal(evictions.checkers.violations.length, 1);
  });
});

describe('a grace period', () => {
  it('is that of the policy, or the pod’s own', () => {
    const policies = [{ key: 'bad', gracePeriodSeconds: 7 }];
    const evictions = new Evictions({ policies });
    evictions.remove('p', { gracePeriodSeconds: 7 });
    evictions.remove('q');
    assert.deepEqual(evictions.broken, []);
  });

  it('is not another', () => {
    const evictions = new Evictions();
    evictions.remove('p', { gracePeriodSeconds: 7 });
    assert.deepEqual(evictions.broken, ['grace period']);
  });
});

describe('while deadlines stand still', () => {
  it('nobody is evicted there', () => {
    const evictions = new Evictions();
    evictions.checkers.pauses.begin(
      { kind: 'node', name: 'a-1' },
      evictions.scenario.api.clock.now(),
    );
    evictions.scenario.at(30);
    evictions.remove('p');
    assert.deepEqual(evictions.broken, ['evicts in a pause']);
  });

  it('others are, and they themselves afterwards', () => {
    const evictions = new Evictions();
    const { pauses } = evictions.checkers;
    pauses.begin({ kind: 'node', name: 'a-2' }, evictions.scenario.api.clock.now());
    pauses.begin({ kind: 'all' }, evictions.scenario.api.clock.now());
    evictions.scenario.at(30);
    pauses.end({ kind: 'all' }, evictions.scenario.api.clock.now());
    evictions.scenario.at(31);
    evictions.remove('p');
    assert.deepEqual(evictions.broken, []);
  });
});

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

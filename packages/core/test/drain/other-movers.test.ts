// A NodeDrain that evicts by pods/eviction, beside EvictionRequests of others.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionRequest } from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const minute = 60_000;
const responder = {
  name: 'vm.example.com/migrator',
  heartbeatAt: 0,
  expectedAt: null,
  message: 'copied 40 %',
};

function requestOf(podUid: string, given: Partial<EvictionRequest> = {}): EvictionRequest {
  return {
    ...{ namespace: 'shop', name: `of-${podUid}`, podUid, requester: 'acme.io/mover' },
    ...{ intent: 'Eviction', drain: null, failed: null },
    ...{ createdAt: 0, responder: null, ...given },
  };
}

/** A node with two pods. */
function world(requests: EvictionRequest[] | null, spec: object = {}): World {
  const names = ['db', 'web'];
  const pods = names.map((name) => ({ name, uid: name, nodeName: 'n1' }));
  const given = new World([], [{ name: 'n1' }], pods);
  given.requests = requests;
  given.declare(drain(spec));
  return given;
}

const drain = (spec: object): NodeDrain => drainOf({ nodes: ['n1'], ...spec });
const evicted = ({ log }: World): readonly string[] =>
  log.filter((line) => line.startsWith('evict '));

describe('a NodeDrain that evicts by pods/eviction', () => {
  it('leaves a pod to whoever moves it, and says who and how far that is', () => {
    const given = world([requestOf('db', { responder })]);
    given.pass(10 * minute);
    assert.deepEqual(evicted(given), ['evict web']);
    assert.deepEqual(given.state().blockers, [
      'pod shop/db: somebody else is moving it: acme.io/mover has requested its eviction ' +
        '(EvictionRequest of-db); vm.example.com/migrator answers: copied 40 %, ' +
        'last heard of at 1970-01-01T00:00:00Z',
    ]);
  });

  it('evicts it when that one has given no sign of life for twenty minutes', () => {
    const given = world([requestOf('db', { responder })]);
    given.pass(20 * minute - 1000);
    assert.deepEqual(evicted(given), ['evict web']);
    given.pass(6000);
    assert.deepEqual(evicted(given), ['evict web', 'evict db']);
  });

  it('waits for as long as signs of life come, but no longer than its own limit', () => {
    for (const [limit, count] of [
      [{}, 1],
      [{ timeouts: { evictionRequest: '50m' } }, 2],
    ] as const) {
      const given = world([requestOf('db', { responder })], limit);
      for (let at = 0; at < 60; at++) {
        given.requests = [requestOf('db', { responder: { ...responder, heartbeatAt: given.now } })];
        given.pass(minute);
      }
      assert.equal(evicted(given).length, count);
    }
  });

  it('counts the time of the next one, who has given no sign of life yet, from its turn', () => {
    const given = world([requestOf('db', { responder })]);
    given.pass(19 * minute);
    const next = { ...responder, name: 'other.example.com/mover', heartbeatAt: null };
    given.requests = [requestOf('db', { responder: next })];
    given.pass(19 * minute);
    assert.deepEqual(evicted(given), ['evict web']);
    given.pass(2 * minute);
    assert.deepEqual(evicted(given), ['evict web', 'evict db']);
  });

  it('evicts what nobody has answered for in twenty minutes', () => {
    const given = world([requestOf('db', { createdAt: -19 * minute })]);
    given.pass(30_000);
    assert.deepEqual(evicted(given), ['evict web']);
    given.pass(minute);
    assert.deepEqual(evicted(given), ['evict web', 'evict db']);
  });

  it('evicts what is withdrawn, has failed, or would be evicted by pods/eviction anyhow', () => {
    const name = 'imperative-eviction.k8s.io/evictor';
    const asked: Partial<EvictionRequest>[] = [
      { intent: 'Withdrawn', responder },
      { failed: 'no further responder', responder },
      { responder: { ...responder, name } },
    ];
    for (const one of asked) {
      const given = world([requestOf('db', one)]);
      given.pass(1000);
      assert.deepEqual(evicted(given), ['evict db', 'evict web']);
    }
  });

  it('goes on, and says so, where it may not see them', () => {
    const given = world([]);
    given.lists = { kind: 'failed', status: 403, message: 'no right', retryAfter: null };
    given.refuses.add('db');
    given.declare({ ...drain({}), uid: 'u2' });
    given.pass(minute);
    assert.deepEqual(evicted(given), ['evict web']);
    assert.equal(
      given.state().blockers.at(-1),
      'whether others move pods by EvictionRequests is not known: no right',
    );
  });

  it('says nothing where the cluster has none, and asks again after ten minutes only', () => {
    const given = world(null);
    given.refuses.add('db');
    given.declare({ ...drain({}), uid: 'u2' });
    given.pass(minute);
    const before = given.listed;
    given.pass(9 * minute - 1000);
    assert.equal(given.state().blockers.length, 1);
    assert.equal(given.listed, before);
    given.pass(5000);
    assert.equal(given.listed, before + 1);
  });

  it('looks anew when a pod is due long after the last look', () => {
    const given = world([], { paused: true });
    given.pass(60 * minute);
    given.requests = [requestOf('db', { createdAt: given.now })];
    given.declare({ ...drain({}), isGuarded: true, generation: 2 });
    given.pass(minute);
    assert.deepEqual(evicted(given), ['evict web']);
  });

  it('asks for nothing any more when it is done', () => {
    const given = world([]);
    given.pass(minute);
    assert.equal(given.state().phase, 'Drained');
    assert.equal(given.engine.nextWake(), null);
  });
});

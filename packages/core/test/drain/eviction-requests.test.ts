// NodeDrains and EvictionRequests: those that a drain makes, and those of others, which it heeds.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionRequest } from '@taintmgr/core/drain';
import type { NodeDrain } from '@taintmgr/core/policy';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const names = ['db', 'web'];
const minute = 60_000;

function drain(spec: object = {}, others: Partial<NodeDrain> = {}): NodeDrain {
  const pods = { withoutController: true, evictBy: 'EvictionRequest' };
  return drainOf({ nodes: ['n1'], pods, ...spec }, others);
}

/** A node with two pods. */
function world(given: NodeDrain = drain()): World {
  const pods = names.map((name) => ({ name, uid: name, nodeName: 'n1' }));
  return new World(given, [{ name: 'n1' }], pods);
}

function requestOf(podUid: string, given: Partial<EvictionRequest> = {}): EvictionRequest {
  return {
    ...{ namespace: 'shop', name: `of-${podUid}`, podUid, requester: 'acme.io/mover' },
    ...{ intent: 'Eviction', drain: null, failed: null },
    ...{ createdAt: 0, responder: null, ...given },
  };
}

/** Somebody answers for the pods whose eviction is requested. */
function answer(given: World): void {
  const responder = { name: 'vm.io/mover', heartbeatAt: 0, expectedAt: null, message: '' };
  given.requests = (given.requests ?? []).map((one) => ({ ...one, responder }));
}

const of = (given: World): readonly string[] =>
  given.log.filter((line) => /^(request|withdraw|evict) /.test(line));

describe('a NodeDrain with evictBy EvictionRequest', () => {
  it('requests the eviction of each pod, once, and waits for whoever answers', () => {
    const given = world();
    given.pass(10_000);
    answer(given);
    given.pass(590_000);
    assert.deepEqual(of(given), ['request db', 'request web']);
    assert.deepEqual(given.state().blockers, [
      'pod shop/db: its eviction is requested (EvictionRequest); by pods/eviction at 1970-01-01T00:20:00Z',
      'pod shop/web: its eviction is requested (EvictionRequest); by pods/eviction at 1970-01-01T00:20:00Z',
    ]);
  });

  it('takes back a request when its pod is gone', () => {
    const given = world();
    given.pass(10_000);
    for (const name of names) given.remove(name);
    given.pass(20_000);
    assert.deepEqual(of(given).slice(2).toSorted(), ['withdraw of-db', 'withdraw of-web']);
    assert.equal(given.state().phase, 'Drained');
    assert.equal(given.state().podsGone, 2);
    assert.deepEqual(given.requests, []);
  });

  it('lists nothing any more when it is done', () => {
    const given = world();
    given.pass(10_000);
    for (const name of names) given.remove(name);
    given.pass(60_000);
    assert.equal(given.engine.nextWake(), null);
  });

  it('takes all back when it is undone, and only then lets the object go', () => {
    const given = world();
    given.pass(10_000);
    given.lists = { kind: 'failed', status: 503, message: 'away', retryAfter: null };
    given.declare({ ...drain(), isGuarded: true, isDeleted: true });
    given.pass(30_000);
    assert.equal(given.log.includes('let go'), false);
    assert.deepEqual(given.state().blockers.slice(-1), [
      'EvictionRequests must be withdrawn first: away',
    ]);
    given.lists = { kind: 'done' };
    given.pass(30_000);
    assert.equal(given.log.at(-1), 'let go');
    assert.deepEqual(given.requests, []);
  });

  it('takes them back where its node fails', () => {
    const given = world(drain({ timeouts: { node: '1m' } }));
    given.pass(90_000);
    assert.equal(given.state().phase, 'TimedOut');
    assert.deepEqual(given.requests, []);
  });

  it('takes one back whose pod is not to go any more', () => {
    const given = world();
    given.pass(10_000);
    const tolerations = [{ key: 'work', operator: 'Exists' }];
    given.show({ name: 'db', uid: 'db', nodeName: 'n1', tolerations });
    given.pass(10_000);
    assert.deepEqual(of(given).slice(2), ['withdraw of-db']);
    assert.deepEqual(
      given.requests?.map(({ name }) => name),
      ['of-web'],
    );
  });

  it('evicts by pods/eviction where the cluster has no such API, and says so', () => {
    const given = world();
    given.requests = null;
    given.refuses.add('db');
    given.pass(20_000);
    assert.deepEqual(of(given), ['evict web']);
    assert.match(given.state().blockers.at(-1) ?? '', /^the cluster has no EvictionRequests/);
  });

  it('goes on by pods/eviction when the API vanishes', () => {
    const given = world();
    given.pass(10_000);
    given.requests = null;
    given.pass(10_000);
    assert.deepEqual(of(given).slice(2), ['evict db', 'evict web']);
  });

  it('asks again after an error of the server, says why, and gives up after a minute', () => {
    const given = world();
    given.creations = { kind: 'failed', status: 503, message: 'away', retryAfter: null };
    given.pass(30_000);
    const [first = ''] = given.state().blockers;
    assert.match(first, /^pod shop\/db: its eviction could not be requested: away; by pods/);
    assert.ok(of(given).length > 4);
    given.pass(40_000);
    assert.deepEqual(of(given).slice(-2), ['evict db', 'evict web']);
  });

  it('evicts by pods/eviction what the API server refuses to request, and says so', () => {
    const given = world();
    given.creations = { kind: 'failed', status: 403, message: 'of a group', retryAfter: null };
    given.refuses.add('db');
    given.pass(10_000);
    assert.deepEqual(of(given).slice(0, 3), ['request db', 'request web', 'evict web']);
    assert.equal(
      given.state().blockers.at(-1),
      '2 pods go by pods/eviction, not by EvictionRequests: the request was refused: of a group',
    );
  });

  it('evicts by pods/eviction after a minute in which nobody has answered, and says so', () => {
    const given = world();
    given.refuses.add('db');
    given.pass(59_999);
    assert.deepEqual(of(given), ['request db', 'request web']);
    assert.match(given.state().blockers[0] ?? '', /\(EvictionRequest\); by pods\/eviction at /);
    given.pass(10_001);
    assert.ok(of(given).includes('evict web'));
    assert.equal(
      given.state().blockers.at(-1),
      '2 pods go by pods/eviction, not by EvictionRequests: no controller has answered the request within a minute (no responder)',
    );
  });

  it('evicts a pod that nobody managed to move, and takes the request back', () => {
    const given = world();
    given.pass(10_000);
    given.requests = (given.requests ?? []).map((one) =>
      one.podUid === 'db' ? { ...one, failed: 'NoFurtherResponder' } : one,
    );
    given.pass(10_000);
    assert.deepEqual(of(given).slice(2), ['evict db', 'withdraw of-db']);
  });

  it('does not evict what others have requested, until they withdraw', () => {
    const given = world();
    given.requests = [requestOf('db')];
    given.pass(50_000);
    assert.deepEqual(of(given), ['request web']);
    const [first] = given.state().blockers;
    assert.equal(
      first,
      'pod shop/db: another program is moving it: acme.io/mover has requested its eviction (EvictionRequest of-db); no controller has answered yet',
    );
    given.requests = given.requests.map((one) => ({ ...one, intent: 'Withdrawn' }));
    given.pass(10_000);
    assert.ok(of(given).includes('request db'));
  });

  it('evicts by pods/eviction where it may not read requests, says so, and lets the object go', () => {
    const given = world();
    given.lists = { kind: 'failed', status: 403, message: 'no right', retryAfter: null };
    given.refuses.add('db');
    given.pass(10_000);
    assert.deepEqual(of(given), ['evict web']);
    assert.equal(
      given.state().blockers.at(-1),
      'EvictionRequests cannot be read (no right): pods are evicted by pods/eviction',
    );
    given.declare({ ...drain(), isGuarded: true, isDeleted: true });
    given.pass(10_000);
    assert.equal(given.log.at(-1), 'let go');
  });

  it('waits a minute to hear what others move, and then goes on', () => {
    const given = world();
    given.lists = { kind: 'failed', status: 503, message: 'away', retryAfter: null };
    given.pass(59_000);
    assert.deepEqual(of(given), []);
    const [first] = given.state().blockers;
    assert.equal(first, 'pod shop/db: waits to hear whether others move it: away');
    given.pass(10_000);
    assert.deepEqual(of(given), ['evict db', 'evict web']);
  });

  it('evicts a pod whose responder has reported no progress for 20 minutes', () => {
    const given = world();
    const events: string[] = [];
    given.onEvent = ({ pod, reason, message }) => {
      if (reason === 'EvictionRequestGivenUp') events.push(`${pod.name} ${reason}: ${message}`);
    };
    given.pass(10_000);
    answer(given);
    given.pass(20 * minute - 10_001);
    assert.deepEqual(of(given), ['request db', 'request web']);
    given.pass(1);
    assert.deepEqual(of(given).slice(2, 4), ['evict db', 'evict web']);
    const end = given.state();
    assert.equal(end.phase, 'Drained');
    assert.equal(
      end.fallback,
      '2 pods went by pods/eviction, not by EvictionRequests: vm.io/mover has reported no progress for 20m',
    );
    assert.deepEqual(
      events,
      names.map(
        (name) =>
          `${name} EvictionRequestGivenUp: vm.io/mover has reported no progress for 20m: the pod is evicted by pods/eviction`,
      ),
    );
  });

  it('waits an hour for a responder that gives signs of life, and no longer', () => {
    const given = world();
    given.pass(10_000);
    for (let at = 0; at < 59; at++) {
      const responder = {
        name: 'vm.io/mover',
        heartbeatAt: at * minute,
        expectedAt: null,
        message: '',
      };
      given.requests = (given.requests ?? []).map((one) => ({ ...one, responder }));
      assert.deepEqual(of(given).slice(2), []);
      given.pass(minute);
    }
    given.pass(minute);
    assert.deepEqual(of(given).slice(2, 4), ['evict db', 'evict web']);
    assert.match(given.state().fallback, /: no controller has moved it within 1h$/);
  });

  it('a new leader counts from when the request was made, and one after the other falls back', () => {
    const given = world();
    given.pass(50_000);
    given.start();
    given.pass(9_000);
    assert.deepEqual(of(given), ['request db', 'request web']);
    given.pass(5_000);
    assert.deepEqual(of(given).slice(2, 4), ['evict db', 'evict web']);
  });

  it('holds pods that come when nobody has said for long what there is', () => {
    const given = world();
    given.pass(10_000);
    given.lists = { kind: 'failed', status: 503, message: 'away', retryAfter: null };
    given.pass(48_000);
    given.show({ name: 'late', uid: 'late', nodeName: 'n1' });
    given.pass(1_000);
    assert.deepEqual(of(given), ['request db', 'request web']);
    const said = given.state().blockers.find((one) => one.startsWith('pod shop/late'));
    assert.equal(said, 'pod shop/late: waits to hear whether others move it: away');
  });

  it('gives up when its time is over, to the millisecond', () => {
    const given = world(drain({ timeouts: { evictionRequest: '61s' } }));
    given.pass(10_000);
    answer(given);
    given.pass(50_999);
    assert.deepEqual(of(given), ['request db', 'request web']);
    given.pass(1);
    assert.deepEqual(of(given).slice(2, 4), ['evict db', 'evict web']);
  });

  it('gives its place to another of the workload when a pod is not to go any more', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'shop' };
    const limits = { maxUnavailable: 1 };
    const pods = names.map((name) => ({ name, uid: name, nodeName: 'n1', owner }));
    const given = new World(drain({ limits }), [{ name: 'n1' }], pods);
    given.pass(10_000);
    assert.deepEqual(of(given), ['request db']);
    const tolerations = [{ key: 'work', operator: 'Exists' }];
    given.show({ name: 'db', uid: 'db', nodeName: 'n1', owner, tolerations });
    given.pass(20_000);
    assert.deepEqual(of(given).slice(1).toSorted(), ['request web', 'withdraw of-db']);
  });

  it('a new leader finds what the first one has requested, and requests nothing twice', () => {
    const given = world();
    given.pass(10_000);
    answer(given);
    given.start();
    given.pass(60_000);
    assert.deepEqual(of(given), ['request db', 'request web']);
    for (const name of names) given.remove(name);
    given.pass(20_000);
    assert.deepEqual(given.requests, []);
  });

  it('a new leader takes back what was requested for a pod that is gone by now', () => {
    const given = world();
    given.pass(10_000);
    given.pods.delete('db');
    given.start();
    given.pass(30_000);
    assert.deepEqual(of(given).slice(2), ['withdraw of-db']);
  });

  it('a new leader takes all back of a drain that was deleted meanwhile', () => {
    const given = world();
    given.pass(10_000);
    given.declare({ ...drain(), isGuarded: true, isDeleted: true });
    given.start();
    given.pass(30_000);
    assert.deepEqual(given.requests, []);
    assert.equal(given.log.at(-1), 'let go');
  });

  it('leaves the requests of other drains and of people alone', () => {
    const given = world();
    given.requests = [requestOf('other', { drain: 'u2' }), requestOf('gone')];
    given.pass(10_000);
    given.declare({ ...drain(), isGuarded: true, isDeleted: true });
    given.pass(30_000);
    assert.deepEqual(
      given.requests.map(({ podUid }) => podUid),
      ['other', 'gone'],
    );
  });

  it('requests nothing while it is paused, whatever happens to its pods', () => {
    const given = world();
    given.requests = [requestOf('db'), requestOf('web')];
    given.pass(10_000);
    given.declare({ ...drain({ paused: true }), isGuarded: true, generation: 2 });
    given.requests = [];
    given.pass(10_000);
    for (const name of names) given.show({ name, uid: name, nodeName: 'n1', labels: { a: 'b' } });
    given.pass(60_000);
    assert.deepEqual(of(given), []);
  });

  it('has no more requests at one time than limits.podsAtOnce', () => {
    const given = world(drain({ limits: { podsAtOnce: 1 } }));
    given.pass(30_000);
    assert.deepEqual(of(given), ['request db']);
    given.remove('db');
    given.pass(20_000);
    assert.ok(of(given).includes('request web'));
  });
});

const responder = {
  name: 'vm.example.com/migrator',
  heartbeatAt: 0,
  expectedAt: null,
  message: 'copied 40 %',
};

/** A node with two pods, and such requests of others. */
function worldBeside(requests: EvictionRequest[] | null, spec: object = {}): World {
  const names = ['db', 'web'];
  const pods = names.map((name) => ({ name, uid: name, nodeName: 'n1' }));
  const given = new World([], [{ name: 'n1' }], pods);
  given.requests = requests;
  given.declare(evicting(spec));
  return given;
}

const evicting = (spec: object): NodeDrain => drainOf({ nodes: ['n1'], ...spec });
const evicted = ({ log }: World): readonly string[] =>
  log.filter((line) => line.startsWith('evict '));

describe('a NodeDrain that evicts by pods/eviction', () => {
  it('leaves a pod to whoever moves it, and says who and how far that is', () => {
    const given = worldBeside([requestOf('db', { responder })]);
    given.pass(10 * minute);
    assert.deepEqual(evicted(given), ['evict web']);
    assert.deepEqual(given.state().blockers, [
      'pod shop/db: another program is moving it: acme.io/mover has requested its eviction ' +
        '(EvictionRequest of-db); vm.example.com/migrator answers: copied 40 %, ' +
        'last heard of at 1970-01-01T00:00:00Z',
    ]);
  });

  it('evicts it when that one has reported no progress for twenty minutes', () => {
    const given = worldBeside([requestOf('db', { responder })]);
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
      const given = worldBeside([requestOf('db', { responder })], limit);
      for (let at = 0; at < 59; at++) {
        given.requests = [requestOf('db', { responder: { ...responder, heartbeatAt: given.now } })];
        given.pass(minute);
      }
      assert.equal(evicted(given).length, count);
    }
  });

  it('counts the time of the next one, who has given no sign of life yet, from its turn', () => {
    const given = worldBeside([requestOf('db', { responder })]);
    given.pass(19 * minute);
    const next = { ...responder, name: 'other.example.com/mover', heartbeatAt: null };
    given.requests = [requestOf('db', { responder: next })];
    given.pass(19 * minute);
    assert.deepEqual(evicted(given), ['evict web']);
    given.pass(2 * minute);
    assert.deepEqual(evicted(given), ['evict web', 'evict db']);
  });

  it('evicts what nobody has answered for in twenty minutes', () => {
    const given = worldBeside([requestOf('db', { createdAt: -19 * minute })]);
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
      const given = worldBeside([requestOf('db', one)]);
      given.pass(1000);
      assert.deepEqual(evicted(given), ['evict db', 'evict web']);
    }
  });

  it('goes on, and says so, where it may not see them', () => {
    const given = worldBeside([]);
    given.lists = { kind: 'failed', status: 403, message: 'no right', retryAfter: null };
    given.refuses.add('db');
    given.declare({ ...evicting({}), uid: 'u2' });
    given.pass(minute);
    assert.deepEqual(evicted(given), ['evict web']);
    assert.equal(
      given.state().blockers.at(-1),
      'whether others move pods by EvictionRequests is not known: no right',
    );
  });

  it('says nothing where the cluster has none, and asks again after ten minutes only', () => {
    const given = worldBeside(null);
    given.refuses.add('db');
    given.declare({ ...evicting({}), uid: 'u2' });
    given.pass(minute);
    const before = given.listed;
    given.pass(9 * minute - 1000);
    assert.equal(given.state().blockers.length, 1);
    assert.equal(given.listed, before);
    given.pass(5000);
    assert.equal(given.listed, before + 1);
  });

  it('looks anew when a pod is due long after the last look', () => {
    const given = worldBeside([], { paused: true });
    given.pass(60 * minute);
    given.requests = [requestOf('db', { createdAt: given.now })];
    given.declare({ ...evicting({}), isGuarded: true, generation: 2 });
    given.pass(minute);
    assert.deepEqual(evicted(given), ['evict web']);
  });

  it('asks for nothing any more when it is done', () => {
    const given = worldBeside([]);
    given.pass(minute);
    assert.equal(given.state().phase, 'Drained');
    assert.equal(given.engine.nextWake(), null);
  });
});

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { seededRandom } from '@taintmgr/sim-cluster';
import { type Replica, startReplica } from '../../harness/replica.ts';
import { FailoverWorld } from './failover-world.ts';

// Two replicas as processes of their own, and what happens when the one that leads is struck while
// 2,000 pods fall due. What counts is what the API server has seen.

const leaseMs = 3_000;
const retryMs = 500;
/**
 * Between two looks of whoever waits for the lease lies half a retry period at least. On a machine that
 * is too slow some looks and claims are answered too late, and made again: twice as many are allowed.
 */
const looksMax = 2 * (leaseMs / (retryMs / 2));
const concurrent = 50;
const flags = [
  `--concurrent-evictions=${concurrent}`,
  '--controllers=taint-eviction-controller',
  `--leader-elect-lease-duration=${leaseMs}ms`,
  '--leader-elect-renew-deadline=2s',
  `--leader-elect-retry-period=${retryMs}ms`,
];
const synced = 'caches synced';
const seeds = [1, 2];
/** Ends what hangs. How soon the other one takes over is asserted. */
const timeout = 600_000;

interface Started {
  readonly world: FailoverWorld;
  readonly leader: Replica;
  readonly standby: Replica;
}

/** Both know all nodes and pods, the first leads, and the nodes have just been tainted. */
async function start(t: TestContext, seed: number): Promise<Started> {
  const world = await FailoverWorld.start(t, seed);
  const leader = startReplica(t, world.kubeconfig, flags);
  await Promise.all([leader.saw('became the leader'), leader.saw(synced)]);
  const standby = startReplica(t, world.kubeconfig, flags);
  await standby.saw(synced);
  world.taintNodes();
  return { world, leader, standby };
}

/** Of all writes to the pods that the leader has to do, the one at which it is struck. */
function momentOf(seed: number, pods: number): number {
  return 1 + Math.floor(seededRandom(seed)() * pods * 1.5);
}

/** Nobody lost, nobody too early, nobody twice, and nobody else. */
function assertHarmless({ due, removedAt, accepted }: FailoverWorld): void {
  const names = (uids: Iterable<string>): readonly string[] =>
    [...uids].map((uid) => due.get(uid)?.name ?? uid).sort();
  const removed = names(removedAt.keys());
  const expected = names(due.keys());
  assert.deepEqual(
    removed.filter((name) => !expected.includes(name)),
    [],
    'was not to leave',
  );
  assert.equal(removed.length, expected.length);
  const early = [...due].filter(([uid, { deadline }]) => (removedAt.get(uid) ?? 0) < deadline);
  assert.deepEqual(early, []);
  assert.deepEqual(
    [...accepted].filter(([, times]) => times !== 1),
    [],
  );
  assert.equal(accepted.size, due.size);
}

/** The lease goes over to the other one as soon as it may, and no sooner. */
function assertTakeover({ claims, leaseReads }: FailoverWorld, struckAt: number): void {
  const at = claims.findIndex(({ holder }) => holder !== claims[0]?.holder);
  const [before, after] = [claims[at - 1], claims[at]];
  assert.ok(before && after, 'nobody took over');
  const sinceRenewal = after.at - before.at;
  assert.ok(sinceRenewal >= leaseMs, `taken ${sinceRenewal} ms after a renewal`);
  // A machine that is too slow may have cost the leader its lease before it was struck.
  if (after.at <= struckAt) return;
  // However slow the machine is: what is counted is looks.
  const looks = leaseReads.filter((at) => at > struckAt && at <= after.at).length;
  assert.ok(looks > 0 && looks <= looksMax, `taken at look ${looks} after it fell`);
}

describe('two replicas', () => {
  for (const seed of seeds) {
    it(`the leader is killed, seed ${seed}`, { timeout }, async (t) => {
      const { world, leader, standby } = await start(t, seed);
      const moment = momentOf(seed, world.due.size);
      let killedAt = 0;
      await world.at(
        () => world.podChanges >= moment,
        () => {
          leader.strike('SIGKILL');
          killedAt = Date.now();
        },
      );
      assert.ok(!world.isDone, 'killed with work left');
      await world.until(() => world.isDone);
      await standby.stop();
      assertTakeover(world, killedAt);
      assertHarmless(world);
    });
  }

  it('both believe to lead, as the clock of one stood still', { timeout }, async (t) => {
    const { world, leader, standby } = await start(t, 3);
    const [first] = world.claims;
    const moment = momentOf(3, world.due.size);
    await world.until(() => world.podChanges >= moment);
    // It is stopped while it waits for answers, so that nothing is half sent.
    const undo = world.api.faults.add({
      fault: { kind: 'delay', ms: 500 },
      verbs: ['patch'],
      resource: 'pods/status',
    });
    await world.until(() => world.marking === concurrent);
    leader.strike('SIGSTOP');
    const stoppedAt = Date.now();
    undo();
    await world.until(() => world.marking === 0);
    // What the one that stands still does not know, it must not act against.
    for (const nodeName of ['n0', 'n1', 'n2']) world.untaint(nodeName);
    const removed = world.removedAt.size;
    await world.until(() => world.holder !== first?.holder && world.removedAt.size > removed);
    leader.strike('SIGCONT');
    await leader.saw('no longer the leader');
    await world.until(() => world.isDone);
    await leader.stop();
    await standby.stop();
    assertTakeover(world, stoppedAt);
    assertHarmless(world);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, type Event, makeNode, makePod } from '@taintmgr/core';
import { gzip } from '@taintmgr/k8s-adapter';
import { pastIn } from '../../../src/server/live/past.ts';
import type { RunningController } from '../../../src/stats/process-stats.ts';
import { due, idle } from '../../metrics/measured.ts';

// The departures that the live page is told of, from the records of the leader.

const minute = 60_000;

function departure(uid: string, ago: number, given: object = {}): Record<string, unknown> {
  const at = due - ago * minute;
  return {
    ...{ namespace: 'shop', pod: `web-${uid}`, uid, node: 'n1', seenAt: at, askedAt: at },
    owner: { kind: 'ReplicaSet', name: 'web' },
    by: { kind: 'taintmgr', source: 'ownAct' },
    taint: { key: 'bad', value: '', effect: 'NoExecute' },
    ...{ answeredAt: at, goneAt: at + 30_000, ...given },
  };
}

const begun = { to: due - 50 * minute, why: 'leaderChanged', leader: 'a' };
const changed = { from: due - 9 * minute, to: due - 8 * minute, why: 'leaderChanged', leader: 'b' };

function blockOf(...lines: readonly object[]): string {
  return gzip.pack(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

function running(given: Partial<RunningController>, events: readonly Event[] = []) {
  const engine = createEngine({ lifecycle: null });
  for (const event of events) engine.handle(due, event);
  return { ...idle, explain: engine.explain, ...given };
}

describe('who left, by the memory of the leader', () => {
  it('is nobody where this process keeps none, or does not lead', async () => {
    assert.equal(await pastIn(running({ kept: () => null })), null);
  });

  it('is told with its story, and with the times of which no record is kept', async () => {
    const blocks = [blockOf(begun, departure('u1', 20)), blockOf(changed)];
    const lines = [departure('u2', 3)];
    const past = (await pastIn(running({ kept: () => ({ blocks, lines }) }))) ?? assert.fail();
    const [first = assert.fail(), second, ...more] = past.pods;
    assert.deepEqual([second?.uid, more], ['u2', []]);
    const { story, ...pod } = first;
    assert.deepEqual(pod, {
      ...{ uid: 'u1', namespace: 'shop', pod: 'web-u1', node: 'n1' },
      ...{ workload: 'ReplicaSet shop/web', at: due - 20 * minute + 30_000 },
    });
    const { evictedBy, reason, replacedBy, sources } = story;
    assert.deepEqual([evictedBy, reason], ['taintmgr-controller', 'bad:NoExecute']);
    assert.deepEqual([replacedBy, sources], ['', ['record of taintmgr-controller']]);
    assert.match(story.lines[0] ?? '', /^shop\/web-u1 was evicted from n1 at .* \(20m ago\) by/);
    assert.equal(past.isCut, false);
    assert.deepEqual(past.gaps, [
      { from: null, to: begun.to, text: 'a began to lead then' },
      { from: changed.from, to: changed.to, text: 'b began to lead then' },
    ]);
  });

  it('is not who is still there, but who has ended on its node', async () => {
    const there = (uid: string, phase: string): Event => {
      const given = { namespace: 'shop', name: `web-${uid}`, uid, nodeName: 'n1', phase };
      return { kind: 'podUpsert', pod: makePod(given) };
    };
    const events: readonly Event[] = [
      { kind: 'nodeUpsert', node: makeNode({ name: 'n1' }) },
      ...[there('u1', 'Running'), there('u2', 'Failed')],
    ];
    const lines = [departure('u1', 3), departure('u2', 2), departure('u3', 1)];
    const past = await pastIn(running({ kept: () => ({ blocks: [], lines }) }, events));
    assert.deepEqual(
      past?.pods.map(({ uid }) => uid),
      ['u2', 'u3'],
    );
  });

  it('says only as much as is known where pods of some nodes are read', async () => {
    const lines = [departure('u1', 3, { goneAt: undefined })];
    const kept = () => ({ blocks: [], lines });
    const linesOf = async (podScope: 'all' | 'byNode') => {
      const past = await pastIn(running({ kept, podScope: () => podScope }));
      return past?.pods[0]?.story.lines.join() ?? '';
    };
    assert.match(await linesOf('byNode'), /if it is gone: pods may not be read/);
    assert.doesNotMatch(await linesOf('all'), /if it is gone/);
  });

  it('are the last three hundred, and that there were others is told', async () => {
    const all = Array.from({ length: 400 }, (_, at) => departure(`u${at}`, 500 - at));
    const blocks = [blockOf(begun, ...all)];
    const past = (await pastIn(running({ kept: () => ({ blocks, lines: [] }) }))) ?? assert.fail();
    assert.deepEqual([past.pods.length, past.pods[0]?.uid], [300, 'u100']);
    assert.equal(past.isCut, true);
  });

  it('are those of the last sixteen blocks, however many there are', async () => {
    const blocks = Array.from({ length: 20 }, (_, at) => blockOf(departure(`u${at}`, 50 - at)));
    const past = (await pastIn(running({ kept: () => ({ blocks, lines: [] }) }))) ?? assert.fail();
    assert.deepEqual([past.pods.length, past.pods[0]?.uid], [16, 'u4']);
    assert.equal(past.isCut, true);
  });
});

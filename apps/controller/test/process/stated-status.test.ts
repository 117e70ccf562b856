import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KnownPause } from '@taintmgr/core';
import type { ZoneStatus } from '@taintmgr/core/lifecycle';
import type { LimitStatus } from '@taintmgr/core/policy';
import type { Notice } from '@taintmgr/k8s-adapter';
import { checkChoices } from '../../src/flags/checks.ts';
import { resolveChoices } from '../../src/flags/resolve.ts';
import { Leadership } from '../../src/leadership/leadership.ts';
import { PublishedStatus } from '../../src/process/published-status.ts';
import type { ProcessStats } from '../../src/stats/process-stats.ts';
import type { RunningController } from '../../src/stats/running-controller.ts';
import { due, finished, idle, measure } from '../metrics/measured.ts';

// What the leader says of itself, for each state that it can be in.

const elected = (held: boolean): Notice => ({ kind: 'elected', held });
const done = finished({ kind: 'done' });
const failed = finished({ kind: 'failed', status: 500, message: 'no', retryAfter: null });

interface Given {
  readonly flags?: readonly string[];
  readonly running?: Partial<RunningController>;
  readonly stats?: Partial<ProcessStats>;
  readonly notices?: readonly Notice[];
}

function stated({ flags = [], running = {}, stats = {}, notices = [] }: Given) {
  const choices = resolveChoices(flags, {});
  const all = { ...measure().stats, running: { ...idle, ...running }, ...stats };
  const seen = { overlaps: null, shadow: null };
  const published = new PublishedStatus(choices, checkChoices(choices), all, seen);
  for (const notice of notices) published.observe(notice);
  const { status, ...options } = published.options('me');
  return { ...options, status: status(due) };
}

describe('the status of the leader', () => {
  const tallies: readonly (readonly [name: string, notices: readonly Notice[], count: number])[] = [
    ['nothing', [elected(true)], 0],
    ['what went, and not what failed', [elected(true), done, failed, done], 2],
    ['what went since it leads again', [elected(true), done, elected(false), elected(true)], 0],
  ];
  for (const [name, notices, count] of tallies) {
    it(`counts as evicted ${name}`, () => {
      assert.equal(stated({ notices }).status.counts?.evicted, count);
      const dry = stated({ notices, flags: ['--dry-run'] });
      assert.equal(dry.status.counts?.evicted, undefined, 'nobody is, in a dry run');
    });
  }

  it('counts pods where all are read', () => {
    const counts = { ...idle.counts(), pods: 7 };
    for (const [scope, pods] of [
      ['all', 7],
      ['byNode', undefined],
    ] as const) {
      const running = { counts: () => counts, podScope: () => scope };
      assert.equal(stated({ running }).status.counts?.pods, pods);
    }
  });

  it('says since when a zone is held that is down as a whole, and of no other', () => {
    const known = { key: 'k', ready: 1, notReady: 2, rate: 0.1, waiting: [], tainted: 0 };
    const zone = { ...known, state: 'Normal' } as const;
    const zones: readonly ZoneStatus[] = [
      { ...zone, name: 'down', hold: { code: 'FullDisruptionHeld', since: due } },
      { ...zone, name: 'old', hold: { code: 'ViewOld', since: due } },
      { ...zone, name: 'well', state: null, hold: null },
    ];
    const common = { nodes: 3, notReady: 2, rate: 0.1 };
    assert.deepEqual(stated({ running: { zones: () => zones } }).status.zones, [
      { name: 'down', state: 'Normal', ...common, heldSince: '2027-01-15T08:00:00Z' },
      { name: 'old', state: 'Normal', ...common },
      { name: 'well', ...common },
    ]);
  });

  it('names limits that have tripped, and until when rates are used up', () => {
    const limit = { per: 'zone', limit: 'pods', tripped: false, since: null } as const;
    const limits: readonly LimitStatus[] = [
      { ...limit, name: 'a', id: 'zone=a' },
      { ...limit, name: 'b', id: 'zone=b', tripped: true, since: due },
      { ...limit, name: 'c', id: 'zone=c', oneAt: due },
    ];
    const { trippedLimits, rates } = stated({ running: { limits: () => limits } }).status;
    assert.deepEqual(trippedLimits, [{ name: 'zone=b', since: '2027-01-15T08:00:00Z' }]);
    assert.deepEqual(rates, [{ name: 'zone=c', oneAt: '2027-01-15T08:00:00.000Z' }]);
  });

  it('names pauses that hold, and keeps what is known of those that are over', () => {
    const scope = { zones: [], nodes: null, taintKeys: [], namespaces: [] };
    const how = { readiness: false, deadlines: true, reason: '', until: null, since: due };
    const pauseOf = (name: string, isOver: boolean): KnownPause => {
      return { pause: { name, uid: name, scope, ...how }, isOver };
    };
    const known = [pauseOf('night', false), pauseOf('past', true)];
    const { pauses, pauseRecords } = stated({ running: { pauses: () => known } }).status;
    assert.deepEqual(pauses, ['night']);
    assert.deepEqual(
      pauseRecords?.map(({ name }) => name),
      ['night', 'past'],
    );
  });

  it('says which replica of its own stays as the last one', () => {
    const pod = { namespace: 'taintmgr-system', name: 'a', uid: 'a', nodeName: 'n1' };
    const last = { pod, because: [{ code: 'LastReplica', workload: 'Deployment c' } as const] };
    const { conditions } = stated({ running: { lastReplica: () => last } }).status;
    assert.deepEqual(conditions, [
      {
        ...{ type: 'LastReplica', status: 'True', reason: 'NoOtherReplicaReady' },
        message:
          'pod taintmgr-system/a on node n1: the last ready replica of Deployment c; it goes when another is ready',
      },
    ]);
  });

  it('says that it stands by, and that a dry run changes nothing, under a name of its own', () => {
    const standsBack = new Leadership(true, () => {});
    const accepts = new Leadership(true, () => {}, true);
    for (const leadership of [standsBack, accepts]) leadership.collide('b does the same work');
    const cases: readonly (readonly [Given, string, boolean, readonly string[]])[] = [
      [{}, 'taintmgr', true, []],
      [{ stats: { leadership: standsBack } }, 'taintmgr', true, ['StandingBack']],
      [{ stats: { leadership: accepts } }, 'taintmgr', true, []],
      [{ flags: ['--dry-run'] }, 'taintmgr-shadow', false, ['DryRun']],
    ];
    for (const [given, name, ofPolicies, types] of cases) {
      const said = stated(given);
      assert.deepEqual([said.name, said.ofPolicies], [name, ofPolicies]);
      assert.deepEqual(
        said.status.conditions.map(({ type, status }) => `${type}=${status}`),
        types.map((type) => `${type}=True`),
      );
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import type { LimitStatus } from '@taintmgr/core/policy';
import { describeClock, type Notice, type PolicyState } from '@taintmgr/k8s-adapter';
import { Leadership } from '../../src/leadership/leadership.ts';
import { createChecks } from '../../src/server/checks.ts';
import { PendingEvictions } from '../../src/stats/pending-evictions.ts';
import {
  ClockChange,
  type ProcessStats,
  type RunningController,
  TakeoverScore,
} from '../../src/stats/process-stats.ts';
import { idle, measure } from '../metrics/measured.ts';

interface Situation {
  readonly heard?: readonly (number | null)[];
  /** For so long no change has been heard of, in milliseconds. */
  readonly cutOff?: number;
  /** For how long its next step is due, in milliseconds. */
  readonly late?: number;
  readonly lag?: number;
  readonly stepped?: number;
  readonly stopping?: boolean;
  /** For so long an eviction has been under way, in milliseconds. */
  readonly evicting?: number;
  readonly started?: boolean;
  readonly overlap?: string;
  /** With --allow-overlap. */
  readonly accepts?: boolean;
  readonly elected?: boolean;
  readonly leader?: string;
  /** Names of the namespaces whose limit has tripped. */
  readonly tripped?: readonly string[];
}

const now = 1_800_000_000_000;
const minute = 60_000;

function statsOf(situation: Situation): ProcessStats {
  const { heard = [0, 0], late = 0, lag = 0, stopping = false, tripped = [] } = situation;
  let passed = 0;
  const pending = new PendingEvictions(undefined, () => passed);
  if (situation.evicting !== undefined) pending.observe(sent, now);
  passed += situation.evicting ?? 0;
  const clock = new ClockChange();
  const { stepped } = situation;
  if (stepped !== undefined) clock.observe({ kind: 'clockStepped', who: 'a', by: stepped }, now);
  const running: RunningController = {
    takeover: () => null,
    limits: () => [limitOf('calm', false), ...tripped.map((name) => limitOf(name, true))],
    lead: () => {},
    hearOthers: () => {},
    leader: () => situation.leader ?? '',
    zones: () => [],
    counts: () => createEngine().counts(),
    nodes: () => [],
    nodesOfTaints: () => [],
    pauses: () => [],
    lastReplica: () => null,
    explain: () => null,
    podScope: () => 'all',
    decidesForDevices: () => false,
    kept: () => null,
    cutOffSince: () => (situation.cutOff === undefined ? null : now - situation.cutOff),
    now: () => now,
    wall: () => now,
    lateBy: () => late,
    status: () =>
      heard.map((age, index) => ({
        resource: ['nodes', 'pods'][index] ?? 'pods',
        ...(index > 1 && { nodeName: `n${index - 1}` }),
        state: 'Watching',
        heardAt: age === null ? null : now - age,
      })),
  };
  const loopLag = { lag: () => lag };
  const leadership = new Leadership(situation.elected ?? true, () => {}, situation.accepts);
  leadership.collide(situation.overlap ?? null);
  const { started = true } = situation;
  return {
    startedAt: new Date(0),
    takeover: null,
    loopLag,
    pending,
    clock,
    leadership,
    running: started ? running : null,
    stopping,
  };
}

function limitOf(name: string, tripped: boolean): LimitStatus {
  const hit = { per: 'namespace', limit: 'pods', since: null } as const;
  return { ...hit, name, id: `namespace=${name}`, tripped };
}

const pod = { namespace: 'shop', name: 'web-0', uid: 'u1', nodeName: 'n1' };
const sent: Notice = {
  kind: 'commandSent',
  command: {
    kind: 'evictPod',
    id: 'eviction/1',
    pod,
    confirm: false,
    gracePeriodSeconds: null,
    because: [],
  },
};

function faults(endpoint: 'livez' | 'readyz', situation: Situation): object {
  const checks = createChecks(statsOf(situation))[endpoint];
  const found = checks.map(({ name, fault }) => [name, fault()] as const);
  return Object.fromEntries(found.filter(([, fault]) => fault !== null));
}

describe('health checks', () => {
  const cases: readonly (readonly [
    name: string,
    situation: Situation,
    livez: object,
    readyz: object,
  ])[] = [
    ['all is well', {}, {}, {}],
    ['not started', { started: false }, {}, { 'informer-sync': 'not started' }],
    ['pods not read yet', { heard: [0, null] }, {}, { 'informer-sync': 'not read yet: pods' }],
    [
      'the API server is away',
      { heard: [4 * minute, 2 * minute] },
      {},
      { 'watch-age': 'nothing heard for 4m of nodes' },
    ],
    [
      'the pods of a node are not read yet, and of another nothing is heard',
      { heard: [0, 0, null, 4 * minute] },
      {},
      {
        'informer-sync': 'not read yet: pods on n1',
        'watch-age': 'nothing heard for 4m of pods on n2',
      },
    ],
    ['the API server is away for a moment', { cutOff: 15_000 }, {}, {}],
    [
      'the API server is away for longer',
      { cutOff: 16_000 },
      {},
      { 'api-connectivity': 'nothing is heard of changes for 16s' },
    ],
    ['a quiet cluster', { heard: [2 * minute, 2 * minute] }, {}, {}],
    ['stood still', { lag: 7_000 }, {}, { 'event-loop': 'stood still for 7s' }],
    ['the clock went back', { stepped: -minute }, {}, {}],
    [
      'the timer never came',
      { late: 2 * minute },
      { loop: 'its next step is 2m late' },
      { loop: 'its next step is 2m late' },
    ],
    [
      'an eviction without end',
      { evicting: 6 * minute },
      { evictions: 'one is under way for 6m' },
      { evictions: 'one is under way for 6m' },
    ],
    ['an eviction under way', { evicting: minute }, {}, {}],
    ['late by as much as may be', { late: minute }, {}, {}],
    ['an eviction that takes as long as it may', { evicting: 5 * minute }, {}, {}],
    ['a view as old as it may be', { heard: [3 * minute, 0] }, {}, {}],
    ['stood still for as long as it may', { lag: 5_000 }, {}, {}],
    ['another replica leads', { elected: false, leader: 'b' }, {}, {}],
    [
      'nobody leads',
      { elected: false },
      {},
      { leaderElection: 'this replica is not elected, and no other is known to be' },
    ],
    ['somebody else does the same work', { overlap: 'b does' }, {}, { overlap: 'b does' }],
    ['that is accepted', { overlap: 'b does', accepts: true }, {}, {}],
    ['limits have tripped', { tripped: ['a', 'b'] }, {}, {}],
    ['told to stop', { stopping: true }, {}, { shutdown: 'waiting for evictions in progress' }],
  ];
  for (const [name, situation, livez, readyz] of cases) {
    it(name, () => {
      assert.deepEqual(faults('livez', situation), livez);
      assert.deepEqual(faults('readyz', situation), readyz);
    });
  }
});

const setBack = { kind: 'clockStepped', who: 'a', by: -minute } as const;

describe('what people should know though all is well', () => {
  const cases: readonly (readonly [name: string, situation: Situation, remarks: object])[] = [
    ['nothing', {}, {}],
    ['before it has begun', { started: false }, {}],
    [
      'a clock that was set',
      { stepped: -minute },
      { clock: `${describeClock(setBack)} (2027-01-15T08:00:00Z)` },
    ],
    [
      'a limit that has tripped',
      { tripped: ['a'] },
      { limits: 'tripped: namespace=a; kubectl taintmgr resume opens them' },
    ],
    [
      'more of them than are named',
      { tripped: ['a', 'b', 'c', 'd', 'e', 'f'] },
      {
        limits:
          'tripped: namespace=a, namespace=b, namespace=c, namespace=d, namespace=e and 1 more; ' +
          'kubectl taintmgr resume opens them',
      },
    ],
  ];
  for (const [name, situation, remarks] of cases) {
    it(name, () => {
      const found = createChecks(statsOf(situation)).readyz.flatMap(({ name, remark }) => {
        const said = remark?.() ?? null;
        return said === null ? [] : [[name, said] as const];
      });
      assert.deepEqual(Object.fromEntries(found), remarks);
    });
  }
});

// The health check `takeover`: it fails while kube-controller-manager decides where it should not.

interface TakeoverSituation {
  readonly policies?: Partial<PolicyState> | null;
  readonly isLeader?: boolean;
  readonly letThrough?: readonly string[];
  readonly without?: boolean;
}

const well: PolicyState = { isInForce: true, wasInForce: true, drift: [], fault: null };

function faultOf({ policies = {}, isLeader = true, letThrough = [], without }: TakeoverSituation) {
  const score = new TakeoverScore();
  for (const message of letThrough) score.letThrough('shop', message);
  const counts = createEngine({ takeover: true }).takeover() ?? assert.fail();
  const state = policies && { ...well, ...policies };
  const stats = {
    ...measure().stats,
    leadership: new Leadership(isLeader, () => {}),
    running: { ...idle, takeover: () => state && { counts, policies: state } },
    takeover: without ? null : score,
  };
  const checks = createChecks(stats);
  const of = (list: (typeof checks)['healthz']): string | null | undefined =>
    list.find(({ name }) => name === 'takeover')?.fault();
  assert.equal(of(checks.livez), undefined, 'a new start would mend nothing');
  assert.equal(of(checks.readyz), of(checks.healthz));
  return of(checks.healthz);
}

describe('the health check of takeover', () => {
  const cases: readonly (readonly [string, TakeoverSituation, string | null])[] = [
    ['the policies stand', {}, null],
    ['there is no takeover', { without: true, policies: { isInForce: false } }, null],
    ['another replica leads', { isLeader: false, policies: { isInForce: false } }, null],
    [
      'they were not looked at yet',
      { policies: null },
      'the policies are not in force: not looked at yet',
    ],
    [
      'they differ',
      { policies: { isInForce: false, drift: ['a is 1, not 2', 'b is missing'] } },
      'the policies are not in force: a is 1, not 2; b is missing',
    ],
    [
      'they cannot be read',
      { policies: { isInForce: false, fault: 'x: forbidden' } },
      'the policies are not in force: x: forbidden',
    ],
    ['a newer API server adds to them', { policies: { drift: ['c should not be there'] } }, null],
    ['pods were let through of late', { letThrough: ['first', 'second'] }, 'second'],
  ];
  for (const [name, situation, fault] of cases) {
    it(name, () => assert.equal(faultOf(situation), fault));
  }

  it('is well again five minutes after a pod was let through', (t) => {
    const score = new TakeoverScore();
    let at = 1000;
    t.mock.method(performance, 'now', () => at);
    score.letThrough('shop', 'one');
    at += 299_999;
    assert.equal(score.news, 'one');
    at += 1;
    assert.equal(score.news, null);
  });
});

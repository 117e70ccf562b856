import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Config,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
} from '@taintmgr/core';
import type { DeviceTaintRule, ResourceClaim } from '@taintmgr/core/devices';
import { describeHold } from '@taintmgr/core/lifecycle';
import { Leadership } from '../../../src/leadership/leadership.ts';
import { momentOf } from '../../../src/server/live/moment.ts';
import type { RunningController } from '../../../src/stats/process-stats.ts';
import { idle, measure } from '../../metrics/measured.ts';

// What the live page is told of each state that a pod, a node and a zone can be in.

const now = Date.parse('2026-11-23T10:00:00Z');
const taint = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: now - 60_000 } as const;
const times = { heartbeatAt: now, transitionAt: now };
const readyIs = (status: string) => [{ type: 'Ready', status, reason: '', message: '', ...times }];
const ill = { name: 'n1', zone: 'a', taints: [taint], conditions: readyIs('False') };
const budget = 'The disruption budget web needs 1 healthy pods and has 1 currently';

/** A pod of n1 that tolerates the taint for so many seconds; null: for ever. */
function podOf(name: string, tolerationSeconds: number | null = 0, given: object = {}): Event {
  const toleration = { key: 'bad', operator: 'Exists', tolerationSeconds } as const;
  const bound = { nodeName: 'n1', boundAt: now - 3_600_000, tolerations: [toleration] };
  return { kind: 'podUpsert', pod: makePod({ namespace: 'shop', name, ...bound, ...given }) };
}

function pauseOf(name: string, namespace: string, given: object = {}): Event {
  const scope = { zones: [], nodes: null, taintKeys: [], namespaces: [namespace] };
  const how = { readiness: false, deadlines: true, reason: 'network', until: null };
  return {
    kind: 'pauseUpsert',
    pause: { name, uid: name, scope, ...how, since: now - 30_000, ...given },
  };
}

/** What the page is told after these events. */
function after(
  events: readonly Event[],
  config: Partial<Config> = {},
  given: Partial<RunningController> = {},
  leadership = new Leadership(true, () => {}),
) {
  const engine: Engine = createEngine({ lifecycle: null, mode: 'evict', ...config });
  const start: readonly Event[] = [
    { kind: 'nodeUpsert', node: makeNode(ill) },
    ...events,
    { kind: 'synced' },
    { kind: 'tick' },
  ];
  for (const event of start) {
    for (const command of engine.handle(now, event)) {
      if (command.kind !== 'evictPod') continue;
      const outcome = { kind: 'blocked', message: budget, retryAfter: null } as const;
      if (command.pod.name === 'blocked')
        engine.handle(now, { kind: 'result', id: command.id, outcome });
    }
  }
  const running: RunningController = {
    ...idle,
    limits: (at) => engine.limits(at),
    explain: (at, subject) => engine.explain(at, subject),
    counts: () => engine.counts(),
    nodes: () => engine.nodes(),
    nodesOfTaints: () => engine.nodesOfTaints(),
    pauses: () => engine.pauses(),
    lastReplica: () => null,
    now: () => now,
    wall: () => now,
    ...given,
  };
  return momentOf({ ...measure().stats, leadership }, running, false);
}

describe('the state of the live page', () => {
  it('tells how each pod is that is to leave, and of none that stays', () => {
    const { pods, zones } = after([
      pauseOf('night', 'dark'),
      podOf('stays', null),
      podOf('later', 3600),
      podOf('blocked'),
      podOf('under-way'),
      podOf('going', 3600, { deletionTimestamp: now - 1000 }),
      podOf('stays-and-goes', null, { deletionTimestamp: now - 1000 }),
      podOf('paused', 90, { namespace: 'dark' }),
    ]);
    const found = pods.map(({ pod, state, dueAt, remainingSeconds, evictor, holds }) => {
      const kept = holds.map(({ kind, name, text }) => [kind, name, text].join(' '));
      return [pod, { state, dueAt, remainingSeconds, evictor, kept }] as const;
    });
    const waits = { state: 'Evict', remainingSeconds: null, evictor: 'taintmgr-controller' };
    const going = { state: 'Terminating', dueAt: null, remainingSeconds: null, evictor: null };
    // Times kept in whole seconds count from their end.
    const due = now - 59_000;
    const kept: readonly string[] = [];
    const paused = ['pause night deadlines are paused by night'];
    assert.deepEqual(Object.fromEntries(found), {
      later: { ...waits, dueAt: due + 3_600_000, kept },
      blocked: { ...waits, dueAt: due, kept: [`PDB  ${budget}`] },
      'under-way': { ...waits, dueAt: due, kept },
      going: { ...going, kept },
      'stays-and-goes': { ...going, kept },
      paused: { ...waits, state: 'Held', dueAt: null, remainingSeconds: 61, kept: paused },
    });
    const [{ pending, overdue, heldPods, blocked } = assert.fail()] = zones;
    assert.deepEqual(
      { pending, overdue, heldPods, blocked },
      {
        ...{ pending: 3, overdue: 2, heldPods: 1, blocked: 1 },
      },
    );
  });

  it('tells of pods that terminate on a node that is drained, tainted or not', () => {
    const id = { id: 'kernel', taint: 'kernel:NoSchedule', by: 'ada' };
    const drain = { ...id, heartbeat: 'first' };
    const { pods } = after([
      { kind: 'nodeUpsert', node: makeNode({ name: 'n2', drains: [drain] }) },
      podOf('drained', null, { nodeName: 'n2', deletionTimestamp: now - 1000 }),
    ]);
    assert.deepEqual(
      pods.map(({ pod, state }) => [pod, state]),
      [['drained', 'Terminating']],
    );
  });

  const claim: ResourceClaim = {
    ...{ namespace: 'shop', name: 'gpu', uid: 'c', ownerUid: null, reservedFor: ['train'] },
    allocated: [
      { driver: 'gpu.example.com', pool: 'n2', device: 'gpu-0', request: 'r', tolerations: [] },
    ],
  };
  const ecc: DeviceTaintRule = {
    ...{ name: 'ecc', uid: 'ecc', generation: 1, progress: null },
    selector: { driver: null, pool: null, device: 'gpu-0' },
    taint: { ...taint, key: 'health' },
  };
  const claims = [{ name: 'gpu', claim: 'gpu', origin: 'named' }] as const;
  const training: readonly Event[] = [
    { kind: 'nodeUpsert', node: makeNode({ name: 'n2' }) },
    podOf('train', 0, { uid: 'train', nodeName: 'n2', claims }),
    { kind: 'resourceClaimUpsert', claim },
    { kind: 'deviceTaintRuleUpsert', rule: ecc },
  ];

  it('tells who is to leave for the taints of devices, and by which DeviceTaintRule', () => {
    const { pods, actions } = after(training, { deviceTaints: true });
    const [{ pod, state, because } = assert.fail(), ...more] = pods;
    assert.deepEqual([pod, state, more], ['train', 'Evict', []]);
    assert.match(because.join(), /health:NoExecute of device gpu.example.com\/n2\/gpu-0/);
    const text = 'taints gpu.example.com/n2/gpu-0 health:NoExecute: 1 pod to leave';
    assert.deepEqual(actions, [
      { kind: 'rule', name: 'ecc', from: now - 60_000, until: null, text },
    ]);
  });

  it('tells of whom nobody knows anything, as the taints of their devices may not be read', () => {
    const hidden = { kind: 'deviceRights', hidden: ['devicetaintrules'] } as const;
    const given = [hidden, ...training, podOf('later', 3600)];
    const { pods, podsLeftOut, actions } = after(given, { deviceTaints: true });
    assert.deepEqual(
      pods.map(({ pod, state, evictor, dueAt }) => [pod, state, evictor, dueAt === null]),
      [
        ['later', 'Evict', 'taintmgr-controller', false],
        ['train', 'Unknown', null, true],
      ],
    );
    assert.match(pods[1]?.because[0] ?? '', /^unknown: no permission to read devicetaintrules/);
    assert.deepEqual([podsLeftOut, actions], [0, []]);
  });

  it('tells which limits have tripped, of the pods that they hold too', () => {
    const limits = [{ per: 'zone', pods: 1, onLimit: 'trip' }] as const;
    const { pods, actions } = after([podOf('first'), podOf('second')], { limits });
    const holds = pods.flatMap(({ holds: [hold] }) => (hold ? [`${hold.kind} ${hold.name}`] : []));
    assert.deepEqual(holds, ['limit zone=a']);
    const [{ kind, name, from, text } = assert.fail(), ...more] = actions;
    assert.deepEqual(
      { kind, name, from, more },
      {
        ...{ kind: 'limit', name: 'zone=a', from: now, more: [] },
      },
    );
    assert.match(text, /kubectl taintmgr resume 'zone=a'$/);
  });

  it('tells of no limit that has room, and that a rate only delays', () => {
    const limits = [{ per: 'zone', podsPerSecond: 0.1, onLimit: 'queue' }] as const;
    const { pods, actions } = after([podOf('first'), podOf('second')], { limits });
    const holds = pods.flatMap(({ holds: [hold] }) => (hold ? [hold.text] : []));
    const text =
      'limit zone=a of taintmgr-controller: not before 2026-11-23T10:00:10Z, then by the limit';
    assert.deepEqual([holds, actions], [[text], []]);
  });

  it('tells of pauses that hold, and of none whose time is over', () => {
    const until = now + 60_000;
    const { actions } = after([
      pauseOf('night', 'dark', { until }),
      pauseOf('past', 'dark', { until: now - 1 }),
    ]);
    const pause = { kind: 'pause', name: 'night', from: now - 30_000, until };
    assert.deepEqual(actions, [
      { ...pause, text: 'holds evictions of pods in namespace dark: network' },
    ]);
  });

  it('tells how nodes and zones are', () => {
    const node = (name: string, given: object): Event => {
      return { kind: 'nodeUpsert', node: makeNode({ name, zone: 'b', ...given }) };
    };
    const hold = { code: 'RateZero' } as const;
    const known = { key: 'b', ready: 1, notReady: 2, rate: 0, waiting: [], tainted: 0 };
    const zone = { ...known, name: 'b', state: 'PartialDisruption', hold } as const;
    const { nodes, zones } = after(
      [
        node('n2', { conditions: readyIs('True'), unschedulable: true }),
        node('n3', { conditions: readyIs('Unknown') }),
        node('n4', {}),
      ],
      {},
      { zones: () => [zone] },
    );
    assert.deepEqual(
      nodes.map(({ name, ready, cordoned, taints }) => [name, ready, cordoned, taints.join()]),
      [
        ['n1', 'False', false, 'bad:NoExecute'],
        ['n2', 'True', true, ''],
        ['n3', 'Unknown', false, ''],
        ['n4', 'Unknown', false, ''],
      ],
    );
    assert.deepEqual(
      zones.map(({ name, state, held, nodes, notReady, tainted }) => {
        return [name, state, held, nodes, notReady, tainted];
      }),
      [
        ['a', 'not judged here', null, 1, 1, 1],
        ['b', 'PartialDisruption', describeHold(hold), 3, 2, 0],
      ],
    );
  });

  it('tells who evicts', () => {
    const leader = { leader: () => 'other_1' };
    const by = (leadership: Leadership, given: Partial<RunningController> = leader): string =>
      after([], {}, given, leadership).evictedBy;
    const standsBy = 'this process stands by';
    assert.equal(
      by(new Leadership(true, () => {})),
      'This process of taintmgr-controller evicts here',
    );
    assert.equal(by(new Leadership(false, () => {})), `other_1 leads and evicts here; ${standsBy}`);
    assert.equal(by(new Leadership(false, () => {}), {}), `No process leads; ${standsBy}`);
    const standsBack = new Leadership(true, () => {});
    standsBack.collide('another does the same work');
    assert.equal(by(standsBack), `other_1 leads and evicts here; ${standsBy}`);
  });
});

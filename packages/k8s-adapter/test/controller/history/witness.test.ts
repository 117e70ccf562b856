import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Event,
  makeNode,
  makePod,
  type Node,
  type Outcome,
  type Pod,
  type Reason,
} from '@taintmgr/core';
import { Witness } from '../../../src/controller/history/witness.ts';
import type { Removal } from '../../../src/controller/procedures/pod-removal.ts';
import type { Departure } from '../../../src/history/departure.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const web = makePod({ namespace: 'shop', name: 'web-1', uid: 'u1', nodeName: 'bad', owner });
const spot = { key: 'spot', value: '', effect: 'NoExecute', timeAdded: start - 60_000 };
const nodes: readonly Node[] = [
  makeNode({
    ...{ name: 'bad', taints: [spot], taintsWrittenBy: 'kubectl-taint' },
    taintsWrittenAt: start - 60_000,
  }),
  makeNode({ name: 'cordoned', unschedulable: true }),
  makeNode({ name: 'good' }),
];

/** A witness that knows the nodes, and what it has to say. */
class Scene {
  now = start;
  readonly witness = new Witness('me');

  constructor(isSynced = true) {
    for (const node of nodes) this.hear({ kind: 'nodeUpsert', node });
    if (isSynced) this.hear({ kind: 'synced' });
  }

  hear(event: Event): void {
    this.witness.hear(this.now, event);
  }

  see(pod: Pod, ...later: readonly Partial<Pod>[]): void {
    for (const part of [{}, ...later]) this.hear({ kind: 'podUpsert', pod: { ...pod, ...part } });
  }

  gone({ uid }: Pod): void {
    this.hear({ kind: 'podDelete', uid });
  }

  ask(pod: Pod, outcome: Outcome, more: Partial<Removal> = {}): void {
    const because: readonly Reason[] = [
      {
        ...({ code: 'NoToleration', startSource: 'timeAdded' } as const),
        ...{ taint: spot, start: start - 60_000, deadline: start - 60_000 },
      },
    ];
    const command = {
      ...{ kind: 'evictPod', id: 'eviction/1', pod, confirm: false, gracePeriodSeconds: null },
      ...{ because, ...more },
    } as Removal;
    this.witness.observe(this.now, { kind: 'commandSent', command });
    this.now += 10;
    this.witness.observe(this.now, { kind: 'commandFinished', command, outcome, took: 10 });
  }

  get lines(): readonly Departure[] {
    return this.witness.take(this.now, true) as unknown as Departure[];
  }

  get only(): Departure {
    const [one, ...more] = this.lines;
    assert.deepEqual(more, []);
    assert.ok(one);
    return one;
  }
}

const done: Outcome = { kind: 'done' };
const leaving: Partial<Pod> = { deletionTimestamp: start + 30_000 };

function marked(reason: string, manager: string | null = null): Partial<Pod> {
  return { ...leaving, disruption: { reason, manager } };
}

describe('what others do', () => {
  const on = (nodeName: string): Pod => ({ ...web, nodeName });
  const failed: Partial<Pod> = { ...marked('TerminationByKubelet'), deletionTimestamp: null };
  const condition = (kind: string, reason: string, manager?: string): object => ({
    ...{ kind, source: 'condition', reason, ...(manager && { manager }) },
  });
  const taintManager = 'DeletionByTaintManager';
  const rows: readonly [string, Pod, Partial<Pod>, object | null][] = [
    [
      'kube-controller-manager for a taint',
      on('bad'),
      marked(taintManager, 'kube-controller-manager'),
      condition('taintManager', taintManager, 'kube-controller-manager'),
    ],
    [
      'whoever uses the Eviction API',
      on('good'),
      marked('EvictionByEvictionAPI'),
      condition('evictionApi', 'EvictionByEvictionAPI'),
    ],
    [
      'the scheduler',
      on('good'),
      marked('PreemptionByScheduler', 'kube-scheduler'),
      condition('preemption', 'PreemptionByScheduler', 'kube-scheduler'),
    ],
    [
      'a kubelet, which leaves the pod as failed',
      on('good'),
      { ...failed, phase: 'Failed' },
      condition('kubelet', 'TerminationByKubelet'),
    ],
    ['pod GC', on('good'), marked('DeletionByPodGC'), condition('podGc', 'DeletionByPodGC')],
    ['a reason of tomorrow', on('good'), marked('toString'), condition('unknown', 'toString')],
    ['a deletion on a bad node', on('bad'), leaving, { kind: 'unknown', source: 'deletion' }],
    ['one on a cordoned node', on('cordoned'), leaving, { kind: 'unknown', source: 'deletion' }],
    ['one on a good node', on('good'), leaving, null],
    [
      'a mark alone',
      on('good'),
      { ...marked('EvictionByEvictionAPI'), deletionTimestamp: null },
      null,
    ],
    ['a pod without a node', on(''), marked('PreemptionByScheduler'), null],
    ['a finished pod', { ...on('bad'), phase: 'Succeeded' }, leaving, null],
    ['a mirror of a static pod', { ...on('bad'), mirror: true }, leaving, null],
  ];
  for (const [name, pod, part, by] of rows) {
    it(`${by ? 'is recorded' : 'is left out'}: ${name}`, () => {
      const scene = new Scene();
      scene.see(pod, part);
      assert.deepEqual(
        scene.lines.map((one) => one.by),
        by ? [by] : [],
      );
    });
  }

  it('names the taint that decided, where it can be only one, and who has set it', () => {
    const scene = new Scene();
    scene.see(web, marked(taintManager, 'kube-controller-manager'));
    assert.deepEqual(scene.only, {
      ...{ namespace: 'shop', pod: 'web-1', uid: 'u1', node: 'bad', seenAt: start },
      owner: { kind: 'ReplicaSet', name: 'web' },
      by: condition('taintManager', taintManager, 'kube-controller-manager'),
      taint: {
        ...{ key: 'spot', value: '', effect: 'NoExecute' },
        ...{ since: start - 60_000, sinceBy: 'timeAdded', setBy: 'kubectl-taint' },
      },
      deletionTimestamp: start + 30_000,
    });
    const two = new Scene();
    const taints = [spot, { ...spot, key: 'other' }];
    two.hear({ kind: 'nodeUpsert', node: makeNode({ name: 'bad', taints }) });
    two.see(web, marked(taintManager, 'kube-controller-manager'));
    assert.equal(two.only.taint, undefined);
  });

  it('says nothing of a taint on account of a later write of others', () => {
    const scene = new Scene();
    const node = makeNode({
      name: 'late',
      taints: [spot],
      taintsWrittenBy: 'karpenter',
      taintsWrittenAt: start,
    });
    scene.hear({ kind: 'nodeUpsert', node });
    const more = { ...node, taints: [spot, { ...spot, key: 'new', timeAdded: null }] };
    scene.hear({ kind: 'nodeUpsert', node: { ...more, taintsWrittenBy: 'kubectl' } });
    scene.see(
      {
        ...web,
        nodeName: 'late',
        tolerations: [
          { key: 'new', operator: 'Exists', value: '', effect: '', tolerationSeconds: null },
        ],
      },
      marked(taintManager, 'x'),
    );
    const { taint } = scene.only;
    assert.deepEqual([taint?.key, taint?.setBy], ['spot', undefined]);
  });

  it('does not tell again of those that have failed for days', () => {
    const scene = new Scene(false);
    scene.see({ ...web, ...failed, phase: 'Failed' });
    scene.see({ ...web, uid: 'u2', ...marked('EvictionByEvictionAPI') });
    assert.deepEqual(
      scene.lines.map(({ uid }) => uid),
      ['u2'],
    );
  });

  it('names no owner and no reason that somebody made up to fill the memory', () => {
    const long = 'x'.repeat(600_000);
    const scene = new Scene();
    const owned = [
      { ...owner, kind: long },
      { ...owner, name: long },
    ];
    for (const [index, one] of owned.entries()) {
      scene.see({ ...web, uid: `o${index}`, owner: one }, marked('EvictionByEvictionAPI'));
    }
    scene.see(web, marked(long));
    const { lines } = scene;
    assert.deepEqual(
      lines.map((one) => one.owner?.name),
      [undefined, undefined, 'web'],
    );
    assert.ok(JSON.stringify(lines).length < 1_500);
  });

  it('tells of none that was left out while another one led', () => {
    const scene = new Scene();
    for (let index = 0; index < 1_002; index++) {
      scene.see({ ...web, uid: `u${index}`, ...marked('EvictionByEvictionAPI') });
    }
    scene.now += 3_600_000;
    scene.witness.sweep(scene.now, false);
    assert.deepEqual(
      scene.lines.filter((line) => 'why' in line),
      [],
    );
  });

  it('keeps a thousand an hour of a namespace, and says how many more there were', () => {
    const scene = new Scene();
    for (let index = 0; index < 1_002; index++) {
      scene.see({ ...web, uid: `u${index}`, ...marked('EvictionByEvictionAPI') });
    }
    scene.see({ ...web, uid: 'other', namespace: 'db', ...marked('EvictionByEvictionAPI') });
    for (let index = 0; index < 5; index++)
      scene.see({ ...web, uid: `k${index}`, ...marked(taintManager) });
    const gap = { why: 'tooMany', leader: 'me', namespace: 'shop', count: 2 };
    const told = (): object[] => scene.lines.filter((line) => 'why' in line);
    assert.equal(scene.witness.nextDue(), Number.NEGATIVE_INFINITY);
    assert.deepEqual(
      scene.witness.unwritten().filter((line) => 'why' in line),
      [{ from: start, to: start, ...gap }],
    );
    assert.equal(scene.lines.length, 1_007);
    scene.now += 600_000;
    scene.see({ ...web, uid: 'more', ...marked('EvictionByEvictionAPI') });
    assert.equal(scene.witness.nextDue(), scene.now + 60_000);
    assert.deepEqual(told(), [{ ...gap, from: start, to: scene.now, count: 1 }]);
    assert.deepEqual(told(), []);
    scene.now += 3_000_000;
    scene.see({ ...web, uid: 'next hour', ...marked('EvictionByEvictionAPI') });
    assert.equal(scene.only.uid, 'next hour');
  });
});

describe('what we do ourselves', () => {
  it('has taint, times, way and refusals, each words once', () => {
    const scene = new Scene();
    scene.see(web);
    const blocked: Outcome = { kind: 'blocked', message: 'budget web', retryAfter: null };
    const busy: Outcome = { kind: 'failed', status: 429, message: 'busy', retryAfter: null };
    for (const outcome of [blocked, busy, blocked, blocked, done]) scene.ask(web, outcome);
    const refusal = { firstAt: start + 10, count: 3, lastAt: start + 40 };
    assert.deepEqual(scene.only, {
      ...{ namespace: 'shop', pod: 'web-1', uid: 'u1', node: 'bad', seenAt: start + 10 },
      owner: { kind: 'ReplicaSet', name: 'web' },
      by: { kind: 'taintmgr', source: 'ownAct' },
      taint: {
        ...{ key: 'spot', value: '', effect: 'NoExecute' },
        ...{ since: start - 60_000, sinceBy: 'timeAdded', setBy: 'kubectl-taint' },
      },
      ...{ deadline: start - 60_000, way: 'eviction' },
      ...{ askedAt: start, answeredAt: start + 50 },
      refusals: [
        { code: 'Budget', words: 'budget web', ...refusal },
        {
          status: 429,
          code: 'Overloaded',
          words: 'busy',
          count: 1,
          firstAt: start + 20,
          lastAt: start + 20,
        },
      ],
    });
  });

  it('is ours though the pod shows first that it leaves', () => {
    const scene = new Scene();
    scene.see(web, marked('EvictionByEvictionAPI'));
    assert.equal(scene.only.by.kind, 'evictionApi');
    scene.ask(web, done);
    assert.deepEqual(scene.only.by, { kind: 'taintmgr', source: 'ownAct' });
  });

  it('is of a NodeDrain that the node names', () => {
    const scene = new Scene();
    const mark = { id: 'kernel', taint: 'spot:NoExecute', by: 'taintmgr-controller' };
    const other = { ...mark, id: 'rack', taint: 'rack:NoSchedule' };
    const node = makeNode({ name: 'bad', taints: [spot], drainMarks: [other, mark] });
    scene.hear({ kind: 'nodeUpsert', node });
    scene.ask(web, done, { ofDrain: true });
    assert.deepEqual(scene.only.by, { kind: 'drain', source: 'ownAct', drain: 'kernel' });
  });

  it('is no departure where what decided does not hold any more, or the pod is gone', () => {
    const scene = new Scene();
    scene.see(web);
    scene.ask(web, { kind: 'changed', message: 'no taint' });
    scene.ask(web, { kind: 'gone' });
    assert.deepEqual(scene.lines, []);
  });

  it('has earlier deadlines, and why they moved', () => {
    const scene = new Scene();
    scene.see(web);
    const deadline = (
      from: number | null,
      to: number | null,
      cause: 'NodeChanged' | 'Paused' | 'Resumed',
    ): void => {
      const paused: readonly Reason[] = [
        { code: 'Paused', since: start, pause: 'night', until: null },
      ];
      const because = cause === 'Paused' ? paused : [];
      scene.witness.observe(scene.now, {
        ...{ kind: 'report', report: { kind: 'deadline', pod: web, from, to, cause, because } },
      });
      scene.now += 1_000;
    };
    deadline(null, start + 5_000, 'NodeChanged');
    deadline(start + 5_000, null, 'Paused');
    deadline(null, start + 9_000, 'Resumed');
    const hit = { per: 'total', name: '', limit: 'pods', tripped: false } as const;
    for (let times = 0; times < 2; times++) {
      scene.witness.observe(scene.now, {
        ...{ kind: 'report', report: { kind: 'queued', pod: web, hit, until: null } },
      });
    }
    scene.ask(web, done);
    const { decidedAt, moves } = scene.only;
    assert.equal(decidedAt, start);
    assert.deepEqual(moves, [
      { at: start + 1_000, from: start + 5_000, why: 'Paused', words: 'night' },
      { at: start + 2_000, to: start + 9_000, why: 'Resumed' },
      { at: start + 3_000, why: 'Limit', words: 'total pods' },
    ]);
  });

  it('writes a line for each doubling of refusals, and no more', () => {
    const scene = new Scene();
    scene.see(web);
    let lines = 0;
    for (let times = 1; times <= 1_000; times++) {
      scene.ask(web, { kind: 'blocked', message: 'budget web', retryAfter: null });
      scene.now += 120_000;
      lines += scene.witness.take(scene.now).length;
    }
    assert.equal(lines, 10);
    assert.equal(scene.witness.nextDue(), null);
  });
});

describe('what comes of it', () => {
  const next = makePod({ ...web, name: 'web-2', uid: 'u2', nodeName: '', ready: 'False' });

  it('has when it was gone, and the next pod of its owner, once it is ready', () => {
    const scene = new Scene();
    const before = { ...web, uid: 'u0', name: 'web-0', nodeName: 'good', boundAt: start - 90_000 };
    scene.see(before);
    scene.see(web);
    scene.ask(web, done);
    assert.equal(scene.lines.length, 1);
    scene.see({ ...before, ready: 'False' });
    scene.see(next, { nodeName: 'good', boundAt: start + 1_000 });
    scene.now = start + 4_000;
    scene.gone(web);
    scene.see({ ...next, nodeName: 'good', boundAt: start + 1_000, ready: 'True' });
    const successor = { pod: 'web-2', uid: 'u2', node: 'good', boundAt: start + 1_000 };
    assert.deepEqual(scene.only, {
      ...{ more: 'u1', goneAt: start + 4_000 },
      successor: { ...successor, readyAt: start + 4_000 },
    });
    assert.deepEqual(scene.lines, []);
  });

  it('gives each pod that comes to one of those that left', () => {
    const scene = new Scene();
    for (const uid of ['u1', 'u5']) {
      scene.see({ ...web, uid });
      scene.ask({ ...web, uid }, done);
    }
    for (const uid of ['n1', 'n2', 'n3']) {
      scene.see({ ...next, uid, name: uid, nodeName: 'good', boundAt: start + 1_000 });
    }
    assert.deepEqual(
      scene.lines.map(({ uid, successor }) => [uid, successor?.pod]),
      [
        ['u1', 'n1'],
        ['u5', 'n2'],
      ],
    );
  });

  it('does not take a pod for gone whose node is read no more', () => {
    const scene = new Scene();
    scene.see(web);
    scene.hear({ kind: 'podViews', others: 'unread', nodes: {} });
    scene.ask(web, done);
    scene.gone(web);
    assert.equal(scene.only.goneAt, undefined);
  });

  it('goes on with what a leader before has written', () => {
    const scene = new Scene();
    const written: Departure = {
      ...{ namespace: 'shop', pod: 'web-1', uid: 'u1', seenAt: start - 1_000, answeredAt: start },
      by: { kind: 'taintmgr', source: 'ownAct' },
    };
    scene.see(web, marked('EvictionByEvictionAPI'));
    scene.witness.adopt(scene.now, [written, { ...written, uid: 'u9' }]);
    const [there, missing] = scene.lines as unknown as { readonly more: string }[];
    assert.deepEqual(missing, { more: 'u9', foundGoneAt: start });
    assert.deepEqual(there, {
      ...{ more: 'u1', node: 'bad', owner: { kind: 'ReplicaSet', name: 'web' } },
      deletionTimestamp: start + 30_000,
    });
  });
});

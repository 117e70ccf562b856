// What a NodeDrain writes on its nodes and on its object, beside others who write there.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { type Outcome, parseTaint } from '@taintmgr/core';
import type { NodeDrainWrite } from '@taintmgr/core/drain';
import { formatTaint } from '@taintmgr/core/model';
import { drainFinalizer } from '@taintmgr/k8s-adapter/kinds';
import { node, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  type Drainer,
  drainConditionsSetting,
  drainDeleting,
  drainGuarding,
  drainNodeWriting,
} from '../../../src/controller/procedures/drain-write.ts';
import type { Answer } from '../../../src/proto/answer.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { answerOf } from '../../world/answer-of.ts';
import { PlayedSteps, playSteps } from '../../world/steps.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const taint = parseTaint('maintenance=kernel:NoSchedule');

class World {
  readonly api: ApiServer = new ApiServer({
    ...{ clock: new VirtualClock(start), random: seededRandom(1) },
  });
  readonly methods: string[] = [];
  left: readonly string[] = [];
  /** So many writes are overtaken by somebody else's. */
  overtaken = 0;

  constructor() {
    const { taints: _, ...spec } = this.api.create('nodes', node('n1')).spec;
    this.api.update('nodes', { ...this.#node(), spec });
  }

  write(write: NodeDrainWrite, nodeName = 'n1', uid = 'u-kernel', drainer?: Drainer): Outcome {
    const named = { nodeName, drain: 'kernel', uid, taint };
    const task = drainNodeWriting({ kind: 'writeDrainNode', id: 'w', ...named, write }, drainer);
    const outcome = playSteps(task.steps, (request) => this.#answer(request), start);
    const notice = task.ended?.(outcome, 0);
    if (notice?.kind === 'drainWriteFinished') this.left = notice.written.left ?? [];
    return outcome;
  }

  /** How the node is: `cordoned`, its taints, and whether it says that the drain is at work. */
  get is(): string {
    const { metadata, spec } = this.#node();
    const { unschedulable, taints = [] } = spec as {
      unschedulable?: boolean;
      taints?: readonly { key: string }[];
    };
    const isAtWork = JSON.stringify(metadata.annotations ?? {}).includes('u-kernel');
    const parts = [unschedulable ? 'cordoned' : '', ...taints.map(({ key }) => key)];
    return [...parts, isAtWork ? '(at work)' : ''].filter((part) => part !== '').join(' ');
  }

  /** What drains have written down on the node. */
  get marks(): string {
    return Object.values(this.#node().metadata.annotations ?? {}).join();
  }

  /** Somebody gives it this taint, and no other. */
  taint(wanted: object): void {
    const found = this.#node();
    this.api.update('nodes', { ...found, spec: { ...found.spec, taints: [wanted] } });
  }

  taintAs(value: string): void {
    this.taint({ key: 'other', value, effect: 'NoSchedule' });
  }

  #node() {
    return this.api.get('nodes', '', 'n1') ?? assert.fail('the node is gone');
  }

  #answer(request: ApiRequest): Answer {
    this.methods.push(request.method);
    if (request.method === 'PATCH' && this.overtaken > 0) this.taintAs(`${this.overtaken--}`);
    return answerOf(this.api, request);
  }
}

describe('what a drain writes on a node', () => {
  it('is a cordon, a taint and a mark, and all of it is taken back', () => {
    const world = new World();
    const steps: readonly (readonly [NodeDrainWrite, string])[] = [
      [{ kind: 'cordon' }, 'cordoned'],
      [{ kind: 'taint', cordon: true }, 'cordoned maintenance (at work)'],
      [{ kind: 'renew' }, 'cordoned maintenance (at work)'],
      [{ kind: 'end', isDrained: true }, 'cordoned maintenance'],
      [{ kind: 'untaint' }, 'cordoned'],
      [{ kind: 'undo' }, ''],
    ];
    for (const [write, after] of steps) {
      assert.deepEqual(world.write(write), { kind: 'done' });
      assert.equal(world.is, after, write.kind);
    }
  });

  it('bears the name of a program that drains, and of who runs it', () => {
    const world = new World();
    const ann = { fieldManager: 'kubectl-taintmgr', by: 'ann' };
    world.write({ kind: 'taint', cordon: true }, 'n1', 'run-1', ann);
    assert.match(world.marks, /"by":"ann","run":"run-1"/);
    const { managedFields = [] } = world.api.get('nodes', '', 'n1')?.metadata ?? {};
    assert.ok(managedFields.some(({ manager }) => manager === ann.fieldManager));
  });

  it('is refused where another run of the drain is at work, and says so', () => {
    const world = new World();
    world.write({ kind: 'taint', cordon: false }, 'n1', 'run-1');
    const outcome = world.write({ kind: 'taint', cordon: false }, 'n1', 'run-2');
    const { message } = outcome as Extract<Outcome, { kind: 'changed' }>;
    assert.deepEqual(outcome, { kind: 'changed', message, takenOver: true });
    assert.match(message, /kernel .*is at work there/);
  });

  it('is no taint where the mark is gone that it had left before', () => {
    const world = new World();
    const outcome = world.write({ kind: 'taint', cordon: true, before: 'marked' });
    const message = 'the drain was undone there';
    assert.deepEqual([outcome, world.is], [{ kind: 'changed', message }, '']);
    world.write({ kind: 'taint', cordon: true, before: 'cordoned' });
    assert.equal(world.is, 'maintenance (at work)');
  });

  it('shows that it has left pods on a node: others wait longer with those', () => {
    const world = new World();
    world.write({ kind: 'taint', cordon: false });
    world.write({ kind: 'end', isDrained: false });
    assert.equal(world.is, 'maintenance (at work)');
    assert.match(world.marks, /"ended":true/);
    world.write({ kind: 'untaint' });
    assert.equal(world.marks, '');
  });

  it('is dated by the clock of the API server', () => {
    const task = drainNodeWriting({
      ...{
        kind: 'writeDrainNode',
        id: 'w',
        nodeName: 'n1',
        drain: 'kernel',
        uid: 'u-kernel',
        taint,
      },
      write: { kind: 'taint', cordon: false },
    });
    const played = new PlayedSteps(task.steps, start);
    const headers = { date: 'Thu, 01 Jan 2026 01:00:00 GMT' };
    const body = JSON.stringify(new World().api.get('nodes', '', 'n1'));
    played.answer({ kind: 'response', status: 200, headers, body });
    const { spec } = JSON.parse(played.request.body ?? '');
    assert.equal(spec.taints[0].timeAdded, '2026-01-01T01:00:00Z');
  });

  it('says what undoing has left to others', () => {
    const world = new World();
    world.write({ kind: 'taint', cordon: false });
    world.taint({ ...taint, timeAdded: '2026-01-01T00:05:00Z' });
    world.write({ kind: 'undo' });
    const left = `keeps ${formatTaint(taint)}: another client has added it since`;
    assert.deepEqual([world.is, world.left], ['maintenance', [left]]);
  });

  it('leaves a node as it is that is so already', () => {
    const world = new World();
    world.write({ kind: 'cordon' });
    world.methods.length = 0;
    assert.deepEqual(world.write({ kind: 'cordon' }), { kind: 'done' });
    assert.deepEqual(world.methods, ['GET']);
  });

  it('overwrites nobody: the node is read again, five times at most', () => {
    const world = new World();
    world.overtaken = 5;
    assert.deepEqual(world.write({ kind: 'taint', cordon: false }), { kind: 'done' });
    assert.equal(world.is, 'other maintenance (at work)');
    assert.equal(world.methods.length, 12);
    const crowded = new World();
    crowded.overtaken = 6;
    const outcome = crowded.write({ kind: 'taint', cordon: false });
    assert.ok(outcome.kind === 'failed' && outcome.status === 409);
    assert.equal(crowded.is, 'other');
  });

  it('is nothing where the node is gone', () => {
    assert.deepEqual(new World().write({ kind: 'cordon' }, 'n9'), { kind: 'gone' });
  });

  it('is refused while another run is at work there, in words', () => {
    const world = new World();
    world.write({ kind: 'taint', cordon: false });
    const other = { nodeName: 'n1', drain: 'bios', uid: 'u-bios', taint };
    const task = drainNodeWriting({
      ...{ kind: 'writeDrainNode', id: 'w', ...other },
      write: { kind: 'taint', cordon: false },
    });
    const found = world.api.get('nodes', '', 'n1');
    const outcome = playSteps(task.steps, () => response(200, found ?? assert.fail()), start);
    assert.equal(outcome.kind, 'changed');
  });
});

describe('the finalizer of a drain', () => {
  const drainOf = (finalizers: readonly string[], uid = 'u-kernel'): object => {
    return { metadata: { name: 'kernel', uid, resourceVersion: '7', finalizers } };
  };
  const cases: readonly (readonly [
    name: string,
    isGuarded: boolean,
    answers: readonly (readonly [status: number, body: object])[],
    written: readonly string[] | null,
    outcome: string,
  ])[] = [
    [
      'is put on, beside others',
      true,
      [
        [200, drainOf(['x'])],
        [200, {}],
      ],
      ['x', drainFinalizer],
      'done',
    ],
    [
      'is taken off, and others stay',
      false,
      [
        [200, drainOf([drainFinalizer, 'x'])],
        [200, {}],
      ],
      ['x'],
      'done',
    ],
    ['is there already', true, [[200, drainOf([drainFinalizer])]], null, 'done'],
    ['is off already', false, [[200, drainOf(['x'])]], null, 'done'],
    [
      'is not that of another object of the name',
      false,
      [[200, drainOf([drainFinalizer], 'u2')]],
      null,
      'gone',
    ],
    ['has gone with its object', false, [[404, {}]], null, 'gone'],
    [
      'waits where somebody was quicker',
      true,
      [
        [200, drainOf([])],
        [409, {}],
      ],
      [drainFinalizer],
      'failed',
    ],
  ];
  for (const [name, isGuarded, answers, written, outcome] of cases) {
    it(name, () => {
      const named = { drain: 'kernel', uid: 'u-kernel', isGuarded };
      const bodies: unknown[] = [];
      const { steps } = drainGuarding({ kind: 'guardDrain', id: 'g', ...named });
      const played = new PlayedSteps(steps, start);
      for (const [status, body] of answers) {
        const { method, body: sent } = played.request;
        if (method === 'PATCH') bodies.push(JSON.parse(sent ?? ''));
        played.answer(response(status, body));
      }
      assert.equal(played.outcome?.kind, outcome);
      const wanted = { metadata: { resourceVersion: '7', finalizers: written } };
      assert.deepEqual(bodies, written === null ? [] : [wanted]);
    });
  }
});

describe('the deletion of a drain whose time after its end is over', () => {
  const metadata = { name: 'kernel', uid: 'u-kernel', resourceVersion: '7', generation: 2 };
  const cases: readonly (readonly [
    name: string,
    read: readonly [status: number, body: object],
    deleted: number | null,
    outcome: string,
  ])[] = [
    ['is of the object as it was read', [200, { metadata }], 200, 'done'],
    ['waits where somebody was quicker', [200, { metadata }], 409, 'failed'],
    [
      'is not of one that was edited',
      [200, { metadata: { ...metadata, generation: 3 } }],
      null,
      'failed',
    ],
    [
      'is not of another of the name',
      [200, { metadata: { ...metadata, uid: 'u2' } }],
      null,
      'gone',
    ],
    ['has been done', [200, { metadata: { ...metadata, deletionTimestamp: 'now' } }], null, 'done'],
    ['has been done to its end', [404, {}], null, 'gone'],
  ];
  for (const [name, [status, body], deleted, outcome] of cases) {
    it(name, () => {
      const named = { drain: 'kernel', uid: 'u-kernel', generation: 2 };
      const { steps } = drainDeleting({ kind: 'deleteDrain', id: 'd', ...named });
      const played = new PlayedSteps(steps, start).answer(response(status, body));
      if (deleted !== null) {
        const { method, body: sent } = played.request;
        const { preconditions } = JSON.parse(sent ?? '');
        assert.deepEqual(
          [method, preconditions],
          ['DELETE', { uid: 'u-kernel', resourceVersion: '7' }],
        );
        played.answer(response(deleted, {}));
      }
      assert.equal(played.outcome?.kind, outcome);
    });
  }
});

const conditionsNode = { name: 'n1', uid: 'uid-n1' };
const said = { type: 'Drained', status: 'True', reason: 'NodeDrain', message: 'NodeDrain kernel' };
const wall = Date.parse('2026-01-01T00:00:05Z');

function conditionsPlayed() {
  const target = {
    kind: 'setDrainConditions',
    id: 'c1',
    drain: 'kernel',
    node: conditionsNode,
  } as const;
  const command = { ...target, conditions: [{ ...said, status: 'True' }] } as const;
  const { steps } = drainConditionsSetting(command, { wall, isStale: () => false });
  return new PlayedSteps(steps, wall);
}

describe('conditions of a node by a NodeDrain', () => {
  it('are dated, and for that node alone: another of its name has another uid', () => {
    const { method, path, body } = conditionsPlayed().request;
    assert.deepEqual([method, path.split('?')[0]], ['PATCH', '/api/v1/nodes/n1/status']);
    const at = '2026-01-01T00:00:05Z';
    assert.deepEqual(JSON.parse(body ?? ''), {
      metadata: { uid: 'uid-n1' },
      status: { conditions: [{ ...said, lastHeartbeatTime: at, lastTransitionTime: at }] },
    });
  });

  const missing = { kind: 'Status', reason: 'NotFound', code: 404, details: { name: 'n1' } };
  for (const [status, body, kind] of [
    [200, {}, 'done'],
    [404, missing, 'gone'],
    [403, { kind: 'Status', code: 403, message: 'nodes/status is forbidden' }, 'failed'],
  ] as const) {
    it(`answered with ${status} they are ${kind}`, () => {
      assert.equal(conditionsPlayed().answer(response(status, body)).outcome?.kind, kind);
    });
  }
});

function response(status: number, body: object): Answer {
  return { kind: 'response', status, headers: {}, body: JSON.stringify(body) };
}

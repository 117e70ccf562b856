import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, type Engine, type Event, type Node } from '@taintmgr/core';

// What counts as a sign of life: by when a node would be lost after each story of one event a line.

const hour = 3_600_000;

interface Story {
  readonly name: string;
  /** At which second what is told. */
  readonly events: readonly (readonly [at: number, event: Event])[];
  /** By when the node is lost, in seconds: the grace of 50 s, at the next step of 5 s. */
  readonly unreachableAt: number;
}

const stories: readonly Story[] = [
  { name: 'nothing more is heard', events: [], unreachableAt: 55 },
  { name: 'a lease is renewed', events: [[7, lease(7)]], unreachableAt: 60 },
  {
    name: 'a lease is renewed by a clock that is an hour behind',
    events: [[7, lease(7 - 3600)]],
    unreachableAt: 60,
  },
  {
    name: 'a lease is told again as it was',
    events: [
      [7, lease(7)],
      [30, lease(7)],
    ],
    unreachableAt: 60,
  },
  {
    name: 'a lease is set back',
    events: [
      [7, lease(7)],
      [30, lease(5)],
    ],
    unreachableAt: 85,
  },
  {
    name: 'a lease without a time, and then with one',
    events: [
      [7, lease(null)],
      [30, lease(30)],
    ],
    unreachableAt: 85,
  },
  { name: 'a status is posted', events: [[12, node(12)]], unreachableAt: 65 },
  {
    name: 'a status is posted by a clock that is ahead',
    events: [[12, node(12 + 3600)]],
    unreachableAt: 65,
  },
  {
    name: 'the node changes otherwise',
    events: [[30, upsertOf({ ...nodeAt(0), labels: { a: 'b' } })]],
    unreachableAt: 55,
  },
  {
    name: 'a status is posted, and the old lease is told after it',
    events: [
      [7, lease(7)],
      [20, node(20)],
      [30, lease(7)],
    ],
    unreachableAt: 75,
  },
  {
    name: 'the lease is deleted',
    events: [
      [7, lease(7)],
      [30, { kind: 'leaseDelete', nodeName: 'n' }],
    ],
    unreachableAt: 60,
  },
];

describe('signs of life', () => {
  for (const { name, events, unreachableAt } of stories) {
    it(name, () => {
      const engine = started();
      for (const [at, event] of events) tell(engine, at * 1000, event);
      assert.equal(lossOf(engine), unreachableAt * 1000);
    });
  }

  it('a node whose kubelet has not reported has the startup grace', () => {
    const engine = createEngine({ lifecycle: {} });
    engine.handle(0, upsertOf({ ...nodeAt(0), conditions: [] }));
    engine.handle(0, { kind: 'synced' });
    assert.equal(lossOf(engine), 65_000);
  });

  it('what was written long ago counts from now when it is first seen', () => {
    const engine = createEngine({ lifecycle: {} });
    engine.handle(hour, { kind: 'leaseUpsert', lease: { nodeName: 'n', renewedAt: 0 } });
    engine.handle(hour, { kind: 'nodeUpsert', node: nodeAt(0) });
    engine.handle(hour, { kind: 'synced' });
    assert.equal(lossOf(engine), hour + 55_000);
  });

  const since: readonly (readonly [string, number, number])[] = [
    ['all along', Number.NEGATIVE_INFINITY, 20],
    ['for a part of it', hour - 10_000, 45],
    ['as of now', hour, 55],
  ];
  for (const [name, at, unreachableAfter] of since) {
    it(`the last one counts for whoever has led ${name}`, () => {
      const engine = createEngine({ lifecycle: {} });
      engine.handle(hour, { kind: 'leadership', held: true, since: at });
      const renewedAt = hour - 35_000;
      engine.handle(hour, { kind: 'leaseUpsert', lease: { nodeName: 'n', renewedAt } });
      engine.handle(hour, { kind: 'nodeUpsert', node: nodeAt(0) });
      engine.handle(hour, { kind: 'synced' });
      assert.equal(lossOf(engine), hour + unreachableAfter * 1000);
    });
  }

  it('a live read that finds one we have not seen is one too', () => {
    const engine = started();
    const commands = engine.handle(55_000, { kind: 'tick' });
    const [write] = commands.filter(({ kind }) => kind === 'setNodeConditions');
    const id = write && 'id' in write ? write.id : assert.fail('the node is not lost');
    const outcome = { kind: 'changed', message: 'its kubelet has reported' } as const;
    engine.handle(56_000, { kind: 'result', id, outcome });
    const then = engine.handle(56_000, { kind: 'tick' });
    assert.ok(!then.some(({ kind }) => kind === 'changeTaints'));
    assert.equal(lossOf(engine), 110_000);
  });
});

function started(): Engine {
  const engine = createEngine({ lifecycle: {} });
  tell(engine, 0, { kind: 'nodeUpsert', node: nodeAt(0) });
  tell(engine, 0, { kind: 'synced' });
  return engine;
}

/** An event, and the tick it asks for: an engine that is not called thinks that nobody listened. */
function tell(engine: Engine, at: number, event: Event): void {
  engine.handle(at, event);
  engine.handle(at, { kind: 'tick' });
}

function lossOf(engine: Engine): number | null {
  const explanation = engine.explain(hour, { kind: 'node', name: 'n' });
  return explanation?.kind === 'node' ? (explanation.health?.unreachableAt ?? null) : null;
}

function lease(seconds: number | null): Event {
  const renewedAt = seconds === null ? null : seconds * 1000;
  return { kind: 'leaseUpsert', lease: { nodeName: 'n', renewedAt } };
}

function node(heartbeatSeconds: number): Event {
  return upsertOf(nodeAt(heartbeatSeconds));
}

function upsertOf(value: Node): Extract<Event, { kind: 'nodeUpsert' }> {
  return { kind: 'nodeUpsert', node: value };
}

function nodeAt(heartbeatSeconds: number): Node {
  const times = { heartbeatAt: heartbeatSeconds * 1000, transitionAt: 0 };
  const ready = { type: 'Ready', status: 'True', reason: '', message: '', ...times };
  return { name: 'n', uid: 'u', taints: [], createdAt: 0, conditions: [ready] };
}

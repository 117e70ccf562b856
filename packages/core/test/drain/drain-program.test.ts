// A NodeDrain that a program carries out by itself, without an object, for somebody who looks on.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
} from '@taintmgr/core';
import type { DrainNote } from '@taintmgr/core/drain';
import { drainOf } from './drain-of.ts';
import { drainConfig } from './standalone-drain.ts';

const taint = { key: 'work', value: '', effect: 'NoExecute', timeAdded: null };

/** An engine that has heard of these nodes, each with a pod of its name, and all that it has told and asked. */
class Run {
  readonly engine: Engine;
  readonly notes: DrainNote[] = [];
  readonly commands: Command[] = [];
  #now = 1000;

  constructor(
    targets: readonly string[],
    nodes: readonly Parameters<typeof makeNode>[0][],
    spec: Parameters<typeof drainOf>[0] = {},
  ) {
    const { spec: _, ...program } = drainConfig('work:NoExecute', { marksNodes: true });
    this.engine = createEngine({ taintEviction: false, nodeDrains: true, drainProgram: program });
    const drain = drainOf({ nodes: targets, taint, ...spec }, { isGuarded: true });
    this.tell({ kind: 'nodeDrainUpsert', drain });
    for (const node of nodes) {
      const { name } = node;
      this.tell({ kind: 'nodeUpsert', node: makeNode(node) });
      this.tell({ kind: 'podUpsert', pod: makePod({ name: `on-${name}`, nodeName: name }) });
    }
    assert.equal(this.engine.drain('kernel'), null);
    this.tell({ kind: 'synced' });
    this.tell({ kind: 'tick' });
  }

  tell(event: Event): void {
    this.commands.push(...this.engine.handle(this.#now, event));
    this.notes.push(...(this.engine.drain('kernel')?.takeNotes(this.#now) ?? []));
  }

  pass(millis: number): void {
    this.#now += millis;
    this.tell({ kind: 'tick' });
  }

  /** The writes that it asks for, and their ids. */
  writes(): readonly (readonly [string, string])[] {
    return this.commands.splice(0).flatMap((command) => {
      if (command.kind !== 'writeDrainNode') return [];
      return [[`${command.write.kind} ${command.nodeName}`, command.id] as const];
    });
  }

  phases(): readonly string[] {
    const nodes = this.engine.drain('kernel')?.machine.nodes() ?? [];
    return nodes.map(({ name, phase }) => {
      return `${name} ${phase.kind}${phase.kind === 'failed' ? ` ${phase.why}` : ''}`;
    });
  }
}

const marked = { drainMarks: [{ id: 'kernel', taint: 'work:NoExecute', by: 'ann' }] };

describe('a NodeDrain that a program carries out', () => {
  it('cordons its nodes in turn, whatever they show, and those that refuse with their taints', () => {
    const nodes = [{ name: 'n1', unschedulable: true }, { name: 'n2' }, { name: 'n3', ...marked }];
    const run = new Run(['n1', 'n2', 'n3'], nodes, { cordon: 'AtStart' });
    const failed = { kind: 'failed', message: 'no', retryAfter: null } as const;
    const answers = [
      { kind: 'done' },
      { ...failed, status: null },
      { ...failed, status: 403 },
      { kind: 'done' },
    ] as const;
    const asked = answers.map((outcome) => {
      const writes = run.writes();
      for (const [, id] of writes) run.tell({ kind: 'result', id, outcome });
      run.pass(1000);
      return writes.map(([write]) => write).join();
    });
    assert.deepEqual(asked, ['cordon n1', 'cordon n2', 'cordon n2', 'cordon n3']);
    assert.deepEqual(
      run.writes().map(([write]) => write),
      ['taint n1'],
    );
  });

  it('tells of a node that is gone before it began that this was deleted', () => {
    const run = new Run(['n1', 'n2'], [{ name: 'n2' }]);
    assert.deepEqual(
      run.notes.map((note) => `${note.kind} ${'node' in note ? note.node : ''}`),
      ['nodeEnded n1'],
    );
    assert.deepEqual(run.phases(), ['n1 vanished', 'n2 tainting']);
  });

  it('leaves the mark of an earlier run on a node that it is not for', () => {
    const run = new Run(['n1'], [{ name: 'n1' }, { name: 'n2', ...marked }]);
    assert.deepEqual(
      run.writes().map(([write]) => write),
      ['taint n1'],
    );
  });

  it('ends a node with a pod that must not go', () => {
    const run = new Run(['n0', 'n1'], [{ name: 'n0' }, { name: 'n1' }]);
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'log', uid: 'ds' };
    run.tell({ kind: 'podUpsert', pod: makePod({ name: 'log', nodeName: 'n1', owner }) });
    run.tell({ kind: 'nodeDelete', name: 'n0' });
    run.tell({ kind: 'tick' });
    assert.deepEqual(run.phases(), ['n0 vanished', 'n1 failed PodsRefused']);
  });

  it('takes a taint back whose answer comes after somebody else has evicted for it', () => {
    const run = new Run(['n1'], [{ name: 'n1' }]);
    const [[, id] = ['', '']] = run.writes();
    const work = { drains: [{ id: 'kernel', taint: 'work:NoExecute', by: 'ann', heartbeat: '1' }] };
    const taints = [{ ...taint, timeAdded: 1000 }];
    run.tell({ kind: 'nodeUpsert', node: makeNode({ name: 'n1', taints, ...work, ...marked }) });
    const disruption = { reason: 'DeletionByTaintManager', manager: 'kube-controller-manager' };
    const pod = makePod({ name: 'on-n1', nodeName: 'n1', deletionTimestamp: 1000 });
    run.tell({ kind: 'podUpsert', pod: { ...pod, disruption } });
    run.tell({ kind: 'tick' });
    assert.deepEqual(run.phases(), ['n1 failed ForeignEviction']);
    const untaint = run.writes();
    assert.deepEqual(
      untaint.map(([write]) => write),
      ['untaint n1'],
    );
    for (const [, each] of untaint)
      run.tell({ kind: 'result', id: each, outcome: { kind: 'done' } });
    run.tell({ kind: 'tick' });
    assert.deepEqual(run.writes(), []);
    run.tell({ kind: 'result', id, outcome: { kind: 'done' } });
    run.tell({ kind: 'tick' });
    assert.deepEqual(
      run.writes().map(([write]) => write),
      ['untaint n1'],
    );
  });

  it('ends on all nodes when another run goes on with it', () => {
    const run = new Run(['n1', 'n2'], [{ name: 'n1' }, { name: 'n2' }]);
    const [[, id] = ['', '']] = run.writes();
    const outcome = { kind: 'changed', message: 'taken over', takenOver: true } as const;
    run.tell({ kind: 'result', id, outcome });
    assert.deepEqual(run.phases(), ['n1 failed AnotherDrain', 'n2 failed AnotherDrain']);
    assert.equal(run.engine.drain('kernel')?.machine.isTakenOver, true);
  });
});

// NodeDrains from their making to their undoing, on a cluster that does at once what is asked for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Command,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
  type Node,
  type Pod,
} from '@taintmgr/core';
import type { NodeDrainState } from '@taintmgr/core/drain';
import { type NodeDrain, readManifest } from '@taintmgr/core/policy';

const apiVersion = 'taintmgr.dev/v1alpha1';

function drainOf(spec: object, metadata: object = {}, status?: object): NodeDrain {
  const whole = { name: 'kernel', uid: 'u1', generation: 1, ...metadata };
  const said = { taint: { key: 'work' }, pods: { withoutController: true }, ...spec };
  const manifest = { apiVersion, kind: 'NodeDrain', metadata: whole, spec: said, status };
  const judged = readManifest(manifest, 0);
  assert.ok(judged.kind === 'allowed' && judged.value.kind === 'NodeDrain');
  return judged.value.value;
}

/** Answers every command as done, and shows what it changed. */
class World {
  now = 0;
  readonly nodes = new Map<string, Node>();
  readonly pods = new Map<string, Pod>();
  readonly log: string[] = [];
  engine: Engine = createEngine({ nodeDrains: true, mode: 'evict' });
  #drain: NodeDrain;

  constructor(drain: NodeDrain, names: readonly string[]) {
    this.#drain = drain;
    for (const name of names) {
      this.nodes.set(name, makeNode({ name }));
      const pod = makePod({ namespace: 'shop', name: `on-${name}`, nodeName: name });
      this.pods.set(pod.uid, pod);
    }
    this.start();
  }

  /** A new engine, as after a restart or a failover. */
  start(): void {
    this.engine = createEngine({ nodeDrains: true, mode: 'evict' });
    for (const node of this.nodes.values()) this.tell({ kind: 'nodeUpsert', node });
    for (const pod of this.pods.values()) this.tell({ kind: 'podUpsert', pod });
    this.declare(this.#drain);
    this.tell({ kind: 'synced' });
  }

  declare(drain: NodeDrain): void {
    this.#drain = drain;
    this.tell({ kind: 'nodeDrainUpsert', drain });
  }

  tell(event: Event): void {
    for (const command of this.engine.handle(this.now, event)) this.#do(command);
  }

  /** Lets so many milliseconds pass; fewer than all that is due may be done in them. */
  pass(length: number): void {
    for (const until = this.now + length; ; ) {
      const wake = this.engine.nextWake();
      if (wake === null || wake > until) break;
      this.now = Math.max(this.now, wake);
      this.tell({ kind: 'tick' });
    }
  }

  state(): NodeDrainState {
    return this.engine.policyCounts(this.now).drains?.get('kernel') ?? assert.fail();
  }

  #do(command: Command): void {
    if (command.kind === 'guardDrain') {
      this.log.push(command.isGuarded ? 'guard' : 'let go');
      if (!command.isGuarded) this.tell({ kind: 'nodeDrainDelete', name: command.drain });
      else this.declare({ ...this.#drain, isGuarded: true });
    } else if (command.kind === 'writeDrainNode') {
      const { nodeName, write, taint, drain: id } = command;
      const node = this.nodes.get(nodeName) ?? assert.fail();
      if (write.kind !== 'renew') this.log.push(`${write.kind} ${nodeName}`);
      const mark = { id, taint: `${taint.key}:${taint.effect}`, by: 'taintmgr-controller' };
      const { drainMarks: _, drains: _work, ...bare } = node;
      const heartbeat = String(this.now);
      const isUndone = write.kind === 'undo';
      const working = isUndone || write.kind === 'end' ? {} : { drains: [{ ...mark, heartbeat }] };
      const next = isUndone
        ? { ...bare, taints: [] }
        : { ...bare, taints: [{ ...taint, timeAdded: this.now }], drainMarks: [mark], ...working };
      this.nodes.set(nodeName, next);
      this.tell({ kind: 'nodeUpsert', node: next });
    } else if (command.kind === 'evictPod') {
      this.log.push(`evict ${command.pod.name}`);
      this.pods.delete(command.pod.uid);
      this.tell({ kind: 'podDelete', uid: command.pod.uid });
    }
    if ('id' in command) {
      this.tell({ kind: 'result', id: command.id, outcome: { kind: 'done' } });
    }
  }
}

const whole = [
  ...['guard', 'taint n1', 'evict on-n1', 'end n1'],
  ...['taint n2', 'evict on-n2', 'end n2'],
];

describe('a NodeDrain', () => {
  it('drains its nodes in turn, and takes everything back when it is deleted', () => {
    const drain = drainOf({ nodes: ['n1', 'n2'] });
    const world = new World(drain, ['n1', 'n2', 'n3']);
    world.pass(10_000);
    assert.deepEqual(world.log, whole);
    assert.equal(world.state().phase, 'Drained');
    world.log.length = 0;
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    world.pass(10_000);
    assert.deepEqual(world.log, ['undo n1', 'undo n2', 'let go']);
    assert.equal(world.pods.size, 1);
  });

  it('is undone by another leader too, which has only the marks on nodes', () => {
    const drain = drainOf({ nodes: ['n1', 'n2'] });
    const world = new World(drain, ['n1', 'n2']);
    world.pass(10_000);
    world.log.length = 0;
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    world.start();
    world.pass(10_000);
    assert.deepEqual(world.log, ['undo n1', 'undo n2', 'let go']);
  });

  it('goes on after a restart from its status: what is drained is not begun again', () => {
    const at = '1970-01-01T00:00:00Z';
    const nodeStates = [{ name: 'n1', phase: 'Drained', startedAt: at, endedAt: at }];
    const status = { observedGeneration: 1, startedAt: at, phase: 'Running', nodeStates };
    const guarded = { finalizers: ['taintmgr.dev/undo-drain'] };
    const world = new World(drainOf({ nodes: ['n1', 'n2'] }, guarded, status), ['n1', 'n2']);
    world.pass(10_000);
    assert.deepEqual(world.log, ['taint n2', 'evict on-n2', 'end n2']);
  });

  it('leaves a node alone whose pods must not go, and says which', () => {
    const drain = drainOf({ nodes: ['n1'], pods: {} });
    const world = new World(drain, ['n1']);
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard']);
    const { phase, blockers } = world.state();
    assert.equal(phase, 'Blocked');
    assert.match(blockers[0] ?? '', /^node n1: pod shop\/on-n1 is not managed by a controller/);
  });

  it('waits for the drain that has put the same taint on a node', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    const taints = [{ key: 'work', value: '', effect: 'NoSchedule', timeAdded: null }];
    const drainMarks = [{ id: 'other', taint: 'work:NoSchedule', by: 'alice' }];
    world.tell({ kind: 'nodeUpsert', node: { ...makeNode({ name: 'n1', taints }), drainMarks } });
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard']);
    assert.match(world.state().blockers[0] ?? '', /drain other has put work:NoSchedule on it/);
  });

  it('does nothing on a replica that does not lead', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    world.tell({ kind: 'leadership', held: false });
    world.pass(10_000);
    assert.deepEqual(world.log, []);
  });
});

// Nothing stays of what is gone. The entries of the engine's tables are counted: bytes say too little.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Command,
  type Config,
  createEngine,
  type Engine,
  type Event,
  makeNode,
  makePod,
} from '@taintmgr/core';
import type { LimitRule } from '@taintmgr/core/policy';
import { pauseOf, policyOf } from './policy/objects.ts';

const size = 12;
const limits: readonly LimitRule[] = [
  { per: 'zone', percent: 50, windowMs: 10_000, onLimit: 'queue' },
  { per: 'workload', pods: 2, windowMs: 10_000, onLimit: 'queue' },
  { per: 'namespace', podsPerSecond: 100, onLimit: 'queue' },
  { per: 'node', podsPerSecond: 0.5, onLimit: 'queue' },
];

/** An engine, and how many entries the tables have that it was made with. */
function counted(config: Partial<Config>): readonly [engine: Engine, entries: () => number] {
  const tables: { readonly size: number }[] = [];
  const { Map: ownMap, Set: ownSet } = globalThis;
  Object.assign(globalThis, {
    Map: class<K, V> extends ownMap<K, V> {
      constructor(entries?: Iterable<readonly [K, V]> | null) {
        super(entries);
        tables.push(this);
      }
    },
    Set: class<T> extends ownSet<T> {
      constructor(values?: Iterable<T> | null) {
        super(values);
        tables.push(this);
      }
    },
  });
  try {
    const engine = createEngine(config);
    return [engine, () => tables.reduce((sum, table) => sum + table.size, 0)];
  } finally {
    Object.assign(globalThis, { Map: ownMap, Set: ownSet });
  }
}

class World {
  now = 1_700_000_000_000;
  readonly engine: Engine;
  readonly entries: () => number;
  evicted = 0;

  constructor(config: Partial<Config>) {
    [this.engine, this.entries] = counted(config);
    this.tell({ kind: 'synced' });
  }

  tell(event: Event): void {
    const commands: Command[] = [...this.engine.handle(this.now, event)];
    for (let command = commands.shift(); command; command = commands.shift()) {
      if (!('id' in command)) continue;
      if (command.kind === 'deletePod') this.evicted += 1;
      const { id } = command;
      const answers: readonly Event[] = [
        ...(command.kind === 'readLimits'
          ? [{ kind: 'limitRecord', record: null, resume: null } as const]
          : []),
        { kind: 'result', id, outcome: { kind: 'done' } },
      ];
      for (const answer of answers) commands.push(...this.engine.handle(this.now, answer));
    }
  }

  rest(ms: number): void {
    const end = this.now + ms;
    for (let wake = this.engine.nextWake(); wake !== null; wake = this.engine.nextWake()) {
      if (wake > end) break;
      this.now = Math.max(this.now, wake);
      this.tell({ kind: 'tick' });
    }
    this.now = end;
    this.tell({ kind: 'tick' });
  }
}

/** Nodes, namespaces, workloads, policies and pauses that nobody has seen before come and go. */
function comeAndGo(world: World, round: number): void {
  const names = Array.from({ length: size }, (_, index) => `${round}-${index}`);
  for (const [index, name] of names.entries()) {
    world.tell({ kind: 'namespaceUpsert', namespace: { name, labels: { a: name } } });
    const node = makeNode({ name, zone: name, labels: { x: name } });
    world.tell({ kind: 'nodeUpsert', node });
    world.tell({ kind: 'leaseUpsert', lease: { nodeName: name, renewedAt: world.now } });
    for (const pod of [0, 1, 2]) {
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name };
      const about = { namespace: name, name: `${name}-${pod}`, nodeName: name, owner };
      world.tell({ kind: 'podUpsert', pod: makePod(about) });
    }
    if (index % 4 === 0) {
      world.tell({ kind: 'policyUpsert', policy: policyOf(name, { limits: limits.slice(0, 1) }) });
      const pause = pauseOf(name, { since: world.now, scope: { zones: [name] } });
      world.tell({ kind: 'pauseUpsert', pause });
    }
    const tainted = makeNode({ ...node, taints: ['m:NoExecute'] });
    world.tell({ kind: 'nodeUpsert', node: tainted });
  }
  world.rest(20_000);
  for (const name of names) {
    for (const pod of [0, 1, 2]) {
      const { uid } = makePod({ namespace: name, name: `${name}-${pod}`, nodeName: name });
      world.tell({ kind: 'podDelete', uid });
    }
    for (const kind of ['policyDelete', 'pauseDelete', 'nodeDelete', 'namespaceDelete'] as const)
      world.tell({ kind, name });
    world.tell({ kind: 'leaseDelete', nodeName: name });
  }
  for (let look = 0; look < 8; look++) world.rest(120_000);
}

const configs: readonly (readonly [name: string, config: Partial<Config>])[] = [
  ['limits and their record', { keepLimits: true }],
  ['a node lifecycle', { lifecycle: {} } as Partial<Config>],
  ['drains', { nodeDrains: true }],
  ['a takeover', { takeover: true }],
  ['a comparison', { compare: true }],
];

for (const [name, config] of configs) {
  it(`what is gone is forgotten, with ${name}`, () => {
    const world = new World({ limits, ...config });
    comeAndGo(world, 0);
    const before = world.entries();
    for (let round = 1; round < 4; round++) comeAndGo(world, round);
    assert.equal(world.entries(), before);
    assert.ok(config.takeover || world.evicted > 50, `${world.evicted}`);
  });
}

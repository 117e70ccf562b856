// The node lifecycle: a pass over all nodes, heartbeats absorbed and memory held, the precise machine
// beside the one that does as kube-controller-manager does. npm run bench -- lifecycle
import { createEngine, type Engine, type Node, type Semantics } from '@taintmgr/core';
import { bytesOf, inProcess, nanosOf, printTable, short } from './measure.ts';

const sizes = [5_000, 65_000];
const semantics: readonly Semantics[] = ['precise', 'upstream-1.36'];
const zones = ['a', 'b', 'c'];
const periodMs = 5_000;
const graceMs = 50_000;

interface Row {
  readonly bytes: number;
  readonly passNanos: number;
  readonly passBytes: number;
  readonly beatNanos: number;
  readonly lossNanos: number;
}

function compare(): void {
  const rows = sizes.flatMap((nodes) =>
    semantics.map((name) => {
      const row = inProcess<Row>(import.meta.filename, name, nodes);
      return [
        `${name}, ${short(nodes)} nodes`,
        `${Math.round(row.bytes / nodes)} B`,
        `${(row.passNanos / 1e6).toFixed(2)} ms`,
        `${short(row.passBytes / 1024)} KiB`,
        `${short((1e9 * nodes) / row.beatNanos)}/s`,
        `${(row.lossNanos / 1e6).toFixed(1)} ms`,
      ];
    }),
  );
  process.stdout.write('node lifecycle: all nodes renew every 10 s; then a third stops\n');
  const head = [
    '',
    'held per node',
    'one pass',
    'allocated by it',
    'heartbeats',
    'pass that finds them',
  ];
  printTable(head, rows);
}

function run(name: Semantics, nodes: number): Row {
  const bytes = bytesOf(() => new Case(name, nodes));
  const one = new Case(name, nodes);
  one.run();
  const beatNanos = nanosOf(3, () => one.beat(() => true));
  const passes = Array.from({ length: 5 }, () => {
    one.beat(() => true);
    return measured(() => one.pass());
  });
  const losing = Array.from({ length: 1 + graceMs / periodMs }, () => {
    one.beat((index) => index % zones.length !== 0);
    return measured(() => one.pass());
  });
  return {
    bytes,
    beatNanos,
    passNanos: Math.min(...passes.map(({ nanos }) => nanos)),
    passBytes: Math.max(...passes.map(({ allocated }) => allocated)),
    lossNanos: Math.max(...losing.map(({ nanos }) => nanos)),
  };
}

/** Time of one run, and what it left on the heap, which is wrong only where garbage was collected. */
function measured(work: () => void): { readonly nanos: number; readonly allocated: number } {
  const before = process.memoryUsage().heapUsed;
  const nanos = nanosOf(1, work);
  return { nanos, allocated: process.memoryUsage().heapUsed - before };
}

/** Nodes over three zones, and an engine that has heard of them. */
class Case {
  readonly #engine: Engine;
  readonly #nodes: number;
  #now = 0;

  constructor(name: Semantics, nodes: number) {
    this.#engine = createEngine({ semantics: name, lifecycle: {}, taintEviction: false });
    this.#nodes = nodes;
    for (let index = 0; index < nodes; index++) {
      this.#engine.handle(0, { kind: 'nodeUpsert', node: makeNode(index) });
    }
    this.beat(() => true);
    this.#engine.handle(0, { kind: 'synced' });
  }

  /** The first passes, in which nodes are met. */
  run(): void {
    for (let count = 0; count < 3; count++) this.pass();
  }

  /** Every node renews its lease, or those that may. */
  beat(mayRenew: (index: number) => boolean): void {
    for (let index = 0; index < this.#nodes; index++) {
      if (!mayRenew(index)) continue;
      const lease = { nodeName: `node-${index}`, renewedAt: this.#now };
      this.#engine.handle(this.#now, { kind: 'leaseUpsert', lease });
    }
  }

  /** One monitor period; every command succeeds at once. */
  pass(): void {
    this.#now += periodMs;
    const commands = [...this.#engine.handle(this.#now, { kind: 'tick' })];
    for (let next = commands.pop(); next; next = commands.pop()) {
      if (!('id' in next)) continue;
      const result = { kind: 'result', id: next.id, outcome: { kind: 'done' } } as const;
      commands.push(...this.#engine.handle(this.#now, result));
      if (commands.length === 0) {
        commands.push(...this.#engine.handle(this.#now, { kind: 'tick' }));
      }
    }
  }
}

function makeNode(index: number): Node {
  const zone = zones[index % zones.length] ?? '';
  const times = { heartbeatAt: 0, transitionAt: 0 };
  const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => {
    const status = type === 'Ready' ? 'True' : 'False';
    return { type, status, reason: 'Kubelet', message: '', ...times };
  });
  const name = `node-${index}`;
  const labels = { 'topology.kubernetes.io/zone': zone, 'kubernetes.io/hostname': name };
  return { name, uid: name, taints: [], zone, labels, conditions, createdAt: 0 };
}

const [name, nodes] = process.argv.slice(2);
if (name === 'precise' || name === 'upstream-1.36') {
  process.stdout.write(JSON.stringify(run(name, Number(nodes))));
} else {
  compare();
}

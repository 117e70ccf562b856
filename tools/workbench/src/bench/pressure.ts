// Node pressure: ranking the pods of one node, and a pass over all nodes, beside a twin that reads
// the whole Summary anew with plain objects. npm run bench -- pressure
import {
  createPressureMachine,
  type NodeObservation,
  type PodUsage,
  type PressureMachine,
  type PressurePod,
} from '@taintmgr/core/pressure';
import { bytesOf, contend, inProcess, nanosOf, printTable, short } from './measure.ts';

const rankedPods = 500;
const nodes = 5_000;
const podsPerNode = 30;
const warmUpNodes = 200;
const rounds = 5;

interface Row {
  readonly bytes: number;
  readonly rankNanos: number;
  readonly calmNanos: number;
  readonly pressedNanos: number;
}

function compare(): void {
  const rows = ['machine', 'twin'].map((name) => {
    const row = inProcess<Row>(import.meta.filename, name, nodes);
    return [
      name,
      `${(row.rankNanos / 1e6).toFixed(2)} ms`,
      `${Math.round(row.bytes / nodes / 1000)} kB`,
      `${Math.round(row.calmNanos / 1e6)} ms`,
      `${Math.round(row.pressedNanos / 1e6)} ms`,
    ];
  });
  process.stdout.write(`pressure: ${short(nodes)} nodes with ${podsPerNode} pods each\n`);
  const head = [`order of ${rankedPods} pods`, 'held per node', 'pass, calm', 'pass, all low'];
  printTable(['', ...head], rows);
}

function run(name: string, count: number): Row {
  const make = (): Contender => (name === 'machine' ? new MachineCase() : new TwinCase());
  const ranking = make();
  load(ranking, 1, rankedPods);
  ranking.see(0, 0, observation(0, 0, rankedPods, low));
  const rankNanos = nanosOf(rounds, () => ranking.order(0));
  const bytes = bytesOf(() => {
    const contender = make();
    load(contender, count, podsPerNode);
    pass(contender, 0, observations(0, count, high));
    return contender;
  });
  const contender = make();
  load(contender, count, podsPerNode);
  const [calm, pressed] = [observations(10_000, count, high), observations(20_000, count, low)];
  const calmNanos = nanosOf(1, () => pass(contender, 10_000, calm));
  const pressedNanos = nanosOf(1, () => pass(contender, 20_000, pressed));
  return { bytes, rankNanos, calmNanos, pressedNanos };
}

const capacity = 64 * 2 ** 30;
const [low, high] = [2 ** 20, 2 ** 35];

/** What one node says; made beforehand, because reading it is not what is measured. */
function observation(now: number, node: number, pods: number, available: number): NodeObservation {
  const sample = { available, capacity, time: now };
  return {
    samples: {
      'memory.available': sample,
      'nodefs.available': sample,
      'imagefs.available': sample,
      'nodefs.inodesFree': sample,
      'imagefs.inodesFree': sample,
      'pid.available': sample,
    },
    pods: Array.from({ length: pods }, (_, index) => usageOf(node, index)),
  };
}

function observations(now: number, count: number, available: number): readonly NodeObservation[] {
  return Array.from({ length: count }, (_, node) => observation(now, node, podsPerNode, available));
}

function usageOf(node: number, index: number): PodUsage {
  const bytes = scattered(node * 1000 + index) * 2 ** 16;
  const disk = { usedBytes: bytes, inodesUsed: bytes / 4096 };
  return {
    uid: `pod-${node}-${index}`,
    workingSetBytes: bytes,
    processes: 5,
    storageBytes: bytes,
    containers: [{ name: 'main', workingSetBytes: bytes, rootfs: disk, logs: disk }],
    volumes: [],
  };
}

function podOf(node: number, index: number): PressurePod {
  return {
    namespace: 'shop',
    name: `pod-${node}-${index}`,
    uid: `pod-${node}-${index}`,
    nodeName: `node-${node}`,
    priority: (index % 3) * 1000,
    phase: 'Running',
    deletionTimestamp: null,
    generation: 1,
    isStatic: false,
    isMirror: false,
    gracePeriodSeconds: 30,
    qosClass: 'Burstable',
    containers: [{ name: 'main', requests: { cpu: '100m', memory: `${64 << (index % 5)}Mi` } }],
    initContainers: [],
    resources: null,
    overhead: {},
    volumes: [],
  };
}

/** The same for every contender. */
function scattered(index: number): number {
  return (Math.imul(index + 1, 2654435761) >>> 0) % 65_536;
}

interface Contender {
  addNode(node: number): void;
  addPod(pod: PressurePod): void;
  see(now: number, node: number, observation: NodeObservation): void;
  act(now: number): void;
  /** All pods of the node, the first to go first. */
  order(node: number): number;
}

function load(contender: Contender, count: number, pods: number): void {
  for (let node = 0; node < count; node++) {
    contender.addNode(node);
    for (let index = 0; index < pods; index++) contender.addPod(podOf(node, index));
  }
}

function pass(contender: Contender, now: number, seen: readonly NodeObservation[]): void {
  for (const [node, observation] of seen.entries()) contender.see(now, node, observation);
  contender.act(now);
}

class MachineCase implements Contender {
  readonly #machine: PressureMachine = createPressureMachine({
    evictionsPerSecond: null,
    evictionsInFlightMax: nodes,
    settings: {
      evictionHard: { 'memory.available': '100Mi' },
      filesystemLayout: 'single',
      enforceNodeAllocatable: [],
    },
  });

  constructor() {
    this.#machine.handle(0, { kind: 'synced' });
  }

  addNode(node: number): void {
    const name = `node-${node}`;
    const labels = { 'kubernetes.io/hostname': name };
    this.#machine.handle(0, {
      kind: 'pressureNode',
      node: { name, uid: name, labels, conditions: [] },
    });
  }

  addPod(pod: PressurePod): void {
    this.#machine.handle(0, { kind: 'pressurePod', pod });
  }

  see(now: number, node: number, observation: NodeObservation): void {
    this.#machine.handle(now, { kind: 'observed', nodeName: `node-${node}`, observation });
  }

  act(now: number): void {
    this.#machine.handle(now, { kind: 'tick' });
  }

  order(node: number): number {
    return this.#machine.explain(0, `node-${node}`)?.signals[0]?.order.length ?? 0;
  }
}

/** What one would write in an afternoon: one threshold, no memory of what was before. */
class TwinCase implements Contender {
  readonly #pods = new Map<string, PressurePod[]>();
  readonly #seen = new Map<string, NodeObservation>();
  evicted = 0;

  addNode(node: number): void {
    this.#pods.set(`node-${node}`, []);
  }

  addPod(pod: PressurePod): void {
    this.#pods.get(pod.nodeName)?.push(pod);
  }

  see(_now: number, node: number, observation: NodeObservation): void {
    this.#seen.set(`node-${node}`, observation);
  }

  act(): void {
    for (const [name, { samples }] of this.#seen) {
      const sample = samples['memory.available'];
      if (sample && sample.available < 100 * 2 ** 20)
        this.evicted += Number(this.#first(name) !== null);
    }
  }

  order(node: number): number {
    return this.#sorted(`node-${node}`).length;
  }

  #first(name: string): PressurePod | null {
    return this.#sorted(name)[0] ?? null;
  }

  #sorted(name: string): readonly PressurePod[] {
    const usage = (pod: PressurePod): number =>
      this.#seen.get(name)?.pods.find(({ uid }) => uid === pod.uid)?.workingSetBytes ?? 0;
    const request = ({ containers }: PressurePod): number =>
      containers.reduce((sum, one) => sum + Number.parseInt(one.requests?.memory ?? '0', 10), 0) *
      2 ** 20;
    const over = (pod: PressurePod): number => usage(pod) - request(pod);
    return (this.#pods.get(name) ?? []).toSorted(
      (a, b) =>
        Number(over(b) > 0) - Number(over(a) > 0) || a.priority - b.priority || over(b) - over(a),
    );
  }
}

contend(compare, run, warmUpNodes);

// Decisions and memory of the engine, beside a twin that keeps whole objects in a Map and a
// setTimeout for each pod. npm run bench -- engine
import { createEngine, type Engine, type Pod, parseTaint } from '@taintmgr/core';
import { makePod, nodeNames } from './cluster-objects.ts';
import { bytesOf, contend, inProcess, nanosOf, printTable, short } from './measure.ts';

const sizes = [1_000, 100_000, 1_000_000];
const warmUp = 5_000;

interface Row {
  readonly bytes: number;
  readonly loadNanos: number;
  readonly taintNanos: number;
  readonly touchNanos: number;
}

function compare(): void {
  const rows = sizes.flatMap((pods) =>
    ['engine', 'twin'].map((name) => {
      const row = inProcess<Row>(import.meta.filename, name, pods);
      return [
        `${name}, ${short(pods)} pods`,
        `${Math.round(row.bytes / pods)} B`,
        `${short((1e9 * pods) / row.loadNanos)}/s`,
        `${short((1e9 * pods) / row.taintNanos)}/s`,
        `${short((1e9 * pods) / row.touchNanos)}/s`,
      ];
    }),
  );
  process.stdout.write('engine: memory and decisions, every node tainted at once\n');
  printTable(['', 'held per pod', 'pods loaded', 'deadlines set', 'pods touched'], rows);
}

function run(name: string, pods: number): Row {
  const make = name === 'engine' ? () => new EngineCase() : () => new TwinCase();
  const bytes = bytesOf(() => loaded(make(), pods));
  const cluster = make();
  const loadNanos = nanosOf(1, () => loaded(cluster, pods));
  const taintNanos = nanosOf(1, () => cluster.taintAll(pods));
  const touchNanos = nanosOf(1, () => loaded(cluster, pods));
  cluster.close();
  return { bytes, loadNanos, taintNanos, touchNanos };
}

interface Case {
  upsert(pod: Pod): void;
  taintAll(pods: number): void;
  close(): void;
}

function loaded(cluster: Case, pods: number): Case {
  for (let index = 0; index < pods; index++) cluster.upsert(makePod(index));
  return cluster;
}

const taint = parseTaint('node.kubernetes.io/unreachable:NoExecute');

class EngineCase implements Case {
  readonly #engine: Engine = createEngine();

  upsert(pod: Pod): void {
    this.#engine.handle(0, { kind: 'podUpsert', pod });
  }

  taintAll(pods: number): void {
    for (const name of nodeNames(pods)) {
      this.#engine.handle(0, { kind: 'nodeUpsert', node: { name, uid: name, taints: [taint] } });
    }
  }

  close(): void {}
}

/** A simple implementation that takes an afternoon to write. */
class TwinCase implements Case {
  readonly #pods = new Map<string, Pod>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #tainted = new Set<string>();

  upsert(pod: Pod): void {
    this.#pods.set(`${pod.namespace}/${pod.name}`, pod);
    if (this.#tainted.has(pod.nodeName)) this.#plan(pod);
  }

  taintAll(pods: number): void {
    for (const name of nodeNames(pods)) this.#tainted.add(name);
    for (const pod of this.#pods.values()) this.#plan(pod);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #plan(pod: Pod): void {
    const key = `${pod.namespace}/${pod.name}`;
    clearTimeout(this.#timers.get(key));
    const toleration = pod.tolerations.find(({ key }) => key === taint.key);
    const seconds = Number(toleration?.tolerationSeconds ?? 0);
    this.#timers.set(
      key,
      setTimeout(() => this.#pods.delete(key), seconds * 1000),
    );
  }
}

contend(compare, run, warmUp);

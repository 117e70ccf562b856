import { createEngine } from '@taintmgr/core';
import { Loop, type LoopInput, type Notice, VirtualDriver } from '@taintmgr/k8s-adapter';
import {
  Cluster,
  type KubeObject,
  seededRandom,
  type Topology,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { collections } from '../../src/cluster/collections.ts';
import { keep, shapes } from '../../src/cluster/snapshot-shapes.ts';

// A cluster in virtual time, with kube-controller-manager beside it, whose days take no time.

interface Driven {
  readonly driver: {
    feed(input: LoopInput<never>): void;
    nextWake(): number | null;
    runUntil(instant: number): void;
  };
}

const startsAt = Date.parse('2026-06-01T08:00:00Z');

/** One cluster, its clock and who acts in it. */
export class VirtualCluster {
  readonly clock: VirtualClock = new VirtualClock(startsAt);
  readonly cluster: Cluster;
  readonly #driven: Driven['driver'][] = [];

  constructor(topology: Topology, seed: number = 1) {
    const { clock } = this;
    const timing = { podStartMs: [1000, 1000], podStopMs: [1000, 1000] } as const;
    this.cluster = new Cluster({
      ...{ clock, seed, topology, timing, without: ['conditionTaints'], rolloutHistory: true },
    });
    const machine = createEngine({ semantics: 'upstream-1.36', lifecycle: {} });
    // Its passes drift and its order of nodes is chance, as those of the real one.
    machine.handle(clock.now(), { kind: 'leadership', held: true, seed });
    const random = seededRandom(seed);
    const component = 'taint-eviction-controller';
    const loop = new Loop({ machine, random, component, leases: true });
    const { exchange } = this.cluster;
    const onNotice = (_: Notice): void => {};
    this.drive({ driver: new VirtualDriver({ loop, exchange, clock, onNotice }) });
    this.cluster.start();
    this.run(120_000);
  }

  get api(): Cluster['api'] {
    return this.cluster.api;
  }

  /** Lets a loop take part from now on. */
  drive({ driver }: Driven): void {
    driver.feed({ kind: 'start' });
    this.#driven.push(driver);
  }

  /** So much time passes. */
  run(ms: number): void {
    const until = this.clock.now() + ms;
    for (let next = this.#nextWake(); next !== null && next <= until; next = this.#nextWake()) {
      for (const driver of this.#driven) driver.runUntil(next);
    }
    for (const driver of this.#driven) driver.runUntil(until);
  }

  #nextWake(): number | null {
    const wakes = [this.clock, ...this.#driven].flatMap((one) => one.nextWake() ?? []);
    return wakes.length === 0 ? null : Math.max(this.clock.now(), Math.min(...wakes));
  }

  /** What `snapshot` prints of it. */
  snapshot(): readonly object[] {
    return collections.flatMap((collection) => {
      const { apiVersion, kind, path } = collection;
      const objects = this.#objectsAt(path, collection.name);
      return objects.map((object) => ({
        ...{ apiVersion, kind },
        ...(keep(shapes[kind], object) as object),
      }));
    });
  }

  #objectsAt(path: string, name: string | undefined): readonly KubeObject[] {
    const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? [];
    const resource = path.split('/').at(-1) ?? '';
    if (path.includes('taintmgr.dev') || path.includes('resource.k8s.io')) return [];
    const all = this.api.list(resource, namespace);
    return name === undefined ? all : all.filter(({ metadata }) => metadata.name === name);
  }
}

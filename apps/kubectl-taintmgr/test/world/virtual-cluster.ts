import { createEngine } from '@taintmgr/core';
import {
  Loop,
  type LoopInput,
  type Notice,
  VirtualDriver,
  WatchLoop,
  type WatchNotice,
} from '@taintmgr/k8s-adapter';
import {
  Cluster,
  type Exchange,
  type KubeObject,
  seededRandom,
  type Topology,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { collections } from '../../src/cluster/collections.ts';
import { keptOf } from '../../src/cluster/snapshot-shapes.ts';
import {
  followedCollections,
  Recorder,
  type RecorderOptions,
} from '../../src/commands/snapshot/recorder.ts';

// A cluster in virtual time, with kube-controller-manager beside it, whose days take no time.

interface Driven {
  readonly driver: {
    feed(input: LoopInput<never>): void;
    nextWake(): number | null;
    runUntil(instant: number): void;
  };
}

interface RecordOptions extends Partial<RecorderOptions> {
  /** The time by which the clock of the recorder is ahead. */
  readonly aheadMs?: number;
  /** Happens between the snapshot and the first list. */
  readonly onSnapshot?: () => void;
}

/** A recording under way. */
interface Recording {
  readonly link: Link;
  readonly end: () => string;
}

/** The way to an API server, which can be cut. */
class Link {
  readonly #open = new Set<() => void>();
  readonly #exchange: Exchange;
  #isCut = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  cut(): void {
    this.#isCut = true;
    for (const reset of this.#open) reset();
    this.#open.clear();
  }

  mend(): void {
    this.#isCut = false;
  }

  readonly exchange: Exchange = (request, sink) => {
    if (this.#isCut) {
      sink.reset();
      return () => {};
    }
    const reset = (): void => sink.reset();
    this.#open.add(reset);
    return this.#exchange(request, {
      ...sink,
      head: (...head) => sink.head(...head),
      data: (chunk) => {
        if (this.#open.has(reset)) sink.data(chunk);
      },
      end: () => {
        if (this.#open.delete(reset)) sink.end();
      },
      reset,
    });
  };
}

type ClusterOptions = ConstructorParameters<typeof Cluster>[0];

const startsAt = Date.parse('2026-06-01T08:00:00Z');

/** One cluster, its clock and who acts in it. */
export class VirtualCluster {
  readonly clock: VirtualClock = new VirtualClock(startsAt);
  readonly cluster: Cluster;
  readonly #driven: Driven['driver'][] = [];

  constructor(topology: Topology, own: ClusterOptions['timing'] = {}) {
    const { clock } = this;
    const seed = 1;
    const timing = { podStartMs: [1000, 1000], podStopMs: [1000, 1000], ...own } as const;
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

  /** Begins a recording, as `snapshot --watch` does; what ends it gives its text. */
  record(options: RecordOptions = {}): Recording {
    const { aheadMs = 0, onSnapshot = () => {}, ...others } = options;
    const collections = followedCollections(new Set());
    const snapshot = this.snapshot();
    onSnapshot();
    const lines: string[] = [];
    const write = (text: string): void => void lines.push(text);
    const recorder = new Recorder({ collections, write, ...others });
    const wall = (): number => this.clock.now() + aheadMs;
    recorder.begin(wall(), snapshot);
    const link = new Link(this.cluster.exchange);
    const driver = new VirtualDriver<never, WatchNotice>({
      ...{ loop: new WatchLoop(collections, seededRandom(1)), clock: this.clock },
      exchange: link.exchange,
      onNotice: (notice) => recorder.hear(wall(), notice),
    });
    this.drive({ driver });
    return {
      link,
      end: () => {
        recorder.finish(wall(), 'interrupted');
        return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: snapshot })}\n${lines.join('')}`;
      },
    };
  }

  /** The objects that `snapshot` prints of the cluster. */
  snapshot(): readonly object[] {
    return collections.flatMap((collection) => {
      const { apiVersion, kind, path } = collection;
      const objects = this.#objectsAt(path, collection.name);
      return objects.map((object) => ({
        ...{ apiVersion, kind },
        ...keptOf(kind, object),
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

// Where the runs of a script begin that are played beside each other.
import { type Cluster, type RestingCluster, VirtualClock } from '@taintmgr/sim-cluster';
import type { Script } from '../script/script.ts';
import type { ClusterSource } from '../source/source.ts';
import { PodTimes } from '../times/pod-times.ts';

interface BeginningOptions {
  readonly source: ClusterSource;
  readonly script: Script;
  readonly seed: number;
  /** How many there will be. */
  readonly runs: number;
}

/** A cluster before anything of a script happens in it. */
export interface Begun {
  readonly clock: VirtualClock;
  readonly cluster: Cluster;
  readonly times: PodTimes;
}

/** One beginning for all of them: a cluster that is made up comes to rest once. */
export class Beginning {
  readonly #options: BeginningOptions;
  #left: number;
  #resting: RestingCluster | null = null;

  constructor(options: BeginningOptions) {
    this.#options = options;
    this.#left = options.runs;
  }

  /** The cluster of another run. Yields while it comes to rest. */
  *next(): Generator<null, Begun> {
    const { source, script, seed } = this.#options;
    const times = new PodTimes(script.times, source.observed);
    this.#resting ??= source.bringToRest ? yield* source.bringToRest(seed, times) : null;
    const resting = this.#resting;
    // What the last run changes need not be kept.
    if (--this.#left === 0) this.#resting = null;
    const clock = new VirtualClock(resting?.at ?? source.startsAt);
    return { clock, cluster: source.make(clock, { seed, times, resting }), times };
  }
}

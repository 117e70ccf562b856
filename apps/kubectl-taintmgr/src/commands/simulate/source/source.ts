import type { Config } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { PolicyObject } from '@taintmgr/k8s-adapter/kinds';
import type { Cluster, RangeMs, RestingCluster, VirtualClock } from '@taintmgr/sim-cluster';
import type { PodTimes } from '../times/pod-times.ts';

/** Where a simulation begins: a cluster that can be built again for each run. */
export interface ClusterSource {
  /** The file, or the live cluster. */
  readonly name: string;
  readonly startsAt: Instant;
  /** Lets it come to rest first, where it is made up; `times`: see `make`. Null: it is as it was read. */
  readonly bringToRest: ((seed: number, times: PodTimes) => Generator<null, RestingCluster>) | null;
  /** What is left out, and whether that is too much to go on without --partial. */
  readonly missing: readonly string[];
  /** The policies, taint rules and pauses that are in force in it. */
  readonly policies: readonly PolicyObject[];
  /** How the controller that acts in it is set up; left out: that is not known, or none does. */
  readonly engine?: Partial<Config>;
  /**
   * Since when kube-controller-manager has been at it there (-Infinity: all along), so that its timers
   * run; null: it begins with the simulation.
   */
  readonly upstreamSince: Instant | null;
  /** What the simulation does not know of what is there. */
  readonly notes: readonly string[];
  /** How long pods of workloads took to start in it, as far as one can see. */
  readonly observed: ReadonlyMap<string, RangeMs>;
  readonly make: (clock: VirtualClock, how: MakeOptions) => Cluster;
}

interface MakeOptions {
  readonly seed: number;
  /** How long pods take in it. */
  readonly times: PodTimes;
  /** At rest, for one that is made up. */
  readonly resting: RestingCluster | null;
}

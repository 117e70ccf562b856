import type { Config } from '@taintmgr/core';
import type { PolicyObject } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import type { Cluster, RangeMs, VirtualClock } from '@taintmgr/sim-cluster';
import type { PodTimes } from '../times/pod-times.ts';

/** Where a simulation begins: a cluster that can be built again for each run. */
export interface ClusterSource {
  /** The file, or the live cluster. */
  readonly name: string;
  readonly startsAt: Instant;
  /** Whether it is made up, so that it has to come up first. */
  readonly isNew: boolean;
  /** What is left out, and whether that is too much to go on without --partial. */
  readonly missing: readonly string[];
  /** The policies, taint rules and pauses that are in force in it. */
  readonly policies: readonly PolicyObject[];
  /** How the controller that acts in it is set up; left out: that is not known, or none does. */
  readonly engine?: Partial<Config>;
  /** What the simulation does not know of what is there. */
  readonly notes: readonly string[];
  /** How long pods of workloads took to start in it, as far as one can see. */
  readonly observed: ReadonlyMap<string, RangeMs>;
  /** `times`: how long pods take in it; left out: as they say themselves. */
  readonly make: (clock: VirtualClock, seed: number, times?: PodTimes) => Cluster;
}

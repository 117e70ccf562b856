// The embedded cluster of `--simulate`.
import { type EmbeddedCluster, startEmbedded, threeZones } from '@taintmgr/sim-cluster';

export interface SimulationOptions {
  readonly seed: number;
  /** Whether nobody in the cluster is to do the work of a node lifecycle controller. */
  readonly withoutNodeLifecycle: boolean;
}

/** Starts the cluster of `--simulate`: three zones with workloads, reachable over HTTPS. */
export function startSimulation(options: SimulationOptions): Promise<EmbeddedCluster> {
  const { seed, withoutNodeLifecycle } = options;
  return startEmbedded({
    seed,
    topology: threeZones,
    without: withoutNodeLifecycle ? ['nodeLifecycleStandIn'] : [],
  });
}

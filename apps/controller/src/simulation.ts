import { type EmbeddedCluster, startEmbedded, threeZones } from '@taintmgr/sim-cluster';

/** Starts the cluster of `--simulate`: three zones with workloads, reachable over HTTPS. */
export function startSimulation(seed: number): Promise<EmbeddedCluster> {
  return startEmbedded({ seed, topology: threeZones });
}

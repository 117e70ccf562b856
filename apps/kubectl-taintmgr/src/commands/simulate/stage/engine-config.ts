// How the controller of a simulation is set up: as in the cluster, but for what the script says.
import type { Config } from '@taintmgr/core';

/**
 * Both as the engine takes them. What a script says of a group of settings leaves the others of the
 * group as they are in the cluster; `lifecycle: null` switches all of it off.
 */
export function engineConfig(cluster: Partial<Config>, script: Partial<Config>): Partial<Config> {
  const { lifecycle, leave } = script;
  return {
    ...cluster,
    ...script,
    ...(lifecycle && { lifecycle: { ...cluster.lifecycle, ...lifecycle } }),
    ...(leave && { leave: { ...cluster.leave, ...leave } }),
  };
}

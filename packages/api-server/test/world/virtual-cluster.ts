// @boundaries-ignore the cluster's own tests live in the same world
import {
  type VirtualCluster,
  virtualCluster as virtual,
} from '../../../sim-cluster/test/world/virtual-cluster.ts';
import { ServedCluster, type ServedClusterOptions } from '../../src/server/served-cluster.ts';

// @boundaries-ignore the cluster's own tests live in the same world
export {
  evict,
  podsOf,
  setSpec,
  setTaints,
  small,
  start,
  stored,
} from '../../../sim-cluster/test/world/virtual-cluster.ts';

/** Starts a cluster whose API server has a front; see the one without. */
export function virtualCluster(
  options: Partial<ServedClusterOptions> = {},
): VirtualCluster<ServedCluster> {
  const { apiServer, evictionRequestMs, ...others } = options;
  const given = {
    ...(apiServer ? { apiServer } : {}),
    ...(evictionRequestMs === undefined ? {} : { evictionRequestMs }),
  };
  return virtual(others, (made) => new ServedCluster({ ...made, ...given }));
}

import { Cluster, type ClusterOptions } from '@taintmgr/sim-cluster/server';
import { selectsDevice } from '../cel/device-selector.ts';
import { PolicyStatus } from '../policy/policy-status.ts';
import { ApiServer, type ApiServerOptions } from './api-server.ts';
import { EvictionRequests } from './eviction-requests.ts';

export interface ServedClusterOptions
  extends Omit<ClusterOptions, 'apiServer' | 'makeApi' | 'parts'> {
  /**
   * Whoever answers EvictionRequests takes so long; left out: nobody answers them. The cluster serves
   * them when their definition is installed.
   */
  readonly evictionRequestMs?: number;
  readonly apiServer?: Omit<ApiServerOptions, 'clock' | 'random'>;
}

/** A whole Kubernetes cluster whose API server is one for real clients. */
export class ServedCluster extends Cluster {
  declare readonly api: ApiServer;

  constructor({ apiServer = {}, evictionRequestMs: ms, ...options }: ServedClusterOptions) {
    super({
      selectsDevice,
      ...options,
      apiServer,
      makeApi: (given) => new ApiServer({ ...apiServer, ...given }),
      parts: {
        policyStatus: (context) => [new PolicyStatus(context)],
        evictionRequests: (context) =>
          ms === undefined ? [] : [new EvictionRequests(context, ms)],
      },
    });
  }
}

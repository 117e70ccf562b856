import { Cluster, type ClusterOptions } from '@taintmgr/sim-cluster/server';
import { selectsDevice } from '../cel/device-selector.ts';
import { PolicyStatus } from '../policy/policy-status.ts';
import { ApiServer, type ApiServerOptions } from './api-server.ts';
import { EvictionRequests } from './eviction-requests.ts';

/**
 * The options of `ServedCluster`: those of a simulated cluster, with an API server for real
 * clients.
 */
export interface ServedClusterOptions
  extends Omit<ClusterOptions, 'apiServer' | 'makeApi' | 'parts'> {
  /**
   * The time that the responder to EvictionRequests takes; left out: EvictionRequests stay
   * unanswered. The cluster serves them when their definition is installed.
   */
  readonly evictionRequestMs?: number;
  /** The options of the API server; without `tokens` every client is an administrator. */
  readonly apiServer?: Omit<ApiServerOptions, 'clock' | 'random'>;
}

/** A whole Kubernetes cluster whose API server is one for real clients. */
export class ServedCluster extends Cluster {
  /** The API server; its `exchange` answers real clients. */
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
    if ((options.snapshot?.length ?? 0) > 0) giveOwners(this.api);
  }
}

/**
 * Keeps the field ownership of objects that have managers, as the real server does for nearly all.
 * `kubectl get` leaves managedFields out, so the time of a taint on a node of a snapshot would be
 * unknown. These nodes get a manager that owns none of their taints, because the writer of those is
 * unknown.
 */
function giveOwners(api: ApiServer): void {
  for (const node of api.list('nodes')) {
    const { metadata } = node;
    if (metadata.managedFields !== undefined) continue;
    const managedFields = [
      {
        ...({ manager: 'before-snapshot', operation: 'Update', apiVersion: 'v1' } as const),
        ...(metadata.creationTimestamp && { time: metadata.creationTimestamp }),
        fieldsType: 'FieldsV1' as const,
        fieldsV1: { 'f:metadata': { 'f:labels': { '.': {} } } },
      },
    ];
    api.update('nodes', { ...node, metadata: { ...metadata, managedFields } });
  }
}

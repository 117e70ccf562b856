// The machines behind the nodes of a snapshot, and how far their kubelets have come.
import { conditionOf, isReady } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { ClusterApi } from '../store/cluster-api.ts';
import type { KubeletProgress } from './kubelet.ts';
import { leaseNamespace } from './lease.ts';
import type { NodeDescription } from './node-status.ts';

/** A machine; `progress` is null where nothing says when its kubelet was at work. */
export interface AdoptedNode {
  readonly node: NodeDescription;
  readonly progress: KubeletProgress | null;
}

/** The number of missing renewals, compared with other nodes, that makes a node silent. */
const silentBeats = 2;

/**
 * The machines that are alive: their nodes have sent heartbeats, and have not fallen silent since.
 * They renew their leases, every `heartbeatMs`, at the same moments as before.
 */
export function adoptedNodes(api: ClusterApi, heartbeatMs: number): readonly AdoptedNode[] {
  const heard = api.list('nodes').filter((node) => isReady(node) || !conditionOf(node, 'Ready'));
  const renewals = new Map(
    heard.map(({ metadata }) => [metadata.name, renewedAt(api, metadata.name)]),
  );
  const newest = Math.max(...[...renewals.values()].map((at) => at ?? Number.NEGATIVE_INFINITY));
  const counts = new Map<string, number>();
  for (const { spec } of api.list('pods')) {
    counts.set(spec.nodeName, (counts.get(spec.nodeName) ?? 0) + 1);
  }
  const since = newest - silentBeats * heartbeatMs;
  return heard.flatMap((node): readonly AdoptedNode[] => {
    const { name } = node.metadata;
    const renewed = renewals.get(name) ?? null;
    if (renewed === null) return [{ node: machineOf(node), progress: null }];
    if (renewed < since) return [];
    const now = api.clock.now();
    const periods = Math.max(1, Math.floor((now - renewed) / heartbeatMs) + 1);
    const reported = Date.parse(String(conditionOf(node, 'Ready')?.lastHeartbeatTime));
    const progress = {
      pods: counts.get(name) ?? 0,
      reportedAt: Number.isFinite(reported) ? reported : now,
      nextBeatAt: renewed + periods * heartbeatMs,
    };
    return [{ node: machineOf(node), progress }];
  });
}

function renewedAt(api: ClusterApi, node: string): number | null {
  const at = Date.parse(api.get('leases', leaseNamespace, node)?.spec.renewTime);
  return Number.isFinite(at) ? at : null;
}

function machineOf({ metadata, status }: KubeObject): NodeDescription {
  const addresses: readonly { readonly type: string; readonly address: string }[] =
    status?.addresses ?? [];
  const internalIp = addresses.find(({ type }) => type === 'InternalIP')?.address;
  const zone = metadata.labels?.['topology.kubernetes.io/zone'];
  return {
    name: metadata.name,
    ...(internalIp === undefined ? {} : { internalIp }),
    ...(zone === undefined ? {} : { zone }),
  };
}

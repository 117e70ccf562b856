// Names from the cluster that can complete a word.
import { formatTaint } from '@taintmgr/core';
import { kubeconfigNames } from '@taintmgr/k8s-adapter';
import { withConnection } from '../../cli/connection.ts';
import type { GlobalFlags } from '../../cli/invocation.ts';
import { drainsOn } from '../../cluster/drain-marks.ts';
import { ClusterReader } from '../../cluster/reader.ts';

/** As drains name themselves: whoever may write on a node may have written anything. */
const drainId = /^drain-\d{8}-\d{6}-[0-9a-f]{4}$/;
/** What a shell would take for more than a name, and a terminal for orders. */
const steering = /[\p{Cc}\p{Cf}\p{Z}\p{DI}]/u;

/** Where names of the cluster are read. */
const clusterNames = {
  nodes: async (reader: ClusterReader) => (await reader.nodes()).map(({ node }) => node.name),
  pods: (reader: ClusterReader, namespace: string) => reader.podNames(namespace),
  'policy-subjects': async (reader: ClusterReader, namespace: string) => [
    ...(await reader.podNames(namespace)).map((name) => `pod/${name}`),
    ...(await reader.nodes()).map(({ node }) => `node/${node.name}`),
  ],
  zones: async (reader: ClusterReader) =>
    (await reader.nodes()).map(({ zone }) => zone).filter((zone) => zone !== ''),
  'taint-keys': async (reader: ClusterReader) =>
    (await reader.nodes()).flatMap(({ node }) => node.taints.map(({ key }) => key)),
  taints: async (reader: ClusterReader) =>
    (await reader.nodes()).flatMap(({ node }) => node.taints.map(formatTaint)),
  drains: async (reader: ClusterReader) =>
    drainsOn(await reader.nodes()).flatMap(({ id }) => (drainId.test(id) ? [id] : [])),
  namespaces: (reader: ClusterReader) => reader.namespaceNames(),
  pauses: async (reader: ClusterReader) =>
    (await reader.pauseNames()).map((name) => `pause/${name}`),
} as const;

/** Names from the cluster that can complete a word. */
export type NameKind = keyof typeof clusterNames | 'contexts' | 'clusters' | 'users';

type Flags = GlobalFlags & Readonly<Record<string, unknown>>;

/** Nobody waits longer for a list of names. */
const requestTimeout = '3s';

/** The names that there are, in their order. */
export async function namesFrom(source: NameKind, flags: Flags): Promise<readonly string[]> {
  if (source === 'contexts' || source === 'clusters' || source === 'users') {
    const { kubeconfig } = flags;
    const names = await kubeconfigNames(
      source,
      typeof kubeconfig === 'string' ? { kubeconfig } : {},
    );
    return harmless(names);
  }
  const quick = { ...flags, requestTimeout: flags.requestTimeout ?? requestTimeout };
  const { signal } = new AbortController();
  return await withConnection({ flags: quick, interrupt: signal }, async ({ client, cluster }) => {
    const names = await clusterNames[source](new ClusterReader(client), cluster.namespace);
    return harmless([...new Set(names)].sort());
  });
}

function harmless(names: readonly string[]): readonly string[] {
  return names.filter((name) => !steering.test(name));
}

// The settings of a drain and its plan, from the flags and from the cluster as it was read.
import type { Event } from '@taintmgr/core';
import {
  type DrainPlan,
  planDrain,
  type SoloDrainConfig,
  soloDrainConfig,
} from '@taintmgr/core/drain';
import { deploymentOf, restartsBeforeItGoes } from '@taintmgr/k8s-adapter/drain';
import {
  type ClusterReader,
  comparesNumbers,
  inTurns,
  type NodeSurvey,
  ownIn,
  type PodFacts,
} from '@taintmgr/k8s-adapter/survey';
import { fieldManager } from '../../cluster/change-node.ts';
import type { DrainSettings } from './settings.ts';

/** The controller sees a mark at once; evictions that it has sent until then show within this time. */
const besideController = { handoverMs: 5_000, partners: ['taintmgr-controller'] };

/** The configuration for these nodes, with the DaemonSets that are not there any more. */
export async function readConfig(
  reader: ClusterReader,
  { nodes, pods, evictor }: NodeSurvey,
  { taint, drain, flags }: DrainSettings,
): Promise<SoloDrainConfig> {
  const leaving = pods.flatMap(({ pod }) => (pod.deletionTimestamp === null ? [] : pod.uid));
  const isBesideController = evictor.heedsDrains && taint.effect === 'NoExecute';
  const facts = nodes.map(({ node }) => node);
  return soloDrainConfig(drain, facts, {
    goneDaemonSets: await goneDaemonSets(reader, pods),
    leaving: new Set(leaving),
    fieldManager,
    comparisonOperators: comparesNumbers(evictor),
    partners: [],
    ...(isBesideController && besideController),
    // A NodeDrain always leaves pods of DaemonSets.
    leavesDaemonSets: flags.ignoreDaemonsets === true || flags.filename !== undefined,
    once: flags.once === true,
  });
}

/**
 * The plan of the drain, as things are. Where kube-controller-manager is known to evict for its
 * taint, that one comes first and asks no budgets; where it only may, budgets may hold pods.
 */
export function planOf(
  { nodes, pods, budgets, evictor, replicas }: NodeSurvey,
  config: SoloDrainConfig,
  policies: readonly Event[],
  now: number,
  restarted: ReadonlySet<string> = new Set(),
): DrainPlan {
  const ready = new Map(nodes.map(({ node, ready: { status } }) => [node.name, status]));
  const isOvertaken =
    config.spec.taint.effect === 'NoExecute' &&
    evictor.sure &&
    (evictor.name === 'kube-controller-manager' || evictor.name === 'both');
  return planDrain(now, {
    config,
    policies,
    nodes: config.targets.flatMap(
      ({ name }) => nodes.find(({ node }) => node.name === name)?.node ?? [],
    ),
    pods,
    budgets: isOvertaken ? [] : budgets,
    nodeAnswers: (name) => ready.get(name) !== 'Unknown',
    ...ownIn(evictor, replicas),
    restarted,
  });
}

/** The uids of the pods that go by a restart of their rollout, as far as we may see that. */
export async function restartedPods(
  reader: ClusterReader,
  { nodes, pods }: Pick<NodeSurvey, 'nodes' | 'pods'>,
  { spec }: DrainSettings['drain'],
): Promise<ReadonlySet<string>> {
  if (spec.pods.singleReplicas === 'Evict') return new Set();
  // On a node that takes pods the other pod might start.
  const open = nodes.filter(({ cordoned }) => spec.cordon === 'Never' && !cordoned);
  const openNames = new Set(open.map(({ node }) => node.name));
  const found = await inTurns(pods, async ({ pod }) => {
    const { uid, namespace, owner, ready, nodeName } = pod;
    const isOfSet = owner?.kind === 'ReplicaSet' && owner.apiVersion.startsWith('apps/');
    if (!isOfSet || ready !== 'True' || openNames.has(nodeName)) return [];
    const path = (plural: string, name: string): string =>
      `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(name)}`;
    const set = await reader.objectIfAllowed(path('replicasets', owner.name));
    const name = deploymentOf(set);
    if (name === null) return [];
    const deployment = await reader.objectIfAllowed(path('deployments', name));
    return restartsBeforeItGoes(set, deployment) ? [uid] : [];
  });
  return new Set(found.flat());
}

/** The DaemonSets that pods name and that are not there, as `namespace/name`. */
async function goneDaemonSets(
  reader: ClusterReader,
  pods: readonly PodFacts[],
): Promise<ReadonlySet<string>> {
  const named = new Map(
    pods.flatMap(({ pod: { namespace, owner } }) =>
      owner?.kind === 'DaemonSet' && owner.apiVersion === 'apps/v1'
        ? [[`${namespace}/${owner.name}`, { namespace, name: owner.name }] as const]
        : [],
    ),
  );
  const gone = new Set<string>();
  for (const [key, { namespace, name }] of named) {
    if (!(await reader.hasDaemonSet(namespace, name))) gone.add(key);
  }
  return gone;
}

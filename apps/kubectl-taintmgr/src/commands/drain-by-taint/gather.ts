import type { Budget, DrainConfig, DrainPlan } from '@taintmgr/core';
import { planDrain } from '@taintmgr/core';
import type { Evictors } from '@taintmgr/k8s-adapter';
import type { NodeFacts, PodFacts } from '../../cluster/facts.ts';
import { type ClusterReader, selected } from '../../cluster/reader.ts';
import { settleEffect } from './effect.ts';
import { configFor, type DrainRequest, type DrainSettings } from './settings.ts';

/** Everything that was read before a drain. */
export interface Gathered {
  readonly targets: readonly NodeFacts[];
  readonly pods: readonly PodFacts[];
  /** Null without the right to see them. */
  readonly budgets: readonly Budget[] | null;
  readonly evictors: Evictors;
  readonly config: DrainConfig;
  readonly settings: DrainSettings;
}

/** Reads the pods of the target nodes and what decides about them. */
export async function gather(
  reader: ClusterReader,
  targets: readonly NodeFacts[],
  request: DrainRequest,
): Promise<Gathered> {
  const [pods, budgets, evictors] = await Promise.all([
    podsOf(reader, targets, request),
    reader.budgets(),
    reader.evictors(),
  ]);
  const drained = targets.map(({ node }) => ({ name: node.name, zone: node.zone ?? '' }));
  const leaving = pods.flatMap(({ pod }) => (pod.deletionTimestamp === null ? [] : pod.uid));
  const settings = settleEffect(request, evictors, targets);
  const config = configFor(settings, {
    targets: drained,
    goneDaemonSets: await goneDaemonSets(reader, pods),
    leaving: new Set(leaving),
  });
  return { targets, pods, budgets, evictors, config, settings };
}

/** The pods of the target nodes that --pod-selector leaves. Throws UsageError for a wrong selector. */
export async function podsOf(
  reader: ClusterReader,
  targets: readonly NodeFacts[],
  { flags: { podSelector = '' } }: Pick<DrainRequest, 'flags'>,
): Promise<readonly PodFacts[]> {
  const names = targets.map(({ node }) => node.name);
  return await selected('--pod-selector', podSelector, () => reader.podsOn(names, podSelector));
}

/** What the drain would do, as things are. */
export function planOf({ targets, pods, budgets, config }: Gathered, now: number): DrainPlan {
  const ready = new Map(targets.map(({ node, ready: { status } }) => [node.name, status]));
  return planDrain(now, {
    config,
    nodes: targets.map(({ node }) => node),
    pods,
    budgets,
    nodeAnswers: (name) => ready.get(name) !== 'Unknown',
  });
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

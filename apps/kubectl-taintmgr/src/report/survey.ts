import type { Budget, Instant } from '@taintmgr/core';
import type { Evictors } from '@taintmgr/k8s-adapter';
import { type NodeFacts, type PodFacts, zoneSelectorLabel } from '../cluster/facts.ts';
import { type KeptLimits, readLimits } from '../cluster/limits.ts';
import type { ClusterReader, LeaseRenewal } from '../cluster/reader.ts';

/** Everything that was read for one answer, as of about one moment. */
export interface Survey {
  readonly at: Instant;
  /** The nodes that the answer is about. */
  readonly nodes: readonly NodeFacts[];
  readonly pods: readonly PodFacts[];
  /** Null without the right to see them. */
  readonly budgets: readonly Budget[] | null;
  /** When kubelets last renewed their leases, by node; of nodes whose pods were read only. */
  readonly leases: ReadonlyMap<string, LeaseRenewal>;
  /** All nodes of the zones in question; null without the right to see them. */
  readonly zoneNodes: readonly NodeFacts[] | null;
  /** Who evicts here. */
  readonly evictors: Evictors;
  /** What the controller's limits count; null: nobody keeps any, or we may not read them. */
  readonly limits: KeptLimits | null;
  /** What could not be read without permission. */
  readonly refused: readonly string[];
}

/** Reads everything about these nodes and the pods on those of them that matter. */
export async function surveyNodes(
  reader: ClusterReader,
  nodes: readonly NodeFacts[],
  withPods: readonly NodeFacts[],
  podSelector: string = '',
): Promise<Survey> {
  const names = withPods.map(({ node }) => node.name);
  const [pods, budgets, leases, zoneNodes, evictors, limits] = await Promise.all([
    reader.podsOn(names, podSelector),
    reader.budgets(),
    reader.leasesRenewedAt(names),
    readZones(reader, nodes),
    reader.evictors(),
    readLimits(reader, Date.now()),
  ]);
  return {
    at: Date.now(),
    nodes,
    pods,
    budgets,
    leases,
    zoneNodes,
    evictors,
    limits: limits === 'forbidden' ? null : limits,
    refused: reader.refused,
  };
}

/**
 * The nodes that decide how the zone is doing, where all of the nodes are in one: its own; all, where
 * they name no zone, or none of them is ready, since then it counts whether others live.
 */
async function readZones(
  reader: ClusterReader,
  nodes: readonly NodeFacts[],
): Promise<readonly NodeFacts[] | null> {
  const [zone, ...more] = new Set(nodes.map((facts) => facts.zone));
  if (zone === undefined || more.length > 0) return nodes;
  if (zone === '') return await reader.ifAllowed(() => reader.nodes());
  const selector = `${zoneSelectorLabel}=${zone}`;
  const own = await reader.ifAllowed(() => reader.nodes(selector));
  if (own === null || own.some(({ ready }) => ready.status === 'True')) return own;
  return await reader.ifAllowed(() => reader.nodes());
}

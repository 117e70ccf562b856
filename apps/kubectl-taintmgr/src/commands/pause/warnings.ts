// What would keep a new pause from holding what it is meant to hold.
import { selects, zoneName } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { type Evictors, taintEvictors } from '@taintmgr/k8s-adapter';
import type { NodeFacts } from '../../cluster/facts.ts';
import {
  evictsUnderPressure,
  pressureController,
  type TaintManager,
} from '../../cluster/taint-managers.ts';

/** Zones and labels that no node has; `nodes` null: they cannot be read. */
export function scopeWarnings(
  { scope }: EvictionPause,
  nodes: readonly NodeFacts[] | null,
): readonly string[] {
  if (nodes === null) return [];
  const known = new Set(nodes.map(({ node }) => zoneName(node.labels ?? {})));
  known.delete('');
  const names = [...known].sort().join(', ') || 'none';
  const zones = scope.zones
    .filter((zone) => !known.has(zone))
    .map((zone) => `no node is in zone ${zone}; zones of this cluster: ${names}`);
  const selector = scope.nodes;
  if (selector === null || nodes.some(({ node }) => selects(selector, node.labels ?? {}))) {
    return zones;
  }
  return [...zones, 'no node has the labels of --node-selector'];
}

/** Whoever evicts here without heeding pauses. */
export function evictorWarnings(evictors: Evictors): readonly string[] {
  const answer = taintEvictors(evictors);
  if (answer.kind === 'nobody') return [`${answer.text}; only taintmgr-controller follows pauses`];
  if (answer.agent === 'taintmgr-controller' && answer.kind === 'acts') return [];
  return [`${answer.text}; only taintmgr-controller follows pauses`];
}

/**
 * Where node-pressure-controller runs: no pause keeps it from evicting, as none keeps a kubelet from it.
 * Who names taints has not asked for that.
 */
export function pressureWarnings(
  { deadlines, scope }: EvictionPause,
  managers: readonly TaintManager[],
  now: Instant,
): readonly string[] {
  if (!deadlines || scope.taintKeys.length > 0) return [];
  const acting = managers.filter((manager) => evictsUnderPressure(manager, now));
  return acting.map(({ leader, name }) => {
    const who = `${pressureController} (${leader}, TaintManager ${name})`;
    return `${who} goes on evicting from nodes that run out of memory, disk or processes, as kubelets do; pauses do not hold that`;
  });
}

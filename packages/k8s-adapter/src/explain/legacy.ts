// The legacy mode of kube-controller-manager: pods of nodes that are not ready go without a taint.
import type { Decision } from '@taintmgr/core';
import { forecastOf, resolveLifecycleConfig } from '@taintmgr/core/lifecycle';
import { endOfSecond, type Instant } from '@taintmgr/core/time';
import type { Evictor } from '../survey/evictors.ts';
import type { NodeFacts, PodFacts } from '../survey/facts.ts';
import type { LeaseRenewal } from '../survey/lease-renewal.ts';

/** True when the acting controller deletes the pods of nodes that are not ready. */
export function isLegacy({ settings }: Evictor): boolean {
  if (!settings?.watchesNodes || settings.engine.semantics !== 'upstream-1.36') return false;
  return settings.lifecycle.enforcement === 'pods';
}

/** True when a node may lose its pods by it. */
export function isNotReady({ ready }: NodeFacts): boolean {
  return ready.status !== 'True' && ready.since !== null;
}

/**
 * The decision on a pod: it leaves this long after its node said that it is not ready, or was last
 * heard of, and no earlier than this long after the controller began. The nodes of a zone wait for
 * each other, so it may be later. The controller looks once in a period: it sees a change half of
 * one late on average, and that the time is over half of one later. Null: it stays.
 */
export function legacyDecision(
  evictor: Evictor,
  { node, ready }: NodeFacts,
  { pod }: PodFacts,
  lease: LeaseRenewal | undefined,
): Decision | null {
  const { settings, upstreamSince } = evictor;
  if (ready.since === null || ready.status === 'True' || !settings) return null;
  if (pod.deletionTimestamp !== null || pod.owner?.kind === 'DaemonSet') return null;
  const { podEvictionTimeoutMs, nodeMonitorGracePeriodMs, nodeMonitorPeriodMs } =
    resolveLifecycleConfig(settings.lifecycle);
  const changedAt = endOfSecond(ready.since);
  const heardAt = lease && lease !== 'hidden' ? lease.at : changedAt - nodeMonitorGracePeriodMs;
  const seenAt = ready.status === 'Unknown' ? Math.min(heardAt, changedAt) : changedAt;
  const since: Instant = Math.max(seenAt, upstreamSince ?? seenAt);
  const deadline = since + podEvictionTimeoutMs + nodeMonitorPeriodMs;
  const reason = { nodeName: node.name, ready: ready.status, since, deadline };
  return { kind: 'evict', deadline, because: [{ code: 'NodeNotReady', ...reason }] };
}

/**
 * True when the zone of a node loses no pods for now: all zones are down, or its rate is 0. Null:
 * the other nodes may not be seen, so it is unknown.
 */
export function isStopped(
  at: Instant,
  { settings }: Evictor,
  { node }: NodeFacts,
  zoneNodes: readonly NodeFacts[] | null,
): boolean | null {
  if (zoneNodes === null) return null;
  const nodes = zoneNodes.map((facts) => facts.node);
  const { zone } = forecastOf(at, { node, nodes, leaseRenewedAt: null }, settings?.lifecycle);
  return zone !== null && (zone.hold !== null || zone.rate === 0);
}

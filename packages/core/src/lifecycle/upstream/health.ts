import type { Instant, Millis } from '../../kernel/time.ts';
import {
  type Lease,
  mergeConditions,
  type Node,
  type NodeCondition,
  readyOf,
} from '../../model/node.ts';
import { unreachableConditions } from '../node-needs.ts';

/** The memory that upstream has of a node. Times are by its own clock. */
export interface HealthEntry {
  readonly probe: Instant;
  readonly transition: Instant;
  /** The conditions as they were when a status heartbeat was last seen. */
  readonly conditions: readonly NodeCondition[];
  readonly lease: Lease | null;
}

/** The time a node may send no heartbeat: one whose kubelet has reported, and one that never did. */
export interface GracePeriods {
  readonly nodeMonitorGracePeriodMs: Millis;
  readonly nodeStartupGracePeriodMs: Millis;
}

/** The findings of one look at a node. */
export interface Look {
  /** To be remembered, whether the write succeeds or not. */
  readonly entry: HealthEntry;
  /** The condition Ready before the look; made up for a node that has none. */
  readonly observed: NodeCondition;
  /** The condition Ready after it; null: none. */
  readonly current: NodeCondition | null;
  /** The conditions to write; null: none. */
  readonly write: readonly NodeCondition[] | null;
  /** To be remembered instead once the write has succeeded. */
  readonly written: HealthEntry;
}

/** Looks at one node: has it given a sign of life, has it sent none for too long? */
export function lookAt(
  now: Instant,
  node: Node,
  known: HealthEntry | null,
  lease: Lease | null,
  grace: GracePeriods,
): Look {
  const { conditions = [] } = node;
  const ready = readyOf(conditions);
  const createdAt = node.createdAt ?? now;
  const before = ready ? known : unreported(known, conditions, createdAt);
  const entry = withLease(now, follow(now, before, ready, conditions), before, lease);
  const length = ready ? grace.nodeMonitorGracePeriodMs : grace.nodeStartupGracePeriodMs;
  const observed = ready ?? neverReported(createdAt);
  const unreachable = now > entry.probe + length ? unreachableConditions(node, now) : [];
  // Only a change of Ready is written; the other conditions go along with it.
  const current = readyOf(unreachable);
  if (!current) return { entry, observed, current: ready, write: null, written: entry };
  const merged = mergeConditions(conditions, unreachable);
  const written = { probe: entry.probe, transition: now, conditions: merged, lease };
  return { entry, observed, current, write: unreachable, written };
}

function unreported(
  known: HealthEntry | null,
  conditions: readonly NodeCondition[],
  createdAt: Instant,
): HealthEntry {
  if (known) return { ...known, conditions };
  return { probe: createdAt, transition: createdAt, conditions, lease: null };
}

function neverReported(createdAt: Instant): NodeCondition {
  const [reason, message] = ['', ''];
  const times = { heartbeatAt: createdAt, transitionAt: createdAt };
  return { type: 'Ready', status: 'Unknown', reason, message, ...times };
}

/**
 * A status heartbeat is one with another time, even an earlier one; it makes the lease forgotten.
 */
function follow(
  now: Instant,
  before: HealthEntry | null,
  ready: NodeCondition | null,
  conditions: readonly NodeCondition[],
): HealthEntry {
  const saved = readyOf(before?.conditions);
  const fresh = { probe: now, transition: now, conditions, lease: null };
  if (!before || (!saved && ready)) return fresh;
  if (!saved || !ready || saved.heartbeatAt === ready.heartbeatAt) return before;
  const isMove = saved.transitionAt !== ready.transitionAt;
  return { ...fresh, transition: isMove ? now : before.transition };
}

/** Defect: a lease seen for the first time is a sign of life, however old it is. */
function withLease(
  now: Instant,
  entry: HealthEntry,
  before: HealthEntry | null,
  lease: Lease | null,
): HealthEntry {
  if (!lease) return entry;
  const saved = before?.lease ?? null;
  const isRenewed =
    saved?.renewedAt != null && lease.renewedAt !== null && saved.renewedAt < lease.renewedAt;
  return saved === null || isRenewed ? { ...entry, lease, probe: now } : entry;
}

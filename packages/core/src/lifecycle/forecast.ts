import { finite, type Instant, type Millis } from '../kernel/time.ts';
import { type Node, readyOf, zoneKey } from '../model/node.ts';
import { addedAt, notReadyKey, unreachableKey } from '../model/taint.ts';
import type { EvictionPause } from '../policy/values.ts';
import { type LifecycleConfig, resolveLifecycleConfig } from './config.ts';
import { decideNoExecute, type NoExecuteDecision } from './decide.ts';
import { keepsTaint } from './readiness.ts';
import type { LifecycleReason, NodeHealth, ZoneStatus } from './reason.ts';
import { ZoneLimiter } from './zone-holds.ts';

/** The view of one look at a cluster. */
export interface Observation {
  /** The node. */
  readonly node: Node;
  /** renewTime of its lease; null: it has none; `hidden`: it may have one that we may not see. */
  readonly leaseRenewedAt: Instant | 'hidden' | null;
  /** The nodes of its zone, itself among them; all nodes, where none of its zone is ready. */
  readonly nodes: readonly Node[];
  /** Left out: there are none. */
  readonly pauses?: readonly EvictionPause[];
}

/** The health of a node and its near future, and the state of its zone. */
export interface Forecast {
  /** The health of the node. */
  readonly health: NodeHealth;
  /** The state of its zone; null: unknown. */
  readonly zone: ZoneStatus | null;
}

/**
 * The health of a node as far as one look can tell, by the rules of the machine: an estimate, since
 * when a node was heard of, and whose turn it is, only a controller that has listened knows. Times
 * that others wrote are taken for ours. Throws RangeError for an option that is not allowed.
 */
export function forecastOf(
  now: Instant,
  { node, nodes, leaseRenewedAt, pauses = [] }: Observation,
  options: Partial<LifecycleConfig> = {},
): Forecast {
  const config = resolveLifecycleConfig({ ...options, massUnreachable: null });
  const key = zoneKey(node.labels ?? {});
  const inZone = nodes.filter(({ labels = {} }) => zoneKey(labels) === key);
  const limiter = limiterOf(nodes, lastTaintingOf(now, inZone), config);
  for (const other of nodes) {
    const { transitionAt } = readyOf(other.conditions) ?? {};
    const decision = decideByLook(now, other, null, limiter.isAllDown);
    const isHeld = pauseOn(now, other, decision, pauses) !== null;
    if (decision.kind === 'taint' && !isHeld)
      limiter.wait(other.name, Math.min(now, finite(transitionAt) ?? now));
  }
  const turn = limiter.turnOf(now, node.name);
  const hold = turn && limiter.holdOn(node.name);
  const { heardAt, graceMs } = signOf(node, leaseRenewedAt, config);
  const decision = decideByLook(now, node, heardAt, limiter.isAllDown);
  const pause = pauseOn(now, node, decision, pauses);
  const isUnknown = readyOf(node.conditions)?.status === 'Unknown';
  const hidden = leaseRenewedAt === 'hidden' && !isUnknown ? [leaseHidden] : [];
  const health: NodeHealth = {
    heardAt,
    unreachableAt: heardAt === null || isUnknown ? null : heardAt + graceMs,
    leaseRenewedAt: leaseRenewedAt === 'hidden' ? null : leaseRenewedAt,
    taintAt: turn?.at ?? null,
    place: turn?.place ?? null,
    because: [...decision.because, ...hidden, ...(hold ? [hold] : []), ...(pause ? [pause] : [])],
  };
  const zone = limiter.zones().find((status) => status.key === key) ?? null;
  return { health, zone };
}

/** The pause that keeps a taint from a node which would get it; null: none does. */
function pauseOn(
  now: Instant,
  node: Node,
  decision: NoExecuteDecision,
  pauses: readonly EvictionPause[],
): Extract<LifecycleReason, { code: 'ReadinessPaused' }> | null {
  const key = decision.kind === 'taint' ? decision.add[0]?.key : undefined;
  if (key === undefined) return null;
  const isRunning = ({ until }: EvictionPause): boolean => until === null || until > now;
  const pause = pauses.find((one) => isRunning(one) && keepsTaint(one, node, key));
  return pause ? { code: 'ReadinessPaused', pause: pause.name, until: pause.until } : null;
}

/** The zones as they are, with a token, as if no node had been tainted. */
function limiterOf(
  nodes: readonly Node[],
  lastTainting: Instant,
  config: LifecycleConfig,
): ZoneLimiter {
  const limiter = new ZoneLimiter(config);
  for (const node of nodes) {
    limiter.place(lastTainting, node, readyOf(node.conditions)?.status === 'True');
  }
  limiter.review(lastTainting);
  return limiter;
}

function decideByLook(
  now: Instant,
  node: Node,
  heardAt: Instant | null,
  isAllDown: boolean,
): NoExecuteDecision {
  const record = {
    uid: node.uid,
    heardAt: heardAt ?? now,
    unreachableAt: null,
    readySince: null,
    flaps: [],
    heartbeatAt: null,
    leaseRenewedAt: heardAt,
    hasReported: true,
  };
  return decideNoExecute(node, { record, recovery: { flaps: 0, until: null }, isAllDown });
}

/** When the last node of a zone was tainted; long ago where none carries such a taint. */
function lastTaintingOf(now: Instant, nodes: readonly Node[]): Instant {
  const times = nodes
    .flatMap(({ taints }) => taints)
    .filter(({ key, effect }) => effect === 'NoExecute' && ownKeys.includes(key))
    .flatMap((taint) => addedAt(taint, now) ?? []);
  return Math.min(now, Math.max(0, ...times));
}

const ownKeys: readonly string[] = [notReadyKey, unreachableKey];

const leaseHidden = { code: 'LeaseHidden' } as const;

/**
 * The last heartbeat of a node, and the grace period that counts from there. A kubelet renews its
 * lease all the time and writes its status every few minutes: without the lease the sign is
 * unknown.
 */
function signOf(
  { conditions, createdAt = null }: Node,
  leaseRenewedAt: Observation['leaseRenewedAt'],
  { nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs }: LifecycleConfig,
): { readonly heardAt: Instant | null; readonly graceMs: Millis } {
  const ready = readyOf(conditions);
  const graceMs = ready ? nodeMonitorGracePeriodMs : nodeStartupGracePeriodMs;
  if (leaseRenewedAt === 'hidden') return { heardAt: null, graceMs };
  const other = ready ? finite(ready.heartbeatAt) : createdAt;
  return { heardAt: leaseRenewedAt ?? other, graceMs };
}

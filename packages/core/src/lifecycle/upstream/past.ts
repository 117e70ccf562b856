// The memory of a kube-controller-manager that has been at work for a while, as far as the cluster shows it.
import type { ClusterTime, Instant, Millis } from '../../kernel/time.ts';
import { type Lease, type Node, readyOf } from '../../model/node.ts';
import { notReadyKey, unreachableKey } from '../../model/taint.ts';
import type { HealthEntry } from './health.ts';

/** The passes that have been: the last one, and how long after each the next came. */
export interface PastPasses {
  readonly last: Instant;
  readonly every: Millis;
  /** The controller has acted since then. */
  readonly since: Instant;
}

/**
 * The interval at which a kubelet renews its lease; the renewal before the last is that much older.
 */
const renewalMs: Millis = 10_000;

/**
 * The health entry of a node after all passes until now: its probe is the first pass after the node's last
 * sign of life. A sign after the last pass is still to be seen; what counted before is the renewal before.
 */
export function pastEntry(
  node: Node,
  lease: Lease | null,
  clock: ClusterTime,
  passes: PastPasses,
): HealthEntry {
  const { conditions = [] } = node;
  const ready = readyOf(conditions);
  const signs = [lease?.renewedAt, ready?.heartbeatAt, node.createdAt];
  const known = signs.filter((at) => at != null);
  // Nothing says when it was heard of: it counts from the beginning.
  const sign = known.length > 0 ? clock.when(Math.max(...known)) : passes.since;
  const isSeen = sign <= passes.last;
  const heard = isSeen ? sign : Math.min(sign - renewalMs, passes.last);
  const renewed = isSeen || !lease ? lease : { ...lease, renewedAt: clock.wall(heard) };
  const probe = Math.max(passes.since, firstPass(heard, passes));
  const moved = ready?.transitionAt;
  const transition = moved == null ? probe : Math.min(probe, clock.when(moved));
  return { probe, transition, conditions, lease: renewed };
}

function firstPass(after: Instant, { last, every }: PastPasses): Instant {
  return last - Math.floor((last - after) / every) * every;
}

/** When a node of these was tainted NoExecute for its health last; null: none has such a taint. */
export function lastTainted(nodes: Iterable<Node>, clock: ClusterTime): Instant | null {
  let last: Instant | null = null;
  for (const { taints } of nodes) {
    for (const { key, effect, timeAdded } of taints) {
      const isHealth = key === notReadyKey || key === unreachableKey;
      if (!isHealth || effect !== 'NoExecute' || timeAdded == null) continue;
      last = Math.max(last ?? Number.NEGATIVE_INFINITY, clock.when(timeAdded));
    }
  }
  return last;
}

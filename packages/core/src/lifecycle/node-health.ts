// What is said of a node's health, by the clock of the cluster.
import type { Instant } from '../kernel/time.ts';
import type { StoreView } from '../store.ts';
import type { HealthStore } from './health.ts';
import type { LifecycleReason, NodeHealth } from './reason.ts';
import { reasonAtWallTime } from './wall-times.ts';
import type { ZoneLimiter } from './zone-limiter.ts';

/** Where it is known, and why the node is treated as it is, by the clock of the cluster. */
export interface KnownHealth {
  readonly store: StoreView;
  readonly health: HealthStore;
  readonly limiter: ZoneLimiter;
  readonly because: readonly LifecycleReason[];
}

/** The health of a node; all its times are of the cluster's clock. */
export function nodeHealth(now: Instant, name: string, known: KnownHealth): NodeHealth {
  const { store, health, limiter, because } = known;
  const record = health.recordOf(name);
  const turn = limiter.turnOf(now, name);
  const hold = turn && limiter.holdOn(name);
  const queued =
    turn?.at != null ? [{ code: 'Queued', place: turn.place, at: turn.at } as const] : [];
  const waits: readonly LifecycleReason[] = [...queued, ...(hold ? [hold] : [])];
  const isUnreachable = record === null || record.unreachableAt !== null;
  const { clock } = store;
  const atWall = (at: Instant | null): Instant | null => at && clock.wall(at);
  return {
    heardAt: atWall(record?.heardAt ?? null),
    unreachableAt: atWall(isUnreachable ? null : health.unreachableAfter(record)),
    leaseRenewedAt: store.lease(name)?.renewedAt ?? null,
    taintAt: atWall(turn?.at ?? null),
    place: turn?.place ?? null,
    because: [...because, ...waits.map((reason) => reasonAtWallTime(reason, clock))],
  };
}

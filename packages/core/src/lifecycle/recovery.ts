import type { Instant } from '../kernel/time.ts';
import type { LifecycleConfig } from './config.ts';
import type { NodeHeartbeats } from './health.ts';

/** Whether a node that recovers has been well for long enough. */
export interface Recovery {
  readonly flaps: number;
  /** Null: it is not ready, or it has been for long enough. */
  readonly until: Instant | null;
}

/** Whether a node that is ready again has been so for long enough to lose its taint. */
export function recoveryOf(
  now: Instant,
  record: NodeHeartbeats,
  config: LifecycleConfig,
): Recovery {
  const { flapping, healthyMs } = config;
  const { readySince } = record;
  const recent = record.flaps.filter((at) => flapping && now - at <= flapping.withinMs);
  const isFlapping = flapping !== null && recent.length >= flapping.times;
  const wait = isFlapping ? Math.max(healthyMs, flapping.healthyMs) : healthyMs;
  const until = readySince === null || readySince + wait <= now ? null : readySince + wait;
  return { flaps: recent.length, until };
}

import type { Config } from '@taintmgr/core';
import { type LifecycleTerms, lifecycleDefaults } from '@taintmgr/oracle';
import type { Draw } from './draw.ts';

/** What the node lifecycle machine is configured with, and what it promises by that. */
export interface DrawnLifecycle {
  readonly config: Partial<Config>;
  readonly terms: LifecycleTerms;
}

/** Silence is judged in steps of this. */
const nodeMonitorPeriodMs = 5000;
const holdMs = 60_000;
/** How late the controller may learn of a change and act by what was before. */
const cacheAgeMsMax = 10_000;

/**
 * kube-controller-manager's own ways: it looks twice at nothing, however old its view is, marks one
 * pod after the other by what it knew when it began with the first, or never, and has a full bucket
 * whenever the state of a zone changes.
 */
export function drawUpstream(draw: Draw): DrawnLifecycle {
  const nodeEvictionRate = draw.of([0.1, 0.5]);
  return {
    config: { semantics: 'upstream-1.36', taintEviction: false, lifecycle: { nodeEvictionRate } },
    terms: {
      ...lifecycleDefaults,
      nodeEvictionRate,
      fullDisruptionRate: nodeEvictionRate,
      burst: Number.POSITIVE_INFINITY,
      lagMs: 120_000,
      podBoundMs: Number.POSITIVE_INFINITY,
      cacheAgeMsMax: Number.POSITIVE_INFINITY,
      ownKeys: ['taintmgr.dev/'],
    },
  };
}

/** Draws a configuration. */
export function drawLifecycle(draw: Draw): DrawnLifecycle {
  const suspects = draw.chance(0.4);
  const isGoverned = draw.chance(0.5);
  const holdsFullDisruption = draw.chance(0.3);
  const healthyMs = draw.weighted([
    [3, 0],
    [1, 30_000],
  ]);
  const flapping = draw.chance(0.2) ? { times: 2, withinMs: 600_000, healthyMs: 60_000 } : null;
  const rates = {
    nodeEvictionRate: draw.of([0.1, 0.5, 0.02]),
    secondaryNodeEvictionRate: draw.of([0.01, 0.05]),
    largeClusterSizeThreshold: draw.of([50, 3]),
    unhealthyZoneThreshold: draw.of([0.55, 0.34, 0.8]),
  };
  const bound = 15_000 + (suspects ? holdMs : 0);
  return {
    config: {
      lifecycle: {
        ...rates,
        nodeMonitorPeriodMs,
        massUnreachable: suspects ? { share: 0.4, nodesMin: 3, withinMs: 20_000, holdMs } : null,
        podReadiness: isGoverned ? 'limited' : 'at-once',
        fullDisruption: holdsFullDisruption ? 'hold' : 'evict',
        healthyMs,
        flapping,
      },
    },
    terms: {
      ...lifecycleDefaults,
      ...rates,
      fullDisruptionRate: holdsFullDisruption ? 0 : rates.nodeEvictionRate,
      cacheAgeMsMax,
      boundMs: bound + Math.max(healthyMs, flapping?.healthyMs ?? 0),
      podBoundMs: isGoverned ? Number.POSITIVE_INFINITY : bound,
      ownKeys: ['taintmgr.dev/'],
    },
  };
}

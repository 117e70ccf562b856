import type { Config } from '@taintmgr/core';
import {
  evictionDefaults,
  type PolicyTerm,
  type RateTerm,
  type Terms,
  type WindowTerm,
} from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';
import { taintKeys } from './tolerations.ts';

/** What the engine is configured with, and what it promises by that. */
export interface Drawn {
  readonly config: Partial<Config>;
  readonly terms: Terms;
}

/** Draws a configuration. */
export function drawConfig(draw: Draw): Drawn {
  const policy = drawPolicy(draw);
  const policies = taintKeys
    .filter(() => draw.chance(0.15))
    .map((key) => ({ key, ...drawPolicy(draw) }));
  const rates = draw.chance(0.4) ? [drawRate(draw)] : [];
  const shares = draw.chance(0.15) ? [drawShare(draw)] : [];
  const onLimit = draw.weighted<'queue' | 'trip'>([
    [5, 'queue'],
    [1, 'trip'],
  ]);
  const evictionsInFlightMax = draw.of([1, 3, 50]);
  const windows = [...shares, ...(draw.chance(0.35) ? [drawWindow(draw)] : [])];
  const trips = onLimit === 'trip';
  return {
    config: {
      ...configured(policy),
      policies: policies.map(({ key, ...term }) => ({ key, ...configured(term) })),
      limits: [...rates, ...windows].map((limit) => ({ ...limit, onLimit })),
      keepLimits: true,
      evictionsInFlightMax,
      heedNodeDeadlines: true,
    },
    terms: {
      ...evictionDefaults,
      ...policy,
      policies,
      rates: rates.map((rate) => ({ ...rate, trips })),
      windows,
      mayStop: windows.length > 0 || (trips && rates.length > 0),
    },
  };
}

/** What is promised, as the engine is told to do it. */
function configured({ minTaintAgeMs, ...term }: PolicyTerm) {
  return { ...term, minTaintAgeMs };
}

function drawPolicy(draw: Draw): PolicyTerm {
  return {
    mode: draw.weighted<PolicyTerm['mode']>([
      [4, 'delete'],
      [2, 'evict'],
      [2, 'evictThenDelete'],
    ]),
    deleteAfterMs: draw.of([0, 7000, 60_000]),
    minTaintAgeMs: draw.weighted([
      [3, 0],
      [1, draw.between(1, 20_000)],
    ]),
    gracePeriodSeconds: draw.of([null, null, null, 1, 5]),
  };
}

function drawShare(draw: Draw): WindowTerm {
  const per = draw.of(['total', 'namespace', 'node'] as const);
  return { per, percent: draw.of([1, 20, 50]), windowMs: 60_000 };
}

function drawWindow(draw: Draw): WindowTerm {
  return {
    per: draw.of(['total', 'zone', 'namespace', 'node', 'workload']),
    windowMs: draw.of([5_000, 60_000, 600_000]),
    ...draw.of([
      { percent: 10 },
      { percent: 34 },
      { pods: 1 },
      { pods: 3 },
      { percent: 50, pods: 2 },
    ]),
  };
}

function drawRate(draw: Draw): RateTerm {
  return {
    per: draw.of(['total', 'zone', 'namespace', 'node']),
    podsPerSecond: draw.of([0.2, 0.5, 1, 3]),
    burst: draw.between(1, 3),
  };
}

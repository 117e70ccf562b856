import type { Config } from '@taintmgr/core';
import {
  evictionDefaults,
  type PolicyTerm,
  type RateTerm,
  type ShareTerm,
  type Terms,
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
  const isBare = rates.length + shares.length === 0;
  return {
    config: {
      ...policy,
      policies,
      limits: [...rates, ...shares].map((limit) => ({ ...limit, onLimit })),
      evictionsInFlightMax: draw.of([1, 3, 50]),
      heedNodeDeadlines: true,
    },
    terms: {
      ...evictionDefaults,
      ...policy,
      policies,
      rates,
      shares,
      mayStop: shares.length > 0 || (onLimit === 'trip' && !isBare),
    },
  };
}

function drawPolicy(draw: Draw): PolicyTerm {
  return {
    mode: draw.weighted<PolicyTerm['mode']>([
      [4, 'delete'],
      [2, 'evict'],
      [2, 'evictThenDelete'],
    ]),
    deleteAfterMs: draw.of([0, 7000, 60_000]),
    settleMs: draw.weighted([
      [3, 0],
      [1, draw.between(1, 20_000)],
    ]),
    gracePeriodSeconds: draw.of([null, null, null, 1, 5]),
  };
}

function drawShare(draw: Draw): ShareTerm {
  return { per: draw.of(['total', 'namespace', 'node']), percent: draw.of([1, 20, 50]) };
}

function drawRate(draw: Draw): RateTerm {
  return {
    per: draw.of(['total', 'zone', 'namespace', 'node']),
    podsPerSecond: draw.of([0.2, 0.5, 1, 3]),
    burst: draw.between(1, 3),
  };
}

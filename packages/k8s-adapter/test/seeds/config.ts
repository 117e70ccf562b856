import type { Config } from '@taintmgr/core';
import type { RateTerm, Terms } from '@taintmgr/sim-cluster';
import type { Draw } from './draw.ts';

/** What the engine is configured with, and what it promises by that. */
export interface Drawn {
  readonly config: Partial<Config>;
  readonly terms: Terms;
}

/** A view of this age is looked at again; the loop's own default. */
const viewAgeMsMax = 10_000;
/**
 * A stalled watch is found out after 150 s of silence; then come a wait of up to 30 s, a list and
 * a watch, the last call's 30 s, and the last wait of a retry or of a budget.
 */
const recoveryMs = 300_000;

/** Draws a configuration. */
export function drawConfig(draw: Draw): Drawn {
  const mode = draw.weighted<Terms['mode']>([
    [4, 'delete'],
    [2, 'evict'],
    [2, 'evictThenDelete'],
  ]);
  const deleteAfterMs = draw.of([0, 7000, 60_000]);
  const settleMs = draw.weighted([
    [3, 0],
    [1, draw.between(1, 20_000)],
  ]);
  const rates = draw.chance(0.4) ? [drawRate(draw)] : [];
  return {
    config: {
      mode,
      deleteAfterMs,
      settleMs,
      limits: rates.map((rate) => ({ ...rate, onLimit: 'queue' as const })),
      evictionsInFlightMax: draw.of([1, 3, 50]),
    },
    terms: { mode, deleteAfterMs, settleMs, rates, viewAgeMsMax, recoveryMs },
  };
}

function drawRate(draw: Draw): RateTerm {
  return {
    per: draw.of(['total', 'zone', 'namespace', 'node']),
    podsPerSecond: draw.of([0.2, 0.5, 1, 3]),
    burst: draw.between(1, 3),
  };
}

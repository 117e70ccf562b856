import type { Config } from '@taintmgr/core';
import type { EvictionPolicy } from '@taintmgr/core/policy';
import {
  evictionDefaults,
  type PolicyTerm,
  type RateTerm,
  type Terms,
  type WindowTerm,
} from '@taintmgr/oracle';
import type { Draw } from './draw.ts';
import { taintKeys } from './tolerations.ts';

/** What the engine is configured with, and what it promises by that. */
export interface Drawn {
  readonly config: SeedConfig;
  readonly terms: Terms;
}

/** The configuration of an engine, and the policies that it is told of when it starts. */
export interface SeedConfig extends Partial<Config> {
  readonly policies?: readonly EvictionPolicy[];
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
      ...policy,
      policies: policies.map(({ key, ...term }) => policyOf(key, term)),
      limits: [...rates, ...windows].map((limit) => ({ ...limit, onLimit })),
      keepLimits: true,
      evictionsInFlightMax,
      heedNodeDeadlines: true,
    },
    terms: {
      ...evictionDefaults,
      ...policy,
      // What a policy leaves out is as in the configuration.
      policies: policies.map((term) => ({
        ...term,
        gracePeriodSeconds: term.gracePeriodSeconds ?? policy.gracePeriodSeconds,
      })),
      rates: rates.map((rate) => ({ ...rate, trips })),
      windows,
      mayStop: windows.length > 0 || (trips && rates.length > 0),
    },
  };
}

const actions = {
  delete: 'Delete',
  evict: 'Evict',
  'evict-then-delete': 'EvictThenDelete',
} as const;

/** What is promised for a taint, as the engine is told to do it. */
function policyOf(key: string, { mode, ...term }: PolicyTerm): EvictionPolicy {
  return {
    name: key,
    uid: '',
    generation: 1,
    priority: 0,
    match: { taints: [{ key }], nodes: null, namespaces: null, pods: null, podPriority: null },
    action: actions[mode],
    defaultTolerationSeconds: null,
    limits: [],
    ...term,
  };
}

function drawPolicy(draw: Draw): PolicyTerm {
  return {
    mode: draw.weighted<PolicyTerm['mode']>([
      [4, 'delete'],
      [2, 'evict'],
      [2, 'evict-then-delete'],
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

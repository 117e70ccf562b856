// An EvictionPolicy as the engine is given it.
import type { EvictionPolicy, LimitRule, LimitScope, PolicyMatch } from '@taintmgr/core/policy';
import { durationOf } from './engine-value.ts';
import type { EvictionPolicySpec } from './eviction-policy.ts';
import type { Metadata } from './parts.ts';

type Match = EvictionPolicySpec['match'];
type Limit = NonNullable<EvictionPolicySpec['limits']>[number];

export function evictionPolicyOf(
  { name, uid, generation }: Metadata,
  spec: EvictionPolicySpec,
): EvictionPolicy {
  const { priority, action = null, gracePeriodSeconds = null, limits = [] } = spec;
  return {
    name,
    uid,
    generation,
    priority,
    match: matchOf(spec.match),
    action,
    minTaintAgeMs: durationOf(spec.minTaintAge),
    deleteAfterMs: durationOf(spec.deleteAfter),
    gracePeriodSeconds,
    defaultTolerationSeconds: spec.defaultTolerationSeconds ?? null,
    limits: limits.map(limitOf),
  };
}

function matchOf(match: Match): PolicyMatch {
  const { taints = [], nodeSelector, namespaces, namespaceSelector, podPriority } = match;
  const { min = null, max = null, classNames = [] } = podPriority ?? {};
  return {
    taints,
    nodes: nodeSelector ?? null,
    namespaces:
      namespaces || namespaceSelector
        ? { names: namespaces ?? [], selector: namespaceSelector ?? null }
        : null,
    pods: match.podSelector ?? null,
    podPriority: podPriority ? { min, max, classes: classNames } : null,
  };
}

const scopes: Readonly<Record<Limit['per'], LimitScope>> = {
  Namespace: 'namespace',
  Node: 'node',
  Taint: 'taint',
  Total: 'total',
  Workload: 'workload',
  Zone: 'zone',
};

function limitOf({ per, nodeSelector, window, onLimit, ...others }: Limit): LimitRule {
  const windowMs = durationOf(window);
  return {
    per: scopes[per],
    ...(nodeSelector && { nodes: nodeSelector }),
    ...others,
    ...(windowMs !== null && { windowMs }),
    onLimit: onLimit === 'Trip' ? 'trip' : 'queue',
  };
}

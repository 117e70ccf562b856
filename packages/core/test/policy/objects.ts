// Policies and pauses from the few fields that matter.
import type { EvictionPause, EvictionPolicy } from '@taintmgr/core/policy';

/** A policy for everything; its action is Delete unless it says another. */
export function policyOf(name: string, fields: Partial<EvictionPolicy> = {}): EvictionPolicy {
  return {
    name,
    uid: '',
    generation: 1,
    priority: 0,
    match: { taints: [], nodes: null, namespaces: null, pods: null, podPriority: null },
    action: 'Delete',
    minTaintAgeMs: null,
    deleteAfterMs: null,
    gracePeriodSeconds: null,
    defaultTolerationSeconds: null,
    limits: [],
    ...fields,
  };
}

/** A pause of all deadlines since 0. */
export function pauseOf(
  name: string,
  {
    scope,
    ...fields
  }: Partial<Omit<EvictionPause, 'scope'>> & {
    readonly scope?: Partial<EvictionPause['scope']>;
  } = {},
): EvictionPause {
  return {
    name,
    uid: '',
    readiness: false,
    deadlines: true,
    reason: '',
    until: null,
    since: 0,
    ...fields,
    scope: { zones: [], nodes: null, taintKeys: [], namespaces: [], ...scope },
  };
}

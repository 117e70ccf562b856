// The rights that actions of policies take, and what gives them.
import type { PolicyAction } from './values.ts';

/** A verb and a resource, as `kubectl auth can-i` takes them. */
export type PodRight = 'delete pods' | 'create pods/eviction';

/** What each action takes. */
export const actionRights: Readonly<Record<PolicyAction, readonly PodRight[]>> = {
  Delete: ['delete pods'],
  Evict: ['create pods/eviction'],
  EvictThenDelete: ['create pods/eviction', 'delete pods'],
  Keep: [],
  Upstream: ['delete pods'],
};

/** What gives it to a controller that has it not. */
export const podRightRemedies: Readonly<Record<PodRight, string>> = {
  'delete pods':
    'add components/deletions to its kustomization, or set policies.deletions of its chart',
  'create pods/eviction':
    'add components/evictions to its kustomization, or set policies.evictions of its chart',
};

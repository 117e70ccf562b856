// Eviction policies: the action on the pods that a taint evicts.
import type { Millis } from '../kernel/time.ts';
import type { PolicyChoice } from './choice.ts';
import type { EvictionPolicy, PolicyAction } from './values.ts';

/** The request that makes a pod leave. */
export type EvictionMode =
  /** DELETE, as kube-controller-manager does: disruption budgets are not asked. */
  | 'delete'
  /** The Eviction API: disruption budgets are respected, for as long as it takes. */
  | 'evict'
  /** The Eviction API, and DELETE when its time is over: see deleteAfterMs and Node.deadline. */
  | 'evict-then-delete';

/** The treatment of the pods that a taint makes leave. */
export interface Policy {
  /** The request that makes a pod leave. */
  readonly mode: EvictionMode;
  /** With `evict-then-delete`: how long after the pod's deadline budgets are asked; null: for ever. */
  readonly deleteAfterMs: Millis | null;
  /** Instead of the pod's own; null: the pod's own. */
  readonly gracePeriodSeconds: number | null;
  /** A taint younger than this is not acted on: it may be gone again at once. */
  readonly minTaintAgeMs: Millis;
}

/** The rules for the pods that one taint evicts. */
export interface Governance extends Policy {
  /** The policy that counts; null: the configuration of the process. */
  readonly by: PolicyMark | null;
  /**
   * A pod with no toleration of the taint counts as one that tolerates it for this time; null: it
   * does not.
   */
  readonly defaultTolerationSeconds: number | null;
  /** A policy that may count, where that cannot be told; the pod stays then. */
  readonly undecided: EvictionPolicy | null;
}

/** Names the policy that counts, and its values. */
export interface PolicyMark {
  readonly name: string;
  readonly action: PolicyAction;
}

const modes: Readonly<Record<PolicyAction, EvictionMode | null>> = {
  Delete: 'delete',
  Evict: 'evict',
  EvictThenDelete: 'evict-then-delete',
  Keep: null,
  Request: 'evict',
  KubeControllerManager: 'delete',
};

/** The rules that follow from a choice; those that the policy leaves out are as in `fallback`. */
export function governedBy({ counts, undecided }: PolicyChoice, fallback: Policy): Governance {
  const { mode, deleteAfterMs, gracePeriodSeconds, minTaintAgeMs } = fallback;
  const process = { mode, deleteAfterMs, gracePeriodSeconds, minTaintAgeMs };
  if (!counts?.action) return { ...process, by: null, defaultTolerationSeconds: null, undecided };
  const { name, action, defaultTolerationSeconds } = counts;
  const by = { name, action };
  const isUpstream = action === 'KubeControllerManager';
  return {
    mode: modes[action] ?? mode,
    deleteAfterMs: counts.deleteAfterMs ?? deleteAfterMs,
    gracePeriodSeconds: isUpstream ? null : (counts.gracePeriodSeconds ?? gracePeriodSeconds),
    minTaintAgeMs: isUpstream ? 0 : (counts.minTaintAgeMs ?? minTaintAgeMs),
    by,
    defaultTolerationSeconds,
    undecided,
  };
}

/** A verb and a resource, as `kubectl auth can-i` takes them. */
export type PodRight = 'delete pods' | 'create pods/eviction';

/** The rights that each action takes. */
export const actionRights: Readonly<Record<PolicyAction, readonly PodRight[]>> = {
  Delete: ['delete pods'],
  Evict: ['create pods/eviction'],
  EvictThenDelete: ['create pods/eviction', 'delete pods'],
  Keep: [],
  Request: ['create pods/eviction'],
  KubeControllerManager: ['delete pods'],
};

/** The remedies that give a right to a controller that has it not. */
export const podRightRemedies: Readonly<Record<PodRight, string>> = {
  'delete pods':
    'add components/deletions to its kustomization, or set policies.deletions of its chart',
  'create pods/eviction':
    'add components/evictions to its kustomization, or set policies.evictions of its chart',
};

// The kinds of taintmgr.dev/v1alpha1.
import { evictionPauseKind, type evictionPauseStatus } from './eviction-pause.ts';
import { evictionPolicyKind, type evictionPolicyStatus } from './eviction-policy.ts';
import { nodeDrainKind } from './node-drain.ts';
import type { nodeDrainStatus } from './node-drain-status.ts';
import { nodeTaintRuleKind, type nodeTaintRuleStatus } from './node-taint-rule.ts';
import type { TypeOf } from './schema.ts';
import { taintManagerKind, type taintManagerStatus } from './taint-manager.ts';

export const policyGroup = 'taintmgr.dev';
export const policyVersion = 'v1alpha1';
/** The apiVersion of all kinds of taintmgr.dev. */
export const policyApiVersion = 'taintmgr.dev/v1alpha1';

/** The kinds of taintmgr.dev, in the order in which they are installed. */
export const policyKinds = {
  EvictionPolicy: evictionPolicyKind,
  NodeTaintRule: nodeTaintRuleKind,
  EvictionPause: evictionPauseKind,
  NodeDrain: nodeDrainKind,
  TaintManager: taintManagerKind,
} as const;

/** The name of one of our kinds. */
export type KindName = keyof typeof policyKinds;

export const kindNames = Object.keys(policyKinds) as readonly KindName[];

/** The status of each kind. */
export interface StatusOf {
  /** The status of an EvictionPolicy. */
  readonly EvictionPolicy: TypeOf<typeof evictionPolicyStatus>;
  /** The status of a NodeTaintRule. */
  readonly NodeTaintRule: TypeOf<typeof nodeTaintRuleStatus>;
  /** The status of an EvictionPause. */
  readonly EvictionPause: TypeOf<typeof evictionPauseStatus>;
  /** The status of a NodeDrain. */
  readonly NodeDrain: TypeOf<typeof nodeDrainStatus>;
  /** The status of a TaintManager. */
  readonly TaintManager: TypeOf<typeof taintManagerStatus>;
}

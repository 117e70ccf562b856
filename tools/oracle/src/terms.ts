import type { Call } from './call.ts';

/** The promises about the departure of pods. Times in milliseconds. */
export interface PolicyTerm {
  readonly mode: 'delete' | 'evict' | 'evict-then-delete';
  /** With `evict-then-delete`: the time after the deadline in which budgets are asked. */
  readonly deleteAfterMs: number;
  /** A taint younger than this is not acted on. */
  readonly minTaintAgeMs: number;
  /** The grace period that pods get; null: their own. */
  readonly gracePeriodSeconds: number | null;
}

/** The promises of a client that evicts pods, beside the plain rule. Times in milliseconds. */
export interface Terms extends PolicyTerm {
  /** For taints of a key; the first that names it counts. */
  readonly policies: readonly (Partial<PolicyTerm> & { readonly key: string })[];
  readonly rates: readonly RateTerm[];
  readonly windows: readonly WindowTerm[];
  /** A limit may hold pods back for good: of those that were there before the taint none is overdue. */
  readonly mayStop: boolean;
  /** In a zone where no node is ready deadlines stand still. */
  readonly holdsFullDisruption: boolean;
  /** On a view older than this nothing is evicted without a look at pod and node before. */
  readonly cacheAgeMsMax: number;
  /** The time after the last trouble by which everything due is done, limits not counted. */
  readonly recoveryMs: number;
  /** Only the replica that holds the lease of the election acts. */
  readonly elected: boolean;
  /** The client follows the EvictionPolicies of the cluster, which come before `policies`. */
  readonly clusterPolicies: boolean;
  /** The client decides about pods of namespaces that were handed over, and about no others. */
  readonly takeover: boolean;
  /** The pod in which the client runs, while it does: the last replica of it that works stays. */
  readonly own: OwnPod | null;
  /** The client may know the API server's clock no better than this. */
  readonly clockMs: number;
}

/** A client that does what kube-controller-manager promises, and loses nothing. */
export const evictionDefaults: Terms = {
  mode: 'delete',
  deleteAfterMs: 0,
  minTaintAgeMs: 0,
  gracePeriodSeconds: null,
  policies: [],
  rates: [],
  windows: [],
  mayStop: false,
  holdsFullDisruption: false,
  cacheAgeMsMax: 10_000,
  recoveryMs: 300_000,
  elected: false,
  clusterPolicies: false,
  takeover: false,
  own: null,
  clockMs: 0,
};

/** A pod that a client runs in; the client may move to another pod. */
export interface OwnPod {
  readonly namespace: string;
  /** Null: in none. */
  name: string | null;
}

/** The promises about pods that a taint of that key makes leave. */
export function policyFor(terms: Terms, key: string): PolicyTerm {
  return { ...terms, ...terms.policies.find((policy) => policy.key === key) };
}

/** The greatest number of evictions that may begin, in all or in each zone, namespace or node. */
export interface RateTerm {
  readonly per: 'total' | 'zone' | 'namespace' | 'node';
  readonly podsPerSecond: number;
  readonly burst: number;
  /** Nothing goes over it any more; pods that came after a taint do not count then. */
  readonly trips?: boolean;
}

/**
 * At most this share of the pods of a scope, or so many, is made to leave within any such time; one
 * always may be. A workload is what owns pods as their controller.
 */
export interface WindowTerm {
  readonly per: 'total' | 'zone' | 'namespace' | 'node' | 'workload';
  readonly percent?: number;
  readonly pods?: number;
  readonly windowMs: number;
}

/** A promise that was broken, and what shows it. */
export interface Violation {
  /** Name of the invariant. */
  readonly invariant: string;
  readonly at: number;
  readonly evidence: string;
}

/** The removals among the calls. */
export function isRemoval({ kind }: Call): boolean {
  return kind === 'deletePod' || kind === 'evictPod';
}

/** An instant as people compare it: the time of the day, with milliseconds. */
export function clockTime(instant: number): string {
  if (instant === Number.POSITIVE_INFINITY) return 'never';
  if (instant === Number.NEGATIVE_INFINITY) return 'the beginning';
  return new Date(instant).toISOString().slice(11, 23);
}

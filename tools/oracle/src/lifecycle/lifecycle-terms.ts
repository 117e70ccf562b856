/**
 * The promises of a node lifecycle controller, for its checkers. The first part is its
 * configuration under the names of kube-controller-manager's flags, the second the allowances of
 * the judge. Times in milliseconds, rates in nodes per second.
 */
export interface LifecycleTerms {
  readonly nodeMonitorGraceMs: number;
  readonly nodeStartupGraceMs: number;
  /** The rate in a zone in state Normal. */
  readonly nodeEvictionRate: number;
  /**
   * The rate in a zone in state PartialDisruption with more nodes than `largeClusterSizeThreshold`.
   */
  readonly secondaryNodeEvictionRate: number;
  readonly largeClusterSizeThreshold: number;
  readonly unhealthyZoneThreshold: number;
  /**
   * The rate in a zone without a ready node while other zones have some; 0 for a client that holds
   * it.
   */
  readonly fullDisruptionRate: number;

  /** The number of nodes that may be tainted at once after a long time without any. */
  readonly burst: number;
  /** The tokens that one node may cost its zone: 2 for a client that now and then taints twice. */
  readonly tokensPerNode: number;
  /**
   * The time after a change in which the client may still act on the state before: a monitor pass
   * and a little more.
   */
  readonly lagMs: number;
  /** On a view older than this nothing is held against a node. */
  readonly cacheAgeMsMax: number;
  /** The time after which a duty must be done in quiet times; rates are counted apart. */
  readonly boundMs: number;
  /** The same for the pods of unreachable nodes; Infinity for a client that may hold back while all nodes are unreachable. */
  readonly podBoundMs: number;
  /** Labels, annotations and taints that begin with one of these are the client's own. */
  readonly ownKeys: readonly string[];
}

/** The defaults of kube-controller-manager 1.36, judged with the tightness that it can keep to. */
export const lifecycleDefaults: LifecycleTerms = {
  nodeMonitorGraceMs: 50_000,
  nodeStartupGraceMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
  fullDisruptionRate: 0.1,
  burst: 1,
  tokensPerNode: 1,
  lagMs: 6000,
  cacheAgeMsMax: 0,
  boundMs: 15_000,
  podBoundMs: 15_000,
  ownKeys: [],
};

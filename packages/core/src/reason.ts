import type { Taint, Toleration } from './model.ts';
import type { Instant } from './time.ts';

/** Where the time of a deadline starts to count. */
export type StartSource =
  /** taint.timeAdded */
  | 'timeAdded'
  /** the taint names no time: when we first saw it */
  | 'firstSeen'
  /** the pod came to the node after the taint */
  | 'podBound';

/** Why a pod stays or goes, as data. text.ts turns it into a sentence. */
export type Reason =
  | { readonly code: 'NotBound' }
  | { readonly code: 'NodeUnknown'; readonly nodeName: string }
  | { readonly code: 'NoTaint' }
  | { readonly code: 'StaticPod' }
  | { readonly code: 'Terminating'; readonly since: Instant }
  | {
      readonly code: 'NoToleration';
      readonly taint: Taint;
      readonly start: Instant;
      readonly startSource: StartSource;
    }
  | {
      readonly code: 'TolerationExpires';
      readonly taint: Taint;
      readonly toleration: Toleration;
      readonly start: Instant;
      readonly startSource: StartSource;
      readonly deadline: Instant;
    }
  | { readonly code: 'ToleratedForever'; readonly taint: Taint; readonly toleration: Toleration }
  /** upstream-1.36 only: a timer set for taints that are there no more still runs. */
  | { readonly code: 'TimerKept' }
  /** upstream-1.36 only: it will not look at the pod again until something changes. */
  | { readonly code: 'GivenUp' };

export type ReasonCode = Reason['code'];

/** What happened that moved a deadline. */
export type Cause =
  | 'NodeChanged'
  | 'NodeDeleted'
  | 'PodChanged'
  | 'PodDeleted'
  /** while an attempt was under way the reason to evict went away or got more time */
  | 'EvictionFailed'
  /** the API server accepted the eviction, yet the pod is still there */
  | 'EvictionUnconfirmed';

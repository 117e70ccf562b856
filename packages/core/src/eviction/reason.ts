import type { NodeNotReadyReason } from '../attempt/command.ts';
import type { Instant } from '../kernel/time.ts';
import type { Taint } from '../model/taint.ts';
import type { Toleration } from '../model/toleration.ts';
import type { WorkingDrain } from '../model/working-drain.ts';
import type { PolicyMark } from '../policy/eviction-policy.ts';

/** Where the time of a deadline starts to count. */
export type StartSource =
  /** taint.timeAdded */
  | 'timeAdded'
  /** the taint names no time: when we first saw it */
  | 'firstSeen'
  /** the same, and the node's taints were last written before we saw it */
  | 'taintsWritten'
  /** moved on by the time for which deadlines were paused */
  | 'givenBack'
  /** the pod came to the node after the taint */
  | 'podBound';

/**
 * Why a pod stays or goes, as data. text.ts turns it into a sentence. `asExecuted`: the taint has
 * another effect, and the pod is judged as though it were NoExecute; a drain may do so.
 */
export type Reason =
  | { readonly code: 'NotBound' }
  /** `hidden`: the node may be there, and whoever asks may not read it. */
  | { readonly code: 'NodeUnknown'; readonly nodeName: string; readonly hidden?: true }
  | { readonly code: 'NoTaint' }
  | { readonly code: 'StaticPod' }
  | { readonly code: 'Terminating'; readonly since: Instant }
  | { readonly code: 'Finished'; readonly phase: string }
  | { readonly code: 'OptedOut' }
  /** Of the replicas of our own workload no other is ready, or stays. */
  | { readonly code: 'LastReplica'; readonly workload: string }
  /** A DaemonSet pod that tolerates the taint for a while: its successor would come straight back. */
  | { readonly code: 'ReturningDaemonSetPod' }
  /** Deadlines stand still; of several pauses that hold them, the one that lasts longest. */
  | {
      readonly code: 'Paused';
      readonly since: Instant;
      readonly pause: string;
      /** Null: until somebody ends it. */
      readonly until: Instant | null;
      /** The zone that is held as it is down: until one of its nodes is ready. Left out: no zone is. */
      readonly zone?: string;
    }
  | {
      readonly code: 'NoToleration';
      readonly taint: Taint;
      readonly asExecuted?: true;
      readonly start: Instant;
      readonly startSource: StartSource;
      /** The start, or later where a taint needs a minimum age. */
      readonly deadline: Instant;
      /** Left out: no policy counts. */
      readonly policy?: PolicyMark;
      /** The drain that would evict, were it not stale; left out: there is none. */
      readonly staleDrain?: WorkingDrain;
    }
  | {
      readonly code: 'TolerationExpires';
      readonly taint: Taint;
      readonly asExecuted?: true;
      readonly toleration: Toleration;
      /** The toleration is not the pod's: the policy gives it. */
      readonly given?: true;
      readonly start: Instant;
      readonly startSource: StartSource;
      readonly deadline: Instant;
      readonly policy?: PolicyMark;
      readonly staleDrain?: WorkingDrain;
    }
  | {
      readonly code: 'ToleratedForever';
      readonly taint: Taint;
      readonly asExecuted?: true;
      readonly toleration: Toleration;
    }
  /** The policy that counts says so. */
  | { readonly code: 'KeptByPolicy'; readonly taint: Taint; readonly policy: PolicyMark }
  /** A drain evicts the pods of this taint itself, for as long as it lives. */
  | { readonly code: 'LeftToDrain'; readonly taint: Taint; readonly drain: WorkingDrain }
  /** This policy may count: it asks for labels of a namespace that is not known (yet). */
  | {
      readonly code: 'PolicyUndecided';
      readonly taint: Taint;
      readonly policy: PolicyMark;
      readonly namespace: string;
    }
  /** With takeover: the pod's namespace is none of ours, and kube-controller-manager decides. */
  | { readonly code: 'NotTakenOver'; readonly taint: Taint; readonly namespace: string }
  /** upstream-1.36 in its legacy mode only. */
  | NodeNotReadyReason
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
  /** a policy, or the labels of the pod's namespace */
  | 'PolicyChanged'
  /** a drain that evicted the pods itself has had no heartbeat for too long */
  | 'DrainStale'
  /** another replica of our own is ready, or is no longer */
  | 'ReplicaChanged'
  /** deadlines were paused, or go on */
  | 'Paused'
  | 'Resumed'
  /** while an attempt was under way the reason to evict went away or got more time */
  | 'EvictionFailed'
  /** the API server accepted the eviction, yet the pod is still there */
  | 'EvictionUnconfirmed';

// The data of the live page: the state of a cluster, the pods due to leave and their times, recent
// departures, and the record since the page was opened.
import type {
  DeadlineSeen,
  EvictionSeen,
  HoldTrack,
  NodeSeen,
  PodOnNode,
  PodStory,
  ZoneSeen,
} from './simulation.ts';

/** The data in the page of a live cluster before the stream begins: addresses beside its own. */
export interface LiveSource {
  readonly stream: string;
  /** The address for questions of what would happen; left out: they are not answered. */
  readonly whatIf?: string;
}

/** The reason that keeps a pod that is due, or would. */
export interface LiveHold {
  /** `budget`, `limit`, `pause`, `finalizers`, `node`. */
  readonly kind: string;
  readonly name: string;
  /** In the words of explain. */
  readonly text: string;
}

/** A pod that is due to leave, is leaving, or whose fate is unknown. */
export interface LivePod extends PodOnNode {
  readonly uid: string;
  /** As explain names it. `Held`: it has `remainingSeconds` when the pause is over. `Unknown`: what decides may not be read. */
  readonly state: 'Evict' | 'Held' | 'Unknown' | 'Terminating';
  /** The start of its time, and the time it is due; null: unknown. */
  readonly setAt: number | null;
  readonly dueAt: number | null;
  readonly remainingSeconds: number | null;
  /** Timers that cannot be read decide. */
  readonly isEstimate: boolean;
  /** The controller that evicts it; null: none, or unknown. */
  readonly evictor: string | null;
  readonly because: readonly string[];
  readonly holds: readonly LiveHold[];
}

/**
 * A pod that is due to leave and for which `LiveMoment.pods` has no room, in its present state; null: there
 * is none.
 */
export type LeftOut = (pod: Pick<LivePod, 'uid' | 'namespace' | 'pod'>) => LivePod | null;

/** The state of one zone; the numbers are those of `status`. */
export interface LiveZone {
  readonly name: string;
  readonly state: string;
  /** The reason why none of its nodes is tainted; null: they are. */
  readonly held: string | null;
  readonly nodes: number;
  readonly notReady: number;
  /** Nodes with NoExecute taints. */
  readonly tainted: number;
  /** Pods that are due to leave, and of those the overdue ones. */
  readonly pending: number;
  readonly overdue: number;
  /** Pods that pauses hold. */
  readonly heldPods: number;
  /** Pods that are due and that something would hold back. */
  readonly blocked: number;
  /** Pods that should have ended and have not. */
  readonly stuck: number;
}

/** A node as it is. */
export interface LiveNode {
  readonly name: string;
  readonly zone: string;
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly cordoned: boolean;
  readonly taints: readonly string[];
}

/** A pause, a limit that counts, a drain, or a DeviceTaintRule that makes pods leave. */
export interface LiveAction {
  readonly kind: 'pause' | 'limit' | 'drain' | 'rule';
  readonly name: string;
  readonly from: number | null;
  /** When it ends by itself, as far as that is known. */
  readonly until: number | null;
  readonly text: string;
}

/** The state of a cluster at one moment. Its maker has times in milliseconds of the calendar. */
export interface LiveMoment {
  readonly at: number;
  /**
   * The controller that acts on NoExecute taints, as a sentence without its end: `taintmgr-controller evicts
   * here, leader manager-1`.
   */
  readonly evictedBy: string;
  /** The time since which it acts; null or left out: unknown. */
  readonly evictedSince?: number | null;
  /** Warnings about its accuracy. */
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly zones: readonly LiveZone[];
  readonly nodes: readonly LiveNode[];
  readonly pods: readonly LivePod[];
  /** The number of pods due to leave that `pods` leaves out. */
  readonly podsLeftOut: number;
  readonly actions: readonly LiveAction[];
}

/** A pod of which history tells that it left. */
export interface PastPod extends PodOnNode {
  /** '': unknown which pod of its name. */
  readonly uid: string;
  /** When it left, or when it was asked to, as far as that is known. */
  readonly at: number;
  readonly story: PodStory;
}

/** A time in which unknown pods may have left. */
export interface PastGap {
  /** Null: since ever. */
  readonly from: number | null;
  readonly to: number;
  readonly text: string;
}

/** The past that history knows. Its maker has times in milliseconds of the calendar. */
export interface LivePast {
  readonly pods: readonly PastPod[];
  readonly gaps: readonly PastGap[];
  /** True: history knows of earlier pods that are left out. */
  readonly isCut: boolean;
}

/** A pod that has left: seen by this page, known from history, or both. */
export interface LiveLeft extends EvictionSeen {
  readonly uid: string;
}

/** Something that happened. */
export interface LiveEvent {
  readonly at: number;
  readonly text: string;
}

/** The record since the page was opened, and of the pods that left before that. */
export interface LiveRecord {
  readonly zones: readonly ZoneSeen[];
  readonly nodes: readonly NodeSeen[];
  readonly deadlines: readonly DeadlineSeen[];
  readonly holds: readonly HoldTrack[];
  /** The last one last. */
  readonly evictions: readonly LiveLeft[];
  readonly gaps: readonly PastGap[];
  readonly events: readonly LiveEvent[];
  /** True where the oldest part was dropped for lack of room. */
  readonly isCut: boolean;
}

/** All that the page gets, at first and after each change. Times are seconds after `startsAt`. */
export interface LiveInput extends Omit<LiveMoment, 'at'> {
  /** The cluster, as the user calls it. */
  readonly source: string;
  /** Where seconds count from, in milliseconds of the calendar. */
  readonly startsAt: number;
  readonly openedAt: number;
  /** The time when the cluster was last read. */
  readonly now: number;
  /** The time since which it cannot be read; null: it can. */
  readonly lost: { readonly since: number; readonly message: string } | null;
  readonly record: LiveRecord;
}

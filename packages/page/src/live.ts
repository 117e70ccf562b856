// The data of the live page: how a cluster is, who is to leave it when, who left it lately, and what was seen of it since the page was opened.
import type {
  DeadlineSeen,
  EvictionSeen,
  HoldTrack,
  NodeSeen,
  PodOnNode,
  PodStory,
  ZoneSeen,
} from './simulation.ts';

/** What is in the page of a live cluster before anything is streamed: addresses beside its own. */
export interface LiveSource {
  readonly stream: string;
  /** Where it asks what would happen; left out: nobody answers that here. */
  readonly whatIf?: string;
}

/** What keeps a pod that is due, or would. */
export interface LiveHold {
  /** `budget`, `limit`, `pause`, `finalizers`, `node`. */
  readonly kind: string;
  readonly name: string;
  /** In the words of explain. */
  readonly text: string;
}

/** A pod that is to leave, is on its way out, or of which nobody can tell. */
export interface LivePod extends PodOnNode {
  readonly uid: string;
  /** As explain names it. `Held`: it has `remainingSeconds` when the pause is over. `Unknown`: what decides may not be read. */
  readonly state: 'Evict' | 'Held' | 'Unknown' | 'Terminating';
  /** Since when its time counts, and when it is due; null: nobody can tell. */
  readonly setAt: number | null;
  readonly dueAt: number | null;
  readonly remainingSeconds: number | null;
  /** Timers that nobody can read decide. */
  readonly isEstimate: boolean;
  /** Who makes it go; null: nobody does, or nobody can tell. */
  readonly evictor: string | null;
  readonly because: readonly string[];
  readonly holds: readonly LiveHold[];
}

/** A pod that is to leave and for which `LiveMoment.pods` has no room, as it is now; null: there is none. */
export type LeftOut = (pod: Pick<LivePod, 'uid' | 'namespace' | 'pod'>) => LivePod | null;

/** How one zone is doing; the numbers are those of `status`. */
export interface LiveZone {
  readonly name: string;
  readonly state: string;
  /** Why none of its nodes is tainted; null: they are. */
  readonly held: string | null;
  readonly nodes: number;
  readonly notReady: number;
  /** Nodes with NoExecute taints. */
  readonly tainted: number;
  /** Pods that are to go, and of those the ones that should have gone. */
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

/** How a cluster is at one moment. Who makes one has times in milliseconds of the calendar. */
export interface LiveMoment {
  readonly at: number;
  /** Who acts on NoExecute taints, as a sentence without its end: `taintmgr-controller evicts here, leader manager-1`. */
  readonly evictedBy: string;
  /** Since when; null or left out: unknown. */
  readonly evictedSince?: number | null;
  /** What a reader should know before believing it. */
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly zones: readonly LiveZone[];
  readonly nodes: readonly LiveNode[];
  readonly pods: readonly LivePod[];
  /** How many pods more are to leave than `pods` has. */
  readonly podsLeftOut: number;
  readonly actions: readonly LiveAction[];
}

/** A pod of which history tells that it left. */
export interface PastPod extends PodOnNode {
  /** '': nobody says which one of its name. */
  readonly uid: string;
  /** When it left, or when it was asked to, as far as that is known. */
  readonly at: number;
  readonly story: PodStory;
}

/** A time in which pods may have left, and nobody says which. */
export interface PastGap {
  /** Null: since ever. */
  readonly from: number | null;
  readonly to: number;
  readonly text: string;
}

/** The past that history knows. Who makes one has times in milliseconds of the calendar. */
export interface LivePast {
  readonly pods: readonly PastPod[];
  readonly gaps: readonly PastGap[];
  /** True: history knows of earlier pods that are left out. */
  readonly isCut: boolean;
}

/** A pod that has left: by what was seen, by what history tells, or by both. */
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
  /** Whether the oldest of it was forgotten, as there is only room for so much. */
  readonly isCut: boolean;
}

/** All that the page gets, at first and after each change. Times are seconds after `startsAt`. */
export interface LiveInput extends Omit<LiveMoment, 'at'> {
  /** The cluster, as the user calls it. */
  readonly source: string;
  /** Where seconds count from, in milliseconds of the calendar. */
  readonly startsAt: number;
  readonly openedAt: number;
  /** When the cluster was read last. */
  readonly now: number;
  /** Since when it cannot be read; null: it can. */
  readonly lost: { readonly since: number; readonly message: string } | null;
  readonly record: LiveRecord;
}

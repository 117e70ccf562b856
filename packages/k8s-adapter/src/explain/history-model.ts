// The story of a pod that left or is leaving, and its parts: who, when, the replacement, each with
// its source.
import type { EvictionRequest } from '@taintmgr/core/drain';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Departure, EvictorKind, Gap, Owner } from '../history/departure.ts';
import type { EventTrace, NodeTrace, PodTrace } from './history-traces.ts';

/** Where a statement comes from. */
export interface Source {
  /**
   * `record`: what a leader of taintmgr-controller has written down. `deletion`: fields that only
   * the API server writes on a pod, such as deletionTimestamp. All others can be written by any
   * client with a common right: a `condition` with pods/status, an `event` with create events, a
   * `node` with patch nodes.
   */
  readonly kind: 'record' | 'deletion' | 'condition' | 'event' | 'node' | 'request' | 'pod';
  /** As it stands in brackets: `Event Preempted of default-scheduler`. */
  readonly name: string;
}

/** `workload`: its owner deleted it, as when it is scaled down. `nodeLost`: who deletes pods of nodes that are lost. */
export type ClaimKind = EvictorKind | 'workload' | 'nodeLost';

/** The claim that a program made the pod leave. */
export interface Claim {
  readonly kind: ClaimKind;
  /** The noun after `by`. */
  readonly who: string;
  /** The rest of the claim beside `who`; '': nothing. */
  readonly detail: string;
  /** Null: it does not say when. */
  readonly at: Instant | null;
  /** The sources that say so, the most reliable first. */
  readonly sources: readonly Source[];
}

/** Something that happened. */
export interface Moment {
  readonly at: Instant;
  /** Left out: once. */
  readonly until?: Instant;
  readonly text: string;
  readonly source: Source;
}

/** The next pod of the owner of one that left. */
export interface Successor {
  readonly pod: string;
  /** '': unknown. */
  readonly uid: string;
  /** '': none yet, or unknown. */
  readonly node: string;
  readonly createdAt: Instant | null;
  readonly boundAt: Instant | null;
  readonly readyAt: Instant | null;
  /** Null: unknown. */
  readonly isReady: boolean | null;
  /** Others of its owner left within the same seconds: any of those that came then may be meant. */
  readonly isOneOfSeveral: boolean;
  readonly source: Source;
}

/** A departure, and who tells of it; left out: what leaders keep in the cluster. */
export type ToldDeparture = Departure & { readonly toldBy?: Source };

/** The sources as read; null: the source may not be read, or there is none. */
export interface HistorySources {
  /** When the sources were read, in milliseconds since the Unix epoch. */
  readonly at: Instant;
  /** The departures that leaders and flight records keep. */
  readonly departures: readonly ToldDeparture[];
  /** Times of which no records are kept. */
  readonly gaps: readonly Gap[];
  /** All that a leader knew then is among `departures`, but for gaps; left out: there are no records, or not all of them. */
  readonly recordsUntil?: Instant | null;
  /** All pods of the namespaces in question, read after the Events: who is not there is gone. */
  readonly pods: readonly PodTrace[] | null;
  /** Kubernetes Events about pods. */
  readonly events: readonly EventTrace[] | null;
  /** By name; null: there is none of that name any more. A node that may not be read is left out. */
  readonly nodes: ReadonlyMap<string, NodeTrace | null>;
  /** EvictionRequests. */
  readonly requests: readonly EvictionRequest[];
}

/**
 * - `gone`: the API server does not have the pod any more
 * - `leaving`: it is deleted, and its grace period runs or something holds it
 * - `failed`: it has ended on its node and is still in the API
 * - `marked`: a program has marked it for deletion, and it is not deleted
 * - `unseen`: pods may not be read
 */
export type StoryState = 'gone' | 'leaving' | 'failed' | 'marked' | 'unseen';

export interface StoryTaint {
  /** `key=value:effect`; of a device with its name. */
  readonly name: string;
  readonly source: Source;
  /** False: it is the only one that it can have been. */
  readonly isSaid: boolean;
  readonly since: Instant | null;
  /** The program that put it on; null: unknown. */
  readonly setBy: string | null;
}

/** A pod that left or is leaving. */
export interface Story {
  /** The namespace of the pod. */
  readonly namespace: string;
  /** The name of the pod. */
  readonly pod: string;
  /** '': no source says which one of that name. */
  readonly uid: string;
  /** '': no source says where it was. */
  readonly node: string;
  /** The owner of the pod; null: none, or no source says. */
  readonly owner: Owner | null;
  /** The progress of the departure. */
  readonly state: StoryState;
  /** When it was asked to leave, and the source; null: no source says. */
  readonly askedAt: { readonly at: Instant; readonly source: Source } | null;
  /** When the pod was gone; null: it is not, or no source says. */
  readonly goneAt: Instant | null;
  /** Who made it leave; null: no source says. */
  readonly by: Claim | null;
  /** Other sources name another program. */
  readonly others: readonly Claim[];
  /** The hints at the evictor, where only the way is known. */
  readonly hints: readonly string[];
  /** The taint for which the pod left; null: none, or no source says. */
  readonly taint: StoryTaint | null;
  /** The EvictionPolicy that applied; null: none, or no source says. */
  readonly policy: string | null;
  /** The known moments, the earliest first. */
  readonly moments: readonly Moment[];
  /** Of one that is leaving: when its grace period is over, and the finalizers that hold it. */
  readonly leaving: {
    readonly graceEnds: Instant;
    readonly graceMs: Millis | null;
    readonly finalizers: readonly string[];
  } | null;
  /** The next pod of its owner. */
  readonly successor: Successor | null;
  /** The questions that no source answers. */
  readonly unknown: readonly string[];
}

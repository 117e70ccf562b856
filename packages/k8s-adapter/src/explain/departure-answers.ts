// The shapes of answers about pods that left, as JSON. Times are RFC 3339 in UTC; a missing field is
// unknown, or there is none.
import type { Owner } from '@taintmgr/core/model';
import type { Gap } from '../history/departure.ts';
import type { Claim, Story } from './history-model.ts';

/** The answer about pods that left or are leaving. */
export interface DepartureList {
  /** The version of this form. */
  readonly apiVersion: 'taintmgr.dev/v1alpha1';
  readonly kind: 'DepartureList';
  /** The time at which the cluster was read, by the caller's clock. */
  readonly observedAt: string;
  /** By when they were asked to leave, the earliest first. */
  readonly items: readonly DepartureDocument[];
  /** Times of which no records are kept. */
  readonly gaps: readonly GapDocument[];
}

/** A pod that left or is leaving, as JSON. Times are RFC 3339. */
export interface DepartureDocument {
  /** The namespace of the pod. */
  readonly namespace: string;
  /** The name of the pod. */
  readonly pod: string;
  /** Left out: no source says. */
  readonly uid?: string;
  /** Left out: no source says. */
  readonly node?: string;
  /** Left out: none, or no source says. */
  readonly owner?: Pick<Owner, 'kind' | 'name'>;
  /** The progress of the departure. */
  readonly state: Story['state'];
  /** When it was asked to leave, RFC 3339; left out: no source says. */
  readonly askedAt?: string;
  /** When it was gone, RFC 3339; left out: it is not, or no source says. */
  readonly goneAt?: string;
  /** The program that made it leave, and the sources; left out: no source says. */
  readonly by?: ClaimDocument;
  /** The claims of other sources. */
  readonly contradictedBy?: readonly ClaimDocument[];
  /** Hints at that program, where only the way is known. */
  readonly hints?: readonly string[];
  /** `said`: false where it is inferred from what the node has. */
  readonly taint?: {
    readonly name: string;
    readonly said: boolean;
    /** RFC 3339. */
    readonly since?: string;
    /** The program that set the taint. */
    readonly setBy?: string;
    readonly source: string;
  };
  /** The EvictionPolicy that applied. */
  readonly policy?: string;
  /** Of a pod that is still leaving: when its grace period ends (RFC 3339), and its finalizers. */
  readonly terminating?: {
    readonly graceEnds: string;
    readonly graceSeconds?: number;
    readonly finalizers?: readonly string[];
  };
  /** The known moments, the earliest first; times are RFC 3339. */
  readonly times: readonly {
    readonly at: string;
    /** The last of several. */
    readonly until?: string;
    readonly what: string;
    readonly source: string;
  }[];
  /** `certain`: false where others left within the same seconds, and one of those that came then may be meant. */
  readonly successor?: {
    readonly pod: string;
    readonly uid?: string;
    readonly node?: string;
    readonly createdAt?: string;
    readonly boundAt?: string;
    readonly readyAt?: string;
    readonly ready?: boolean;
    readonly certain: boolean;
    readonly source: string;
  };
  /** Questions that no source answers, in words. */
  readonly notKnown?: readonly string[];
  /** The answer in a sentence or two. */
  readonly summary: string;
}

/** A program that made a pod leave, and the sources that name it. */
export interface ClaimDocument {
  readonly kind: Claim['kind'];
  readonly who: string;
  readonly detail?: string;
  readonly at?: string;
  readonly sources: readonly string[];
}

/** A time of which no records are kept; `from` left out: since ever. Times are RFC 3339. */
interface GapDocument {
  readonly from?: string;
  readonly to: string;
  readonly why: Gap['why'];
  readonly leader?: string;
  readonly namespace?: string;
  readonly count?: number;
}

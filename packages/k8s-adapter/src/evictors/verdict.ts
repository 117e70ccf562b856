import type { Instant, Millis } from '@taintmgr/core/time';

/** The work that must not be done twice, by kube-controller-manager's names for it. */
export const duties = ['taint-eviction-controller', 'node-lifecycle-controller'] as const;

export type Duty = (typeof duties)[number];

/** What one look shows of a leader election lease. */
export interface LeaseSight {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** '' where it was given back. */
  readonly holder: string;
  /** How long a renewal counts, by the holder's own word. */
  readonly duration: Millis;
  /** When it was renewed, by the holder's clock. */
  readonly renewedAt: Instant | null;
  /** When its holder became the leader, by the holder's clock. */
  readonly acquiredAt: Instant | null;
  /** The controllers that its holder runs, as its annotation says; left out: it does not say. */
  readonly controllers?: readonly string[];
}

/** `uncertain`: neither seen to change, nor renewed lately by the API server's time. */
export type LeaseLife = 'alive' | 'stale' | 'released' | 'uncertain';

/** One thing that was seen, or could not be. */
export type Evidence =
  | {
      readonly kind: 'lease';
      readonly lease: LeaseSight;
      readonly life: LeaseLife;
      /** How long ago it was renewed, by the API server's time; null: not known. */
      readonly age: Millis | null;
      /** Whoever may write leases in its namespace may have written it; left out: that is proof. */
      readonly isUnproven?: true;
    }
  | { readonly kind: 'noLease'; readonly name: string }
  /** The leader of taintmgr-controller says so itself, by the heartbeat of its TaintManager. */
  | {
      readonly kind: 'published';
      readonly name: string;
      readonly leader: string;
      /** Since when it leads; null: it does not say. */
      readonly startedAt: Instant | null;
      /** How long ago it last said so. */
      readonly age: Millis;
      /** The controllers that it runs; left out: it does not say. */
      readonly controllers?: readonly string[];
    }
  /** A pod that runs it; `says`: the flag that decides about the duty, null: its default does. */
  | {
      readonly kind: 'pod';
      readonly namespace: string;
      readonly name: string;
      readonly uid: string;
      readonly says: string | null;
      /** Whether it does the duty, by its flags; left out: they leave it open. */
      readonly runs?: boolean;
      /** The kubelet of any node may have made it; left out: its flags are proof. */
      readonly isUnproven?: true;
      /** Whether its flags let tolerations with Lt and Gt count; left out: its flags leave that open. */
      readonly comparesNumbers?: boolean;
      /** When its process started, by the kubelet's clock; null: it does not say. */
      readonly startedAt: Instant | null;
    }
  | { readonly kind: 'noPod' }
  /** Marks of evictions on pods of several nodes, which no single kubelet can write. */
  | { readonly kind: 'seen'; readonly text: string }
  /**
   * Events of taint-eviction-controller about pods that it has evicted. Whoever may write Events may
   * have written them: they are a hint and no proof.
   */
  | { readonly kind: 'events'; readonly pods: number; readonly age: Millis }
  /** A pod of our own on a Node of our own with a taint: whether somebody else has evicted it. */
  | { readonly kind: 'probe'; readonly evicted: boolean; readonly age: Millis }
  /** The administrator says whether it does the duty; `by`: the flag or the TaintManager that has it. */
  | { readonly kind: 'declared'; readonly by: string; readonly runs: boolean }
  /** It has no pod of its own in this kind of cluster; `version` is the API server's. */
  | { readonly kind: 'embedded'; readonly version: string }
  /** We may not look; `right` is what it takes. */
  | { readonly kind: 'forbidden'; readonly right: string };

/**
 * Whether somebody else does a duty of ours, and how sure that is. `unknown` is what nobody could
 * see, with whoever may be doing it where at least that is known; it is never as good as
 * `doesNotAct`.
 */
export type DutyVerdict =
  | { readonly kind: 'acts'; readonly who: string; readonly evidence: readonly Evidence[] }
  | { readonly kind: 'doesNotAct'; readonly evidence: readonly Evidence[] }
  | {
      readonly kind: 'unknown';
      readonly who: string | null;
      readonly evidence: readonly Evidence[];
    };

/** Who evicts here beside the one who asks, as far as that is seen, declared or proved. */
export interface Evictors {
  readonly upstream: Readonly<Record<Duty, DutyVerdict>>;
  /** Installations of taintmgr-controller, other than the asker's own. */
  readonly taintmgr: DutyVerdict;
}

// What an election goes by, what goes into it and what comes out.
import type { Failure } from '../../proto/answer.ts';
import type { RequestEffect } from '../../proto/api-request.ts';
import type { Random } from '../../proto/backoff.ts';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import type { ExchangeInput } from '../../proto/exchange.ts';
import type { LeaseName } from '../../proto/lease-requests.ts';
import type { WallClock } from '../clock/server-clock.ts';
import type { ElectionTiming } from './election-timing.ts';

/** Who stands for election, and for what. */
export interface ElectionOptions {
  readonly lease: LeaseName;
  /** Must be another for each candidate and each start of it, e.g. host name and a UUID. */
  readonly identity: string;
  readonly timing?: ElectionTiming;
  readonly random: Random;
  /** What is written into the lease is dated by it; left out: `now` as it is. */
  readonly clock?: WallClock;
  /** What the holder says of itself on the lease; left out: nothing. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export type ElectionInput =
  | { readonly kind: 'start' }
  /** Give the lease back, if we hold it, and end. Whatever the leader does must be over by then. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'tick' }
  /** The machine's wall clock was set, or the machine was suspended. */
  | { readonly kind: 'clockStep' }
  | ExchangeInput;

export type ElectionEffect =
  | RequestEffect
  /** From now on we lead, or do not any more. */
  | { readonly kind: 'leadership'; readonly held: boolean }
  /** To be recorded in the cluster. */
  | { readonly kind: 'event'; readonly event: ClusterEvent }
  | { readonly kind: 'notice'; readonly notice: ElectionNotice };

export type ElectionNotice =
  /** Somebody, maybe we ourselves, holds the lease now. */
  | { readonly kind: 'leaderElected'; readonly identity: string }
  | { readonly kind: 'leadershipLost'; readonly why: string }
  /** The lease could not be read or written; reported once for as long as it goes on alike. */
  | { readonly kind: 'electionFailing'; readonly failure: Failure };

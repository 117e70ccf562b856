import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { Failure } from '../../proto/answer.ts';
import type { RequestEffect } from '../../proto/api-request.ts';
import type { Random } from '../../proto/backoff.ts';
import type { ClusterEvent } from '../../proto/event-requests.ts';
import type { ExchangeInput } from '../../proto/exchange.ts';
import type { LeaseName } from '../../proto/lease-requests.ts';
import type { WallClock } from '../clock/server-clock.ts';

/** How long leadership lasts without a renewal, and how often a renewal is tried. */
export interface ElectionTiming {
  /** How long the others wait after the last renewal they saw; whole seconds. */
  readonly lease: Millis;
  /** How long a leader goes on after its last renewal. */
  readonly renewDeadline: Millis;
  /** From one renewal to the next; the longest time between two looks of a standby. */
  readonly retry: Millis;
}

/** client-go's defaults, and kube-controller-manager's. */
export const defaultElectionTiming: ElectionTiming = {
  lease: 15_000,
  renewDeadline: 10_000,
  retry: 2000,
};

/** client-go adds up to this much chance to a retry period, and demands room for it. */
const jitterFactor = 1.2;

/** Why leadership could not be kept or handed over with this timing; null when it could. */
export function timingFault({ lease, renewDeadline, retry }: ElectionTiming): string | null {
  const [whole, deadline] = [formatDuration(lease), formatDuration(renewDeadline)];
  if (lease < 1000 || lease % 1000 !== 0) return 'the lease must last whole seconds, at least 1s';
  if (retry < 1) return 'the retry period must be longer than 0s';
  if (lease <= renewDeadline) {
    return `the lease (${whole}) must last longer than the renew deadline (${deadline})`;
  }
  if (renewDeadline <= jitterFactor * retry) {
    return `the renew deadline (${deadline}) must be longer than ${jitterFactor} retry periods`;
  }
  return null;
}

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

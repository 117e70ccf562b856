// What a candidate writes into the lease of an election.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Lease, LeaseClaim } from '../../proto/lease-requests.ts';

/** Takes the lease or renews it; `lease`: as it stands there, null: there is none. `at`: what clocks show. */
export function claimOf(
  at: Instant,
  lease: Lease | null,
  identity: string,
  duration: Millis,
): LeaseClaim {
  const transitions = lease?.transitions ?? 0;
  const claim = { holder: identity, duration, renewedAt: at };
  if (lease?.holder === identity) return { ...claim, acquiredAt: null, transitions };
  return { ...claim, acquiredAt: at, transitions: lease ? transitions + 1 : 0 };
}

/** Gives it back: it is free at once. */
export function releaseOf(at: Instant, lease: Lease | null): LeaseClaim {
  const transitions = lease?.transitions ?? 0;
  return { holder: '', duration: 1000, renewedAt: at, acquiredAt: at, transitions };
}

import type { Instant, Millis } from '@taintmgr/core/time';
import type { LeaseLife, LeaseSight } from './verdict.ts';

/** One state of a lease, and since when we have been seeing it. */
interface Sighting {
  readonly resourceVersion: string;
  /** On our monotonic clock. */
  readonly since: Millis;
  /** Whether we saw it come, so that the holder was alive at that time. */
  readonly cameWhileLooking: boolean;
}

/** A lease that is renewed may look at most so old, by the holder's own word. */
const toleratedLeases = 2;
/** A renewal that old is no mistake of a clock. */
const clockErrorMax: Millis = 24 * 3_600_000;

/**
 * Whether the holders of leases are alive, seen by change and never by our clock. A lease that
 * changes between two looks is renewed, whatever any clock says; one that does not change for its
 * own duration is not. Only the first look at a lease has nothing to compare with: it goes by the
 * API server's time, never by ours, and is `uncertain` where the holder's clock may be wrong, until
 * a second look.
 */
export class LeaseLives {
  readonly #seen = new Map<string, Sighting>();

  /** `now` is monotonic; `serverTime` is what the API server said with the lease, null: nothing. */
  judge(now: Millis, serverTime: Instant | null, lease: LeaseSight): LeaseLife {
    const key = `${lease.namespace}/${lease.name}`;
    const known = this.#seen.get(key);
    const { resourceVersion } = lease;
    if (known?.resourceVersion !== resourceVersion) {
      const cameWhileLooking = known !== undefined;
      this.#seen.set(key, { resourceVersion, since: now, cameWhileLooking });
    }
    if (lease.holder === '') return 'released';
    if (known === undefined) return byServerTime(serverTime, lease);
    if (known.resourceVersion !== resourceVersion) return 'alive';
    if (now - known.since > lease.duration) return 'stale';
    if (known.cameWhileLooking) return 'alive';
    const life = byServerTime(serverTime, lease);
    // It has not moved since we looked, so what it says of old is believed.
    return life === 'uncertain' && serverTime !== null ? 'stale' : life;
  }
}

function byServerTime(
  serverTime: Instant | null,
  { renewedAt, duration }: LeaseSight,
): 'alive' | 'stale' | 'uncertain' {
  if (serverTime === null || renewedAt === null) return 'uncertain';
  const age = serverTime - renewedAt;
  if (Math.abs(age) <= toleratedLeases * duration) return 'alive';
  return age > clockErrorMax ? 'stale' : 'uncertain';
}

// The lease of an election as it was last seen, and since when it is so.
import type { Instant } from '@taintmgr/core/time';
import type { EventSubject } from '../../proto/event-requests.ts';
import type { Lease, LeaseName } from '../../proto/lease-requests.ts';

interface Observation {
  readonly lease: Lease;
  readonly spec: string;
  /** When we first saw this spec, on our own clock. */
  readonly since: Instant;
}

/** What is known of the lease. Since when it is as it is counts by our own clock, whatever is written there. */
export class ObservedLease {
  #last: Observation | null = null;

  /** Who holds it as far as we know; '' when nobody does. */
  get holder(): string {
    return this.#last?.lease.holder ?? '';
  }

  /** When anybody may take it, if it does not change until then. */
  get freeAt(): Instant {
    const known = this.#last;
    return known ? known.since + known.lease.duration : Number.NEGATIVE_INFINITY;
  }

  /** Takes it in as it was read; whether somebody holds it who did not before. */
  see(now: Instant, lease: Lease): boolean {
    const spec = JSON.stringify(lease.object.spec) ?? '';
    const before = this.#last;
    this.#last = { lease, spec, since: before?.spec === spec ? before.since : now };
    return lease.holder !== '' && lease.holder !== before?.lease.holder;
  }

  /** There is none. */
  forget(): void {
    this.#last = null;
  }

  /** What Events about the election are about. */
  subject(name: LeaseName): EventSubject {
    const { uid = '', resourceVersion } = this.#last?.lease ?? {};
    return {
      ...{ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', ...name, uid },
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
  }
}

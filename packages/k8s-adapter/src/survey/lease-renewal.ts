// When the kubelet of a node renewed its lease, by the API server's clock, and what its own clock says beside it.
import { formatDuration, type Instant, type Millis, parseTime } from '@taintmgr/core/time';
import type { LeaseObject } from './facts.ts';

/** The last renewal of a lease; null: there is none; `hidden`: we have no permission to read it. */
export type LeaseRenewal = Renewal | 'hidden' | null;

interface Renewal {
  /** By the API server's clock where managedFields have it, else by the node's own. */
  readonly at: Instant;
  /** So far the node's clock is ahead of the API server's; negative: behind; 0: nothing shows that it is apart. */
  readonly clockAhead: Millis;
}

/** managedFields have whole seconds, and a request takes its time. */
const skewTolerated: Millis = 5000;

/** Reads a lease; null where it was never renewed. */
export function leaseRenewal({ metadata, spec }: LeaseObject, now: Instant): Renewal | null {
  const renewed = parseTime(spec?.renewTime ?? '');
  if (renewed === null) return null;
  const times = (metadata.managedFields ?? []).flatMap(({ time = '', fieldsV1 }) => {
    const written = parseTime(time);
    return written !== null && fieldsV1?.['f:spec']?.['f:renewTime'] !== undefined ? [written] : [];
  });
  // Without them only a time that is yet to come shows that a clock is apart.
  const written = times.length === 0 ? Math.min(now, renewed) : Math.max(...times);
  const ahead = renewed - (written + 1000);
  const clockAhead = ahead > 0 ? ahead : Math.min(0, renewed - written);
  return {
    at: Math.min(now, written),
    clockAhead: Math.abs(clockAhead) > skewTolerated ? clockAhead : 0,
  };
}

/** `1h ahead of the API server's`; null: nothing shows that the node's clock is apart. */
export function nodeClockText(lease: LeaseRenewal | undefined): string | null {
  if (!lease || lease === 'hidden' || lease.clockAhead === 0) return null;
  const { clockAhead } = lease;
  const apart = formatDuration(Math.abs(clockAhead));
  return `${apart} ${clockAhead > 0 ? 'ahead of' : 'behind'} the API server's`;
}

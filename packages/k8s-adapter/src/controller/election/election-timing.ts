import { formatDuration, type Millis } from '@taintmgr/core/time';

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

import type { ClusterTime } from '../kernel/cluster-clock.ts';
import type { HoldReason, LifecycleReason, LifecycleReport, ZoneStatus } from './reason.ts';

// Converts reasons from the machine's own time to the cluster's clock, once, where they leave the
// machine. A rule's reason is by that clock already.

/** Why a node is or is not tainted. */
export function reasonAtWallTime(reason: LifecycleReason, clock: ClusterTime): LifecycleReason {
  switch (reason.code) {
    case 'Unreachable':
      return { ...reason, heardAt: clock.wall(reason.heardAt) };
    case 'Recovering':
      return { ...reason, until: clock.wall(reason.until) };
    case 'Queued':
      return { ...reason, at: clock.wall(reason.at) };
    case 'MassUnreachable':
    case 'FullDisruptionHeld':
    case 'ViewOld':
      return holdAtWallTime(reason, clock);
    default:
      return reason;
  }
}

/** Why a zone is held. */
function holdAtWallTime(hold: HoldReason, clock: ClusterTime): HoldReason {
  switch (hold.code) {
    case 'MassUnreachable':
      return { ...hold, until: clock.wall(hold.until) };
    case 'FullDisruptionHeld':
    case 'ViewOld':
      return { ...hold, since: clock.wall(hold.since) };
    default:
      return hold;
  }
}

export function zoneAtWallTime(zone: ZoneStatus, clock: ClusterTime): ZoneStatus {
  return { ...zone, hold: zone.hold && holdAtWallTime(zone.hold, clock) };
}

/** What a review of the zones has to say. */
export function reportAtWallTime(report: LifecycleReport, clock: ClusterTime): LifecycleReport {
  switch (report.kind) {
    case 'zone':
      return { ...report, zone: zoneAtWallTime(report.zone, clock) };
    case 'zoneHold':
      return { ...report, hold: report.hold && holdAtWallTime(report.hold, clock) };
    default:
      return report;
  }
}

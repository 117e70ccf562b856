import { formatDeadline, formatTime } from '../kernel/time.ts';
import type { HoldReason, LifecycleReason } from './reason.ts';

/** One reason of the node lifecycle in words, as explanations and logs print it. */
export function describeLifecycleReason(reason: LifecycleReason): string {
  switch (reason.code) {
    case 'Ready':
      return 'the kubelet reports Ready';
    case 'KubeletNotReady':
      return 'the kubelet reports NotReady';
    case 'NotReported':
      return 'the kubelet has not reported yet';
    case 'Unreachable':
      return `no heartbeat since ${formatTime(reason.heardAt)}`;
    case 'Unknown':
      return 'the kubelet stopped reporting';
    case 'LeaseHidden':
      return 'unknown (no permission to read leases)';
    case 'Recovering':
      return reason.flaps > 0
        ? `ready again, must stay ready until ${formatDeadline(reason.until)} (not ready ${reason.flaps} times recently)`
        : `ready again, must stay ready until ${formatDeadline(reason.until)}`;
    case 'Queued':
      return `number ${reason.place} in the queue of its zone, expected at ${formatDeadline(reason.at)}`;
    case 'ReadinessPaused':
      return reason.until === null
        ? `tainting is paused by ${reason.pause}`
        : `tainting is paused by ${reason.pause} until ${formatDeadline(reason.until)}`;
    case 'ConditionRule':
      return `rule ${reason.rule}: ${reason.condition} since ${formatTime(reason.since)}`;
    default:
      return describeHold(reason);
  }
}

/** Why a zone is held, in words. */
export function describeHold(hold: HoldReason): string {
  switch (hold.code) {
    case 'AllZonesDown':
      return 'all zones are down: the controller itself may be cut off';
    case 'ZoneStopped':
      return `stopped: ${hold.notReady} of ${hold.size} nodes in the zone are not ready`;
    case 'FullDisruptionHeld':
      return 'the whole zone is down, and such zones are held until one of their nodes is ready';
    case 'RateZero':
      return 'the eviction rate for this zone is 0';
    case 'MassUnreachable':
      return `${hold.nodes} nodes became unreachable at once: held until ${formatDeadline(hold.until)}`;
    case 'ViewOld':
      return `the cache has been stale since ${formatTime(hold.since)}`;
  }
}

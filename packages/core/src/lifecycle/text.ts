import { formatTime } from '../time.ts';
import type { HoldReason, LifecycleReason } from './reason.ts';

/** One reason in words, as explanations and logs print it. */
export function describeLifecycleReason(reason: LifecycleReason): string {
  switch (reason.code) {
    case 'Ready':
      return 'its kubelet says it is ready';
    case 'KubeletNotReady':
      return 'its kubelet says it is not ready';
    case 'NotReported':
      return 'its kubelet has not reported yet';
    case 'Silent':
      return `no sign of life since ${formatTime(reason.heardAt)}`;
    case 'Unknown':
      return 'its kubelet stopped reporting';
    case 'Recovering':
      return reason.flaps > 0
        ? `ready again, has to stay so until ${formatTime(reason.until)} (was not ready ${reason.flaps} times lately)`
        : `ready again, has to stay so until ${formatTime(reason.until)}`;
    case 'Queued':
      return `number ${reason.place} in the queue of its zone, expected ${formatTime(reason.at)}`;
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
      return 'all zones are down: it may be us who are cut off';
    case 'ZoneStopped':
      return `stopped: ${hold.notReady} of the ${hold.size} nodes of the zone are not ready`;
    case 'DeadZoneHeld':
      return 'the whole zone is down and is held';
    case 'RateZero':
      return 'the rate for this zone is 0';
    case 'MassSilence':
      return `${hold.nodes} nodes fell silent at once: held until ${formatTime(hold.until)}`;
    case 'ViewOld':
      return `our view of the cluster is not current since ${formatTime(hold.since)}`;
  }
}

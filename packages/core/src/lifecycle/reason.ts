import type { Outcome } from '../attempt/outcome.ts';
import { type ClusterTime, formatDeadline, formatTime, type Instant } from '../kernel/time.ts';
import type { NodeRef } from '../model/node.ts';
import type { PodRef } from '../model/pod.ts';
import type { ZoneState } from './zone-rates.ts';

/** Why a node is or is not tainted, as data. describeLifecycleReason turns it into a sentence. */
export type LifecycleReason =
  /** Its kubelet says it is ready. */
  | { readonly code: 'Ready' }
  /** Its kubelet says it is not. */
  | { readonly code: 'KubeletNotReady' }
  /** Its kubelet has not reported yet. */
  | { readonly code: 'NotReported' }
  /** No sign of life for longer than it is given. */
  | { readonly code: 'Unreachable'; readonly heardAt: Instant }
  /** The node reports nothing; the time of its last report is no longer known. */
  | { readonly code: 'Unknown' }
  /** The node's lease may not be read, so it is unknown whether the node lives. */
  | { readonly code: 'LeaseHidden' }
  /** The node is ready again, and has to stay so until then. */
  | { readonly code: 'Recovering'; readonly until: Instant; readonly flaps: number }
  /** Its turn has not come: nodes of a zone are tainted one after the other. */
  | { readonly code: 'Queued'; readonly place: number; readonly at: Instant }
  /** A pause keeps the node from being tainted; `until` null: until a person ends it. */
  | { readonly code: 'ReadinessPaused'; readonly pause: string; readonly until: Instant | null }
  | HoldReason
  | {
      readonly code: 'ConditionRule';
      readonly rule: string;
      readonly condition: string;
      readonly since: Instant;
    };

/** Why no node of a zone is tainted for the time being. */
export type HoldReason =
  /** All zones are down: it may be us who are cut off. */
  | { readonly code: 'AllZonesDown' }
  /** Too large a part of a small zone is not ready. */
  | { readonly code: 'ZoneStopped'; readonly notReady: number; readonly size: number }
  /** The zone is down as a whole, and such zones are held. */
  | { readonly code: 'FullDisruptionHeld'; readonly since: Instant }
  /** The rate for the state of the zone is 0. */
  | { readonly code: 'RateZero' }
  /** Many nodes became unreachable at once. */
  | { readonly code: 'MassUnreachable'; readonly nodes: number; readonly until: Instant }
  /** Our view of the cluster is not current. */
  | { readonly code: 'ViewOld'; readonly since: Instant };

/** The state of a zone. */
export interface ZoneStatus {
  /** `region/zone`; empty for nodes that name neither. */
  readonly name: string;
  /** The zone as kube-controller-manager's metrics label it. */
  readonly key: string;
  /** Null: upstream-1.36 has forgotten it for the moment. */
  readonly state: ZoneState | null;
  /** Of the nodes that count. */
  readonly ready: number;
  /** Nodes that count and are not ready. */
  readonly notReady: number;
  /** Nodes tainted a second, at most; 0: none. */
  readonly rate: number;
  /** The reason why no node of the zone is tainted; null: nodes are tainted. */
  readonly hold: HoldReason | null;
  /** Nodes that wait for their taint, next first. */
  readonly waiting: readonly string[];
  /** Nodes tainted since the start, swaps not counted. */
  readonly tainted: number;
}

/** The health of a node, and its near future. */
export interface NodeHealth {
  /** The last sign of life, by our clock; null: not known. */
  readonly heardAt: Instant | null;
  /**
   * The time at which it counts as unreachable without another heartbeat; null: it does, never
   * will, or the time is unknown.
   */
  readonly unreachableAt: Instant | null;
  /** renewTime of its lease, by its kubelet's clock. */
  readonly leaseRenewedAt: Instant | null;
  /** The expected time of its NoExecute taint; null: none is expected, or the time is unknown. */
  readonly taintAt: Instant | null;
  /** Its place among the waiting nodes of its zone, from 1; null: it does not wait. */
  readonly place: number | null;
  /** The reasons. */
  readonly because: readonly LifecycleReason[];
}

/** The purpose of a write to a node or one of its pods. */
export type NodeWrite =
  | 'conditions'
  | 'labels'
  | 'noSchedule'
  | 'noExecute'
  | 'rules'
  | 'podReadiness';

/** Pods of every node, or of those of these zones and names; and why. */
export interface ReadinessHold {
  /** The reason, in words. */
  readonly reason: string;
  /** True: pods of every node. */
  readonly all: boolean;
  /** As `region/zone`. */
  readonly zones: readonly string[];
  /** Names of nodes. */
  readonly nodes: readonly string[];
}

/** Something worth telling a person about nodes and zones. */
export type LifecycleReport =
  | {
      readonly kind: 'zone';
      readonly zone: ZoneStatus;
      /** The state before. */
      readonly from: ZoneState;
    }
  /** Taints of a zone are held back, or (hold null) no longer. */
  | {
      readonly kind: 'zoneHold';
      readonly zone: string;
      readonly hold: HoldReason | null;
      /** The effect on the running deadlines of its pods. */
      readonly deadlines: 'pause' | 'resume' | null;
    }
  /**
   * With takeover: the pods that must not be marked not ready have changed, or (null) there are
   * none any more.
   */
  | { readonly kind: 'readinessHold'; readonly hold: ReadinessHold | null }
  /** A node gave no sign of life for too long. */
  | { readonly kind: 'nodeUnreachable'; readonly node: NodeRef; readonly heardAt: Instant }
  /** A write did not go through; the next attempt is at `at`. */
  | {
      readonly kind: 'writeFailed';
      readonly node: NodeRef;
      readonly write: NodeWrite;
      readonly outcome: Outcome;
      readonly at: Instant;
    }
  /** A pod of an unreachable node still looks ready; its mark is tried again at `at`. */
  | {
      readonly kind: 'podMarkFailed';
      readonly target: PodRef;
      /** The number that have failed, from 1. */
      readonly attempt: number;
      readonly outcome: Extract<Outcome, { kind: 'failed' }>;
      readonly at: Instant;
    }
  /** The change that a rule in dry run would make. */
  | {
      readonly kind: 'ruleDryRun';
      readonly node: NodeRef;
      readonly rule: string;
      readonly change: 'add' | 'remove';
    }
  /** A rule may not taint more nodes of its pool. */
  | { readonly kind: 'ruleLimit'; readonly node: NodeRef; readonly rule: string };

/** Describes one reason of the node lifecycle in words, as explanations and logs print it. */
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

/** The reason why a zone is held, in words. */
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

// Converts reasons from the machine's own time to the cluster's clock, once, where they leave the
// machine. A rule's reason is by that clock already.

const ownInstants: Readonly<Record<string, string>> = {
  Unreachable: 'heardAt',
  Recovering: 'until',
  Queued: 'at',
  MassUnreachable: 'until',
  FullDisruptionHeld: 'since',
  ViewOld: 'since',
};

/** Why a node is or is not tainted, or a zone is held. */
export function reasonAtWallTime<R extends LifecycleReason>(reason: R, clock: ClusterTime): R {
  const field = ownInstants[reason.code];
  return field === undefined
    ? reason
    : { ...reason, [field]: clock.wall(Number(Reflect.get(reason, field))) };
}

export function zoneAtWallTime(zone: ZoneStatus, clock: ClusterTime): ZoneStatus {
  return { ...zone, hold: zone.hold && reasonAtWallTime(zone.hold, clock) };
}

/** A report of a review of the zones. */
export function reportAtWallTime(report: LifecycleReport, clock: ClusterTime): LifecycleReport {
  switch (report.kind) {
    case 'zone':
      return { ...report, zone: zoneAtWallTime(report.zone, clock) };
    case 'zoneHold':
      return { ...report, hold: report.hold && reasonAtWallTime(report.hold, clock) };
    default:
      return report;
  }
}

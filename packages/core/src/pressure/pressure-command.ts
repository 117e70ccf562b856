// The events and commands of the node pressure machine, as data.
import type { Outcome, Setback } from '../attempt/outcome.ts';
import type { RecordNodeEvent } from '../attempt/pod-command.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { NodeCondition, NodeRef } from '../model/node.ts';
import type { PodRef } from '../model/pod.ts';
import type { Labels } from '../model/selector.ts';
import type { ReclaimFunction } from './observation/filesystems.ts';
import type { NodeObservation } from './observation/observation.ts';
import type { PressurePod } from './pods/pressure-pod.ts';
import type { PressureReason } from './reason.ts';
import type { Threshold } from './settings/thresholds.ts';
import type { PressureConditionType, PressureResource } from './signals.ts';
import type { ThresholdPhase } from './threshold-states.ts';

/** The status that a kubelet writes to a pod it evicts. */
interface EvictedStatus {
  readonly phase: 'Failed';
  readonly reason: 'Evicted';
  readonly message: string;
  /** The condition DisruptionTarget: True with this reason and the same message; null: none. */
  readonly disruptionTarget: 'TerminationByKubelet' | null;
}

/** Something worth reporting to people; it changes nothing in the cluster. */
export type PressureReport =
  /** A threshold was crossed, became due or is no longer met. */
  | {
      readonly kind: 'threshold';
      readonly nodeName: string;
      readonly threshold: Threshold;
      readonly from: ThresholdPhase;
      readonly to: ThresholdPhase;
      readonly because: readonly PressureReason[];
    }
  /**
   * The faults in the known state of a node, whenever they change; empty: there are none any more.
   */
  | {
      readonly kind: 'doubt';
      readonly nodeName: string;
      readonly because: readonly PressureReason[];
    }
  /** Pods should go, and yet none is evicted now; reported whenever the reasons change. */
  | {
      readonly kind: 'withheld';
      readonly nodeName: string;
      readonly because: readonly PressureReason[];
    }
  /** An eviction failed. `until`: when the pod is looked at again. */
  | {
      readonly kind: 'pressureRetry';
      readonly pod: PodRef;
      readonly setback: Setback;
      readonly until: Instant;
    };

/** The commands of the machine. A command with an id must be answered with one `result` event. */
export type PressureCommand =
  /** Make the pod go as a kubelet would: within the grace, with this status. */
  | {
      readonly kind: 'evictUnderPressure';
      readonly id: string;
      readonly pod: PodRef;
      readonly generation: number;
      readonly gracePeriodSeconds: number;
      readonly status: EvictedStatus;
      /** The signal that metrics count the eviction under. */
      readonly signal: string;
      readonly because: readonly PressureReason[];
    }
  /** Clear away unused data on the node, in this order; a part that fails stops no other. */
  | {
      readonly kind: 'reclaimNode';
      readonly id: string;
      readonly node: NodeRef;
      readonly resource: PressureResource;
      readonly functions: readonly ReclaimFunction[];
      readonly because: readonly PressureReason[];
    }
  /** Give these conditions of a node this state; those of other types stay. */
  | {
      readonly kind: 'setPressureConditions';
      readonly id: string;
      readonly node: NodeRef;
      readonly conditions: readonly NodeCondition[];
    }
  /** Write a Kubernetes Event about the pod, whose eviction was accepted. */
  | {
      readonly kind: 'recordPressureEvent';
      readonly pod: PodRef;
      readonly type: 'Warning';
      readonly reason: 'Evicted';
      readonly message: string;
      readonly annotations: Readonly<Record<string, string>>;
    }
  | RecordNodeEvent
  | { readonly kind: 'pressureReport'; readonly report: PressureReport };

/** The part of a Node that decisions under pressure need. */
export interface PressureNode extends NodeRef {
  /** metadata.labels. */
  readonly labels: Labels;
  /** The conditions that are True and were written by an earlier run of ours. */
  readonly conditions: readonly PressureConditionType[];
}

/** The events of the machine. Shapes that the engine knows too mean the same there. */
export type PressureEvent =
  | { readonly kind: 'pressureNode'; readonly node: PressureNode }
  | { readonly kind: 'pressureNodeGone'; readonly name: string }
  | { readonly kind: 'pressurePod'; readonly pod: PressurePod }
  | { readonly kind: 'pressurePodGone'; readonly uid: string }
  /** The answer of a node. */
  | {
      readonly kind: 'observed';
      readonly nodeName: string;
      readonly observation: NodeObservation;
    }
  /** The node did not answer. */
  | { readonly kind: 'observationFailed'; readonly nodeName: string; readonly message: string }
  /** The lead of the cluster's clock over `now`, negative: behind; before the first: 0. */
  | { readonly kind: 'clock'; readonly ahead: Millis }
  /** Every node and pod that existed has been given once; nothing is evicted before. */
  | { readonly kind: 'synced' }
  /** True when this replica may act. A standby stays warm and sends nothing. */
  | { readonly kind: 'leadership'; readonly held: boolean }
  /** The outcome of the command with this id. */
  | { readonly kind: 'result'; readonly id: string; readonly outcome: Outcome }
  /** Act on the present state. An extra tick is harmless. */
  | { readonly kind: 'tick' };

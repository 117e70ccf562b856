// The events of the node pressure machine, and the part of a Node that it needs.
import type { Outcome } from '../attempt/outcome.ts';
import type { Millis } from '../kernel/time.ts';
import type { NodeRef } from '../model/node.ts';
import type { Labels } from '../model/selector.ts';
import type { NodeObservation } from './observation/observation.ts';
import type { PressurePod } from './pods/pressure-pod.ts';
import type { PressureConditionType } from './signals.ts';

/** The part of a Node that decisions under pressure need. */
export interface PressureNode extends NodeRef {
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
  /** It did not answer. */
  | { readonly kind: 'observationFailed'; readonly nodeName: string; readonly message: string }
  /** The cluster's clock is so far ahead of `now`, negative: behind; before the first: neither. */
  | { readonly kind: 'clock'; readonly ahead: Millis }
  /** Every node and pod that existed has been given once; nothing is evicted before. */
  | { readonly kind: 'synced' }
  /** True when this replica may act. A standby stays warm and sends nothing. */
  | { readonly kind: 'leadership'; readonly held: boolean }
  /** The outcome of the command with this id. */
  | { readonly kind: 'result'; readonly id: string; readonly outcome: Outcome }
  /** Act on what is known by now. An extra tick is harmless. */
  | { readonly kind: 'tick' };

// The behaviour of precise, kubelet 1.36 and kubelet 1.6, as a table.

import type { OwnPod } from '../own-replicas.ts';
import { criticalPriorityMin, type PressurePod } from './pods/pressure-pod.ts';
import {
  type CountedRequests,
  type EvictionOrder,
  evictionOrders,
  type PressureSemantics,
} from './rank.ts';
import type { PodRefusal } from './reason.ts';
import { isHard, type Threshold } from './settings/thresholds.ts';

/** Where the semantics differ, as the machine has to know it; differences/pressure.ts says why. */
export interface PressureBehaviour extends CountedRequests {
  /** The order in which pods are compared: the first comparator that distinguishes them decides. */
  readonly order: EvictionOrder;
  /** Samples that are old, odd or without time are not believed. */
  readonly doubts: boolean;
  /** Grace periods count between the times of samples, not of passes; unseen spells end them. */
  readonly sampleClock: boolean;
  /** A condition goes away when its signals are not seen for long enough. */
  readonly clearsUnseen: boolean;
  /** While a threshold is met its condition holds, be the transition period 0. */
  readonly showsWhileMet: boolean;
  /** The layout of file systems is settled by the first look. */
  readonly fixesLayout: boolean;
  /** Thresholds of containerfs hold from the second pass on only. */
  readonly derivesLate: boolean;
  /** Pods are only evicted where that frees something, as far as is known. */
  readonly freesSomething: boolean;
  /** Pods that terminate are waited for, not evicted. */
  readonly waitsForLeaving: boolean;
  /** After node-level reclaim any threshold that is met leads to the eviction, not only its own. */
  readonly anyAfterReclaim: boolean;
  /** A failed eviction counts as done. */
  readonly failureCounts: boolean;
  /** The message names a pod's usage only when it is more than was asked for. */
  readonly blamesExcessOnly: boolean;
  /** The pod gets the condition DisruptionTarget. */
  readonly disruptionTarget: boolean;
  readonly gracePeriodSeconds: (
    threshold: Pick<Threshold, 'gracePeriodMs'>,
    maxPodGracePeriodSeconds: number,
    pod: PressurePod,
  ) => number;
  /** Why a pod is exempt; null: it is not. */
  readonly exemption: (pod: PressurePod) => PodRefusal | null;
}

const kubelet: PressureBehaviour = {
  order: evictionOrders['kubelet-1.36'],
  doubts: false,
  sampleClock: false,
  clearsUnseen: true,
  showsWhileMet: false,
  fixesLayout: true,
  derivesLate: true,
  countsContainers: false,
  plainInodes: false,
  freesSomething: false,
  waitsForLeaving: false,
  anyAfterReclaim: true,
  failureCounts: true,
  blamesExcessOnly: false,
  disruptionTarget: true,
  gracePeriodSeconds: (threshold, max, { gracePeriodSeconds }) => {
    if (isHard(threshold)) return 1;
    return Math.min(max, gracePeriodSeconds ?? max);
  },
  exemption: (pod) => {
    if (pod.isStatic || pod.isMirror) return { code: 'StaticPod' };
    return criticality(pod);
  },
};

/** The table of the semantics. */
export const pressureBehaviours: Readonly<Record<PressureSemantics, PressureBehaviour>> = {
  precise: {
    order: evictionOrders.precise,
    doubts: true,
    sampleClock: true,
    clearsUnseen: false,
    showsWhileMet: true,
    fixesLayout: false,
    derivesLate: false,
    countsContainers: true,
    plainInodes: true,
    freesSomething: true,
    waitsForLeaving: true,
    anyAfterReclaim: false,
    failureCounts: false,
    blamesExcessOnly: true,
    disruptionTarget: true,
    // Below one second the API server takes a pod away without asking its node.
    gracePeriodSeconds: (threshold, max, { gracePeriodSeconds }) => {
      if (isHard(threshold)) return 1;
      const own = gracePeriodSeconds ?? defaultGracePeriodSeconds;
      return Math.max(1, max < 0 ? own : Math.min(max, own));
    },
    exemption: kubelet.exemption,
  },
  'kubelet-1.36': kubelet,
  'kubelet-1.6': {
    ...kubelet,
    order: evictionOrders['kubelet-1.6'],
    disruptionTarget: false,
    gracePeriodSeconds: (threshold, max) => (isHard(threshold) ? 0 : max),
    exemption: (pod) => (pod.isStatic ? criticality(pod) : null),
  },
};

/**
 * The same, except that our own pod stays: no process would continue the eviction when it is gone.
 */
export function sparing(own: OwnPod | null, behaviour: PressureBehaviour): PressureBehaviour {
  if (own === null) return behaviour;
  const isOwn = ({ namespace, name }: PressurePod): boolean =>
    namespace === own.namespace && name === own.name;
  return {
    ...behaviour,
    exemption: (pod) => (isOwn(pod) ? { code: 'OwnPod' } : behaviour.exemption(pod)),
  };
}

/** spec.terminationGracePeriodSeconds as the API server fills it in. */
const defaultGracePeriodSeconds = 30;

/** The time for which limits on local storage let a pod go on. */
export const localLimitGracePeriodSeconds = 1;

function criticality({ priority }: PressurePod): PodRefusal | null {
  return priority >= criticalPriorityMin ? { code: 'CriticalPriority', priority } : null;
}

// Explains the pressure on a node: signals, thresholds, conditions and the order of eviction.
import type { Instant } from '../kernel/time.ts';
import {
  decidePressure,
  orderFor,
  type PressureDecision,
  type PressureOptions,
  type PressureSite,
} from './decide.ts';
import type { NodeState, PressureWork } from './node-state.ts';
import type { FilesystemLayout } from './observation/filesystems.ts';
import type { Sample } from './observation/observation.ts';
import type { PressurePod } from './pods/pressure-pod.ts';
import type { PressureNode } from './pressure-command.ts';
import type { ComparatorName } from './rank.ts';
import type { PodRefusal, PressureReason } from './reason.ts';
import {
  type PressureConditionType,
  pressureConditionTypes,
  type Signal,
  signals,
} from './signals.ts';
import type { ThresholdState } from './threshold-states.ts';

/** A pod in the order of eviction. */
export interface PodInOrder {
  /** The pod. */
  readonly pod: PressurePod;
  /** Its usage, which its eviction would free; null: not known. */
  readonly used: number | null;
  /** The amount it asked for of that. */
  readonly requested: number;
  /** Why it is not evicted; null: it may be. */
  readonly refusal: PodRefusal | null;
  /** The comparison that puts it before the next one; null: none, or it is the last. */
  readonly decidedBy: ComparatorName | null;
  /** The amount that would be available once it and all before it are gone; null: not known. */
  readonly availableAfter: number | null;
  /** The time it would be given, for a hard threshold and for a soft one. */
  readonly gracePeriodSeconds: { readonly hard: number; readonly soft: number };
}

/** The state of one signal of a node. */
export interface SignalExplanation {
  /** The signal. */
  readonly signal: Signal;
  /** The last sample; null: none. */
  readonly sample: Sample | null;
  /** Its thresholds. */
  readonly thresholds: readonly ThresholdState[];
  /** Who would go because of it, first to last. */
  readonly order: readonly PodInOrder[];
  /** The number of them that would have to go to end it: 0 when nothing is met; null: all are too few. */
  readonly evictionsNeeded: number | null;
}

/** The state of a condition of a node. */
export interface ConditionExplanation {
  /** Type of the condition. */
  readonly type: PressureConditionType;
  /** True when the condition is, or should be, `True`. */
  readonly holds: boolean;
  /** When a threshold of it was last seen to be met; null: never. */
  readonly lastPressed: Instant | null;
  /** When it can go away at the earliest, if nothing is met any more; null: it does not hold. */
  readonly clearsAt: Instant | null;
}

/** The whole known state of the pressure on a node. */
export interface PressureExplanation {
  /** The node. */
  readonly node: PressureNode;
  /** The pool whose settings hold; null: those of all nodes, or none at all. */
  readonly pool: string | null;
  /** True when any settings hold for it: otherwise it is left alone. */
  readonly isWatched: boolean;
  /** Where images and writable layers lie; null: unknown. */
  readonly layout: FilesystemLayout | null;
  /** When we last heard from it; null: never. */
  readonly observedAt: Instant | null;
  /** The faults in its known state. */
  readonly doubts: readonly PressureReason[];
  /** The signals that have thresholds. */
  readonly signals: readonly SignalExplanation[];
  /** The conditions of the node. */
  readonly conditions: readonly ConditionExplanation[];
  /** The action that would be taken now; null while something is under way, or nothing is known. */
  readonly decision: PressureDecision | null;
  /** The work under way; null: none. */
  readonly work: PressureWork | null;
}

/** Explains with the same values that the machine acts on. */
export function explainPressure(
  now: Instant,
  state: NodeState,
  site: PressureSite | null,
  options: PressureOptions,
): PressureExplanation {
  const { node, pool, settings, layout, observedAt, work } = state;
  return {
    node,
    pool,
    isWatched: settings !== null,
    layout,
    observedAt,
    doubts: state.doubts(now),
    signals: site ? explainSignals(site, options) : [],
    conditions: pressureConditionTypes.map((type) => explainCondition(now, state, type)),
    decision: site && work === null ? decidePressure(now, site, options) : null,
    work,
  };
}

function explainSignals(
  site: PressureSite,
  options: PressureOptions,
): readonly SignalExplanation[] {
  const watched = [...new Set(site.states.map(({ threshold }) => threshold.signal))];
  return watched.map((signal) => explainSignal(signal, site, options));
}

function explainSignal(
  signal: Signal,
  site: PressureSite,
  { behaviour }: PressureOptions,
): SignalExplanation {
  const thresholds = site.states.filter(({ threshold }) => threshold.signal === signal);
  const sample = site.observation.samples[signal] ?? null;
  const isOrdered = site.layout !== null || signals[signal].filesystem === null;
  let available = sample?.available ?? null;
  const order = (isOrdered ? orderFor(signal, site, behaviour) : []).map(({ ranked, refusal }) => {
    const { pod, used, requested, decidedBy } = ranked;
    const max = site.settings.maxPodGracePeriodSeconds;
    if (refusal === null) available = available === null || used === null ? null : available + used;
    const gracePeriodSeconds = {
      hard: behaviour.gracePeriodSeconds({ gracePeriodMs: 0 }, max, pod),
      soft: behaviour.gracePeriodSeconds({ gracePeriodMs: 1 }, max, pod),
    };
    const place = { pod, used, requested, refusal, decidedBy };
    return { ...place, availableAfter: available, gracePeriodSeconds };
  });
  return { signal, sample, thresholds, order, evictionsNeeded: needed(thresholds, order) };
}

function needed(
  thresholds: readonly ThresholdState[],
  order: readonly PodInOrder[],
): number | null {
  const met = thresholds.filter(({ phase }) => phase === 'waiting' || phase === 'due');
  const enough = Math.max(...met.map(({ clearAt }) => clearAt ?? 0));
  if (met.length === 0) return 0;
  const evictable = order.filter(({ refusal }) => refusal === null);
  const last = evictable.findIndex(({ availableAfter }) => (availableAfter ?? 0) >= enough);
  return last < 0 ? null : last + 1;
}

function explainCondition(
  now: Instant,
  state: NodeState,
  type: PressureConditionType,
): ConditionExplanation {
  const holds = state.conditions.includes(type);
  const lastPressed = state.thresholdStates.lastPressed(type);
  const { transitionPeriodMs = 0 } = state.settings ?? {};
  const clearsAt =
    holds && lastPressed !== null ? Math.max(now, lastPressed + transitionPeriodMs) : null;
  return { type, holds, lastPressed, clearsAt };
}

import type { Instant } from '../kernel/time.ts';
import type { DecideOptions, PassedOver, PressureSite } from './decide.ts';
import type { PressureNode } from './event.ts';
import type { FilesystemLayout } from './observation/filesystems.ts';
import {
  layoutOf,
  type NodeObservation,
  type PodUsage,
  type Sample,
  type SampleFault,
  sampleFault,
} from './observation/observation.ts';
import type { StoredPod } from './pods/pod-store.ts';
import type { PressureReason } from './reason.ts';
import { type PressureSettings, withContainerFilesystem } from './settings/settings.ts';
import { amountOf, type Threshold } from './settings/thresholds.ts';
import { type PressureConditionType, type Signal, signals } from './signals.ts';
import { type ThresholdPhase, ThresholdStates } from './threshold-states.ts';
import type { PressureWork } from './work.ts';

/** What was written of the conditions of a node, and is being written. */
export interface ConditionWrite {
  readonly id: string;
  readonly conditions: readonly PressureConditionType[];
}

/** All that is known of one node. */
export class NodeRecord {
  node: PressureNode;
  /** Null: the node is left alone. */
  settings: PressureSettings | null = null;
  /** The name of its pool; null: none. */
  pool: string | null = null;
  readonly thresholdStates: ThresholdStates;
  observation: NodeObservation | null = null;
  observedAt: Instant | null = null;
  /** Why the node could not be asked the last time; null: it could. */
  readFault: Extract<PressureReason, { code: 'ReadFailed' }> | null = null;
  /** The observation led to something; only a later one can again. */
  isSpent = false;
  /** People know of it that pods have to go. */
  isAnnounced = false;
  work: PressureWork | null = null;
  /** Samples until then do not show what was done last. */
  freshAfter: Instant = Number.NEGATIVE_INFINITY;
  /** What nobody uses was cleared away since pods had to go. */
  reclaimed = false;
  /** Pods that others made leave are waited for. */
  waitsForOthers = false;
  /** Attempts that failed since the last one that did not. */
  failures = 0;
  readonly passedOver: Map<string, PassedOver> = new Map();
  written: readonly PressureConditionType[];
  writing: ConditionWrite | null = null;
  /** What was reported last, to report it only when it changes. */
  readonly reportedPhases: Map<string, ThresholdPhase> = new Map();
  reportedDoubts = '';
  reportedWithheld = '';
  readonly #options: DecideOptions;
  #layout: FilesystemLayout | null = null;
  /** What the settings and the layout come to, until either changes. */
  #derived: readonly Threshold[] | null = null;
  #passes = 0;

  constructor(node: PressureNode, options: DecideOptions) {
    this.node = node;
    this.#options = options;
    this.thresholdStates = new ThresholdStates(options);
    this.written = node.conditions;
  }

  /** Takes over what holds for the node now. */
  configure(node: PressureNode, pool: string | null, settings: PressureSettings | null): void {
    this.node = node;
    this.pool = pool;
    if (settings !== this.settings) this.#derived = null;
    this.settings = settings;
    // A replica that stood by learns here what the one before it wrote.
    if (this.writing === null) this.written = node.conditions;
  }

  /** How its file systems lie: as configured, else as first seen; null: not seen yet. */
  get layout(): FilesystemLayout | null {
    return this.settings?.filesystemLayout ?? this.#layout;
  }

  /** The thresholds that hold for it, those of containerfs derived. */
  get thresholds(): readonly Threshold[] {
    const { thresholds = [], filesystemLayout } = this.settings ?? {};
    const layout = filesystemLayout ?? this.#layout;
    const isEarly = this.#options.rules.derivesLate && this.#passes <= 1;
    if (layout === null || isEarly) return thresholds;
    this.#derived ??= withContainerFilesystem(thresholds, layout).thresholds;
    return this.#derived;
  }

  /** The conditions that should be True. */
  get conditions(): readonly PressureConditionType[] {
    return this.settings ? this.thresholdStates.conditions : [];
  }

  /** Takes in what was seen of it. */
  observe(now: Instant, observation: NodeObservation): void {
    this.observation = observation;
    this.observedAt = now;
    this.readFault = null;
    this.isSpent = false;
    this.isAnnounced = false;
    this.#passes += 1;
    this.#layout ??= layoutOf(observation);
    const { transitionPeriodMs = 0 } = this.settings ?? {};
    this.thresholdStates.observe(now, this.thresholds, observation, transitionPeriodMs);
  }

  /** Whether any threshold is met, or was and has not reclaimed enough, whatever its grace. */
  isPressed({ samples }: NodeObservation): boolean {
    return this.thresholds.some(({ signal, value, minReclaim }) => {
      const sample = samples[signal];
      if (!sample) return false;
      const { available, capacity } = sample;
      return amountOf(value, capacity) + amountOf(minReclaim, capacity) > available;
    });
  }

  /** Clearing away was not enough: pods go. Or it was: the next observation decides. */
  endReclaim(isPressed: boolean): void {
    this.work = null;
    this.reclaimed = isPressed;
    this.isSpent = !isPressed;
  }

  /** Pods that were passed over for long enough may be asked again. */
  forgetRefusals(now: Instant): void {
    for (const [uid, { until }] of this.passedOver) {
      if (until <= now) this.passedOver.delete(uid);
    }
  }

  /** What is wrong with what is known of it at `now`. */
  doubts(now: Instant): readonly PressureReason[] {
    if (!this.settings) return [];
    if (this.readFault) return [this.readFault];
    if (!this.observation) return [{ code: 'NeverObserved' }];
    const faults = this.thresholdStates.states.flatMap(({ threshold, sample, fault }) => {
      const found = fault ?? this.#faultBy(now, threshold.signal, sample);
      return found && !isDerivedAway(found) ? [found] : [];
    });
    const bySignal = new Map(faults.map((fault) => [fault.signal, fault]));
    return [...bySignal.values()];
  }

  /** What was believed when it was seen may be too old by now. */
  #faultBy(now: Instant, signal: Signal, sample: Sample | null): SampleFault | null {
    const { rules, sampleAgeMsMax } = this.#options;
    return rules.doubts ? sampleFault(now, signal, sample ?? undefined, sampleAgeMsMax) : null;
  }

  /** The node as decisions see it; null where there is nothing to decide on. */
  site(pods: readonly StoredPod[]): PressureSite | null {
    const { settings, observation, layout, freshAfter, passedOver, reclaimed } = this;
    if (!settings || !observation) return null;
    // Most nodes are well, and nobody asks what their pods use.
    let usages: ReadonlyMap<string, PodUsage> | null = null;
    const usageOf = (uid: string): PodUsage | null => {
      usages ??= new Map(observation.pods.map((usage) => [usage.uid, usage]));
      return usages.get(uid) ?? null;
    };
    const { states } = this.thresholdStates;
    const seen = { settings, layout, observation, states, pods, usageOf };
    return { ...seen, freshAfter, passedOver, reclaimed };
  }
}

/** Nobody set thresholds for containerfs: they only repeat those of what it lies on. */
function isDerivedAway({ code, signal }: SampleFault): boolean {
  return code === 'SignalMissing' && signals[signal].filesystem === 'containerfs';
}

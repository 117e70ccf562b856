// The knowledge of one node, and the progress of the work on it.

import type { SetBack } from '../attempt/attempt.ts';
import type { Outcome, Setback } from '../attempt/outcome.ts';
import type { InFlight } from '../kernel/inflight.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { NodeCondition, NodeRef } from '../model/node.ts';
import type { PodRef } from '../model/pod.ts';
import {
  gracePeriods,
  type PassedOver,
  type PressureDecision,
  type PressureOptions,
  type PressureSite,
  thresholdReason,
} from './decide.ts';
import type { EvictionText } from './eviction-message.ts';
import { type FilesystemLayout, SeenLayout } from './observation/filesystems.ts';
import {
  type NodeObservation,
  type PodUsage,
  type Sample,
  type SampleFault,
  soundSamples,
} from './observation/observation.ts';
import type { PodStore, StoredPod } from './pods/pod-store.ts';
import type { PressureCommand, PressureNode, PressureReport } from './pressure-command.ts';
import type { PressureReason } from './reason.ts';
import { type PressureSettings, withContainerFilesystem } from './settings/settings.ts';
import { amountOf, type Threshold, thresholdKey } from './settings/thresholds.ts';
import {
  type PressureConditionType,
  pressureConditions,
  pressureConditionTypes,
  type Signal,
  signals,
} from './signals.ts';
import { type ThresholdPhase, type ThresholdState, ThresholdStates } from './threshold-states.ts';

/** Only the methods that say what happened change it; all other files see a NodeState. */
class WritableNodeState {
  node: PressureNode;
  /** Null: the node is left alone. */
  settings: PressureSettings | null = null;
  /** The name of its pool; null: none. */
  pool: string | null = null;
  observedAt: Instant | null = null;
  /** The observation led to something; only a later one can again. */
  isSpent = false;
  work: PressureWork | null = null;
  /** True when unused containers and images were cleared away since pods had to go. */
  reclaimed = false;
  /** Attempts that failed since the last one that did not. */
  failures = 0;
  readonly thresholdStates: ThresholdStates;
  readonly conditionWriter: ConditionWriter = new ConditionWriter();
  readonly reports: NodeReports = new NodeReports();
  readonly #options: PressureOptions;
  #observation: NodeObservation | null = null;
  /** Why the node could not be asked the last time; null: it could. */
  #readFault: Extract<PressureReason, { code: 'ReadFailed' }> | null = null;
  /** Samples until then do not show the last action. */
  #freshAfter: Instant = Number.NEGATIVE_INFINITY;
  /** Pods that others made leave are waited for. */
  #waitsForOthers = false;
  readonly #passedOver = new Map<string, PassedOver>();
  readonly #answerTimes = new AnswerTimes();
  readonly #seenLayout = new SeenLayout();
  /** The thresholds that follow from the settings and the layout, until either changes. */
  #derived: readonly Threshold[] | null = null;
  #passes = 0;

  constructor(now: Instant, node: PressureNode, options: PressureOptions) {
    this.node = node;
    this.#options = options;
    this.thresholdStates = new ThresholdStates(options);
    this.thresholdStates.adopt(now, node.conditions);
  }

  /** The layout of its file systems: as configured, else as seen; null: not seen yet. */
  get layout(): FilesystemLayout | null {
    return this.settings?.filesystemLayout ?? this.#seenLayout.layout;
  }

  /** The thresholds that hold for it, those of containerfs derived. */
  get thresholds(): readonly Threshold[] {
    const { thresholds = [] } = this.settings ?? {};
    const { layout } = this;
    const isEarly = this.#options.behaviour.derivesLate && this.#passes <= 1;
    if (layout === null || isEarly) return thresholds;
    this.#derived ??= withContainerFilesystem(thresholds, layout).thresholds;
    return this.#derived;
  }

  /** The conditions that should be True. */
  get conditions(): readonly PressureConditionType[] {
    return this.settings ? this.thresholdStates.conditions : [];
  }

  /** The node, its pool or its settings changed. */
  configured(node: PressureNode, pool: string | null, settings: PressureSettings | null): void {
    this.node = node;
    this.pool = pool;
    if (settings !== this.settings) {
      this.#derived = null;
      // The observation was judged by the former thresholds, which are no longer in effect.
      this.#observation = null;
    }
    this.settings = settings;
    this.conditionWriter.adopt(node.conditions);
  }

  observed(now: Instant, observation: NodeObservation): void {
    this.#observation = observation;
    this.observedAt = now;
    this.#readFault = null;
    this.isSpent = false;
    this.#passes += 1;
    const { behaviour, sampleAgeMsMax } = this.#options;
    const sound = soundSamples(now, observation, sampleAgeMsMax);
    this.#answerTimes.came(now, Object.values(sound));
    this.#seeLayout(behaviour.doubts ? sound : observation.samples);
    const gapMsMax = Math.max(sampleAgeMsMax, this.#answerTimes.answered(now));
    const { transitionPeriodMs = 0 } = this.settings ?? {};
    const { thresholds } = this;
    this.thresholdStates.observe(now, observation, { thresholds, transitionPeriodMs, gapMsMax });
  }

  /**
   * A kubelet knows the layout of its file systems, once for all; from outside it is judged again.
   */
  #seeLayout(samples: NodeObservation['samples']): void {
    const before = this.#seenLayout.layout;
    if (before === null || !this.#options.behaviour.fixesLayout) this.#seenLayout.see(samples);
    if (this.#seenLayout.layout !== before) this.#derived = null;
  }

  /** The node did not answer. Reclaiming counts as not enough unless an observation shows it. */
  readFailed(now: Instant, message: string): void {
    this.#readFault = { code: 'ReadFailed', message, at: now };
    this.#answerTimes.failed(now);
    if (this.work?.kind === 'reclaimed') this.#endReclaim(true);
  }

  /** If the pods that were waited for are gone, later samples show what that freed. */
  podsChanged(now: Instant, pods: Pick<PodStore, 'isActive' | 'activeOn'>): void {
    if (this.work?.kind === 'leaving') {
      if (this.work.pods.some(({ uid }) => pods.isActive(uid))) return;
      this.work = null;
    } else {
      const isLeaving = ({ leavingSince }: StoredPod): boolean =>
        leavingSince !== null && now < leavingSince + this.#options.leavingWaitMsMax;
      if (!this.#waitsForOthers || pods.activeOn(this.node.name).some(isLeaving)) return;
      this.#waitsForOthers = false;
    }
    this.#freshAfter = now;
  }

  /** Work whose time is up is over. Where no work is under way, old refusals end too. */
  timePassed(now: Instant): void {
    const { work } = this;
    if (work !== null && !('until' in work && work.until <= now)) return;
    if (work?.kind === 'leaving') this.#freshAfter = now;
    this.work = null;
    for (const [uid, { until }] of this.#passedOver) {
      if (until <= now) this.#passedOver.delete(uid);
    }
  }

  /** Pressure is over, or a pod goes: the next threshold that is due reclaims first again. */
  roundEnded(): void {
    this.reclaimed = false;
  }

  withheld({ until, because }: Extract<PressureDecision, { kind: 'withhold' }>): void {
    this.#waitsForOthers = because[0]?.code === 'PodLeaving';
    // Deciding again before something else is seen would say the same.
    this.isSpent = until === null;
    if (because[0]?.code === 'NoCandidate') this.roundEnded();
  }

  reclaimBegan(id: string): void {
    this.work = { kind: 'reclaiming', id };
  }

  /** Done or failed: the next observation shows whether pods have to go. */
  reclaimAnswered(now: Instant, id: string): void {
    if (this.work?.kind !== 'reclaiming' || this.work.id !== id) return;
    if (this.#options.behaviour.anyAfterReclaim) {
      this.work = { kind: 'reclaimed' };
      return;
    }
    this.#endReclaim(true);
    this.#freshAfter = now;
  }

  /** Reclaiming was not enough if any threshold is met, or lacks its minimum reclaim. */
  reclaimObserved({ samples }: NodeObservation): void {
    const isPressed = this.thresholds.some(({ signal, value, minReclaim }) => {
      const sample = samples[signal];
      if (!sample) return false;
      const { available, capacity } = sample;
      return amountOf(value, capacity) + amountOf(minReclaim, capacity) > available;
    });
    this.#endReclaim(isPressed);
  }

  /** Clearing away was not enough: pods go. Or it was: the next observation decides. */
  #endReclaim(isPressed: boolean): void {
    this.work = null;
    this.reclaimed = isPressed;
    this.isSpent = !isPressed;
  }

  evictionsBegan(unanswered: ReadonlyMap<string, UnansweredEviction>): void {
    this.work = { kind: 'evicting', unanswered, leaving: [], setback: null };
    this.isSpent = true;
  }

  /** An eviction was answered, and `work` is what follows; where no pod leaves, others may. */
  evictionAnswered(work: PressureWork | null): void {
    this.work = work;
    if (work?.kind === 'leaving') this.failures = 0;
    if (work?.kind === 'failed') this.failures += 1;
    if (work === null || work.kind === 'failed') this.isSpent = false;
  }

  /** The eviction of a pod was refused. */
  podPassedOver(uid: string, passedOver: PassedOver): void {
    this.#passedOver.set(uid, passedOver);
  }

  /** The faults in its known state at `now`. */
  doubts(now: Instant): readonly PressureReason[] {
    if (!this.settings) return [];
    if (this.#readFault) return [this.#readFault];
    if (!this.#observation) return [{ code: 'NeverObserved' }];
    const faults = this.thresholdStates.faults(now).filter((fault) => !isDerivedAway(fault));
    return [...new Map(faults.map((fault) => [fault.signal, fault])).values()];
  }

  /** The node as decisions see it; null where there is nothing to decide on. */
  site(pods: readonly StoredPod[]): PressureSite | null {
    const { settings, layout, reclaimed } = this;
    const observation = this.#observation;
    if (!settings || !observation) return null;
    // Most nodes are healthy, and the usage of their pods is not read.
    let usages: ReadonlyMap<string, PodUsage> | null = null;
    const usageOf = (uid: string): PodUsage | null => {
      usages ??= new Map(observation.pods.map((usage) => [usage.uid, usage]));
      return usages.get(uid) ?? null;
    };
    const { states } = this.thresholdStates;
    // By the clock of the node, which measures.
    const freshAfter = this.#freshAfter + this.#answerTimes.lead;
    const done = { freshAfter, passedOver: this.#passedOver, reclaimed };
    return { settings, layout, observation, states, pods, usageOf, ...done };
  }
}

/** The view that other files have of a node: they read it, and say what happened. */
export type NodeState = Readonly<WritableNodeState>;

/** A node without any observation. */
export function nodeState(...args: ConstructorParameters<typeof WritableNodeState>): NodeState {
  return new WritableNodeState(...args);
}

/** Thresholds for containerfs cannot be set: they repeat those of its file system. */
function isDerivedAway({ code, signal }: SampleFault): boolean {
  return code === 'SignalMissing' && signals[signal].filesystem === 'containerfs';
}

/** An eviction for node pressure that is not answered yet. */
export interface UnansweredEviction {
  readonly pod: PodRef;
  /** The message about it once it is accepted. */
  readonly text: EvictionText;
}

/** The work under way on one node. */
export type PressureWork =
  /** Command `id` is out: unused data is being cleared away. */
  | { readonly kind: 'reclaiming'; readonly id: string }
  /** The clearing is done; the next observation says whether it was enough. */
  | { readonly kind: 'reclaimed' }
  /** The commands for these pods are out, by id. */
  | {
      readonly kind: 'evicting';
      readonly unanswered: ReadonlyMap<string, UnansweredEviction>;
      /** Pods whose eviction was accepted. */
      readonly leaving: readonly PodRef[];
      /** The last setback; null: none yet. */
      readonly setback: Setback | null;
    }
  /** These pods were evicted and are waited for, until then at most. */
  | { readonly kind: 'leaving'; readonly pods: readonly PodRef[]; readonly until: Instant }
  /** A try failed. */
  | SetBack;

/**
 * Writes the conditions of one node when they change, and tells of it once it is written. Only what
 * we wrote is taken back: what others say about a node is theirs.
 */
class ConditionWriter {
  #written: readonly PressureConditionType[] = [];
  #writing: ConditionWrite | null = null;

  /** A standby learns here what the leader wrote. */
  adopt(written: readonly PressureConditionType[]): void {
    if (this.#writing === null) this.#written = written;
  }

  /** The writes that are needed now, so that these conditions are True. */
  write(
    now: Instant,
    node: NodeRef,
    conditions: readonly PressureConditionType[],
    inFlight: InFlight,
  ): readonly PressureCommand[] {
    if (this.#writing) return [];
    const changed = pressureConditionTypes.filter(
      (type) => conditions.includes(type) !== this.#written.includes(type),
    );
    if (changed.length === 0) return [];
    const id = inFlight.start(node.name);
    const events = changed.map((type) => conditionEvent(node, type, conditions.includes(type)));
    this.#writing = { id, conditions, events };
    const states = changed.map((type) => conditionState(now, type, conditions.includes(type)));
    return [{ kind: 'setPressureConditions', id, node, conditions: states }];
  }

  /** The news to be told now. A write that was not accepted is made again with the next observation. */
  answered(id: string, outcome: Outcome): readonly PressureCommand[] {
    const writing = this.#writing;
    if (writing?.id !== id) return [];
    this.#writing = null;
    if (outcome.kind !== 'done') return [];
    this.#written = writing.conditions;
    return writing.events;
  }
}

/** A write that is not answered yet, and the Events of its change. */
interface ConditionWrite {
  readonly id: string;
  readonly conditions: readonly PressureConditionType[];
  readonly events: readonly PressureCommand[];
}

function conditionState(now: Instant, type: PressureConditionType, holds: boolean): NodeCondition {
  const status = holds ? 'True' : 'False';
  const { reason, message } = pressureConditions[type][status];
  return { type, status, reason, message, heartbeatAt: now, transitionAt: now };
}

function conditionEvent(
  node: NodeRef,
  type: PressureConditionType,
  holds: boolean,
): PressureCommand {
  const { eventReason: reason } = pressureConditions[type][holds ? 'True' : 'False'];
  const message = `Node ${node.name} status is now: ${reason}`;
  return { kind: 'recordNodeEvent', node, type: 'Normal', reason, message };
}

/** Reports what changed on one node since the last report. */
class NodeReports {
  readonly #phases = new Map<string, ThresholdPhase>();
  /** An attempt was reported since the last observation. */
  #isAttemptReported = false;
  #doubts = '';
  #withheld = '';

  /**
   * The thresholds that came further or fell back. A signal that cannot be seen is reported as a
   * doubt.
   */
  observed(nodeName: string, states: readonly ThresholdState[]): readonly PressureCommand[] {
    this.#isAttemptReported = false;
    return states.flatMap((state): readonly PressureCommand[] => {
      const { threshold, phase: to } = state;
      const key = thresholdKey(threshold);
      const from = this.#phases.get(key) ?? 'clear';
      if (to === 'unknown' || to === from) return [];
      this.#phases.set(key, to);
      const because = to === 'clear' ? [] : [...thresholdReason(state), ...gracePeriods([state])];
      return [report({ kind: 'threshold', nodeName, threshold, from, to, because })];
    });
  }

  /** The faults in the known state of the node. */
  doubts(nodeName: string, because: readonly PressureReason[]): readonly PressureCommand[] {
    const reported = codes(because);
    if (reported === this.#doubts) return [];
    this.#doubts = reported;
    return [report({ kind: 'doubt', nodeName, because })];
  }

  /** Pods may have to go: reported once for an observation, before reclaiming. */
  attempt(node: NodeRef, signal: Signal): readonly PressureCommand[] {
    if (this.#isAttemptReported) return [];
    this.#isAttemptReported = true;
    const message = `Attempting to reclaim ${signals[signal].resource}`;
    const reason = 'EvictionThresholdMet';
    return [{ kind: 'recordNodeEvent', node, type: 'Warning', reason, message }];
  }

  /** Why nothing is done although something should be. */
  decided(nodeName: string, decision: PressureDecision): readonly PressureCommand[] {
    const because = decision.kind === 'withhold' ? decision.because : [];
    const reported = codes(because);
    if (reported === this.#withheld) return [];
    this.#withheld = reported;
    return reported === '' ? [] : [report({ kind: 'withheld', nodeName, because })];
  }
}

function report(reported: PressureReport): PressureCommand {
  return { kind: 'pressureReport', report: reported };
}

/** Numbers change all the time; their meaning does not. */
function codes(because: readonly PressureReason[]): string {
  return because.map((reason) => `${reason.code}/${signalOf(reason)}`).join();
}

function signalOf(reason: PressureReason): string {
  if ('signal' in reason) return reason.signal;
  return 'threshold' in reason ? reason.threshold.signal : '';
}

/** A node that was silent for this multiple of the usual time is not just asked seldom. */
const usualMax = 3;

/** Nothing is known of a lead that was not seen for twice as long: the clock may have been set right. */
const leadMs: Millis = 600_000;

/** The times of the answers of one node, and the conclusions from them. */
class AnswerTimes {
  /** The greatest since then, and in such a time before. */
  #lead: Millis = 0;
  #leadBefore: Millis = 0;
  #leadSince: Instant = Number.NEGATIVE_INFINITY;
  /** When it answered last, or failed to; null: never. */
  #last: Instant | null = null;
  #isFailed = false;
  /** The time since the answer before. */
  #spacing: Millis = 0;

  /**
   * The least lead of its clock over ours, as far as was seen: no sample comes before it was taken.
   * Where it was set right, later samples are waited for a while longer.
   */
  get lead(): Millis {
    return Math.max(this.#lead, this.#leadBefore);
  }

  /**
   * Takes an answer of the node. Returns the time that may have passed since the one before, judged
   * by how often it was asked so far: a node that is asked seldom was not out of sight. 0 where it
   * failed to answer the time before.
   */
  answered(now: Instant): Millis {
    const usual = this.#isFailed ? 0 : this.#spacing;
    this.#asked(now, false);
    return usualMax * usual;
  }

  /** The node was asked and did not answer. */
  failed(now: Instant): void {
    this.#asked(now, true);
  }

  /** These samples, which should be without fault, came at `now`. */
  came(now: Instant, samples: readonly Sample[]): void {
    if (now - this.#leadSince >= leadMs) {
      this.#leadBefore = this.#lead;
      this.#lead = 0;
      this.#leadSince = now;
    }
    const leads = samples.map(({ time }) => (time === null ? 0 : time - now));
    this.#lead = Math.max(this.#lead, ...leads);
  }

  #asked(now: Instant, isFailed: boolean): void {
    this.#spacing = this.#last === null ? 0 : now - this.#last;
    this.#last = now;
    this.#isFailed = isFailed;
  }
}

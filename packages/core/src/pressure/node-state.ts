// What is known of one node, and how far the work on it has come.
import type { Instant } from '../kernel/time.ts';
import { ConditionWriter } from './condition-writer.ts';
import type { DecideOptions, PassedOver, PressureDecision, PressureSite } from './decide.ts';
import type { PressureNode } from './event.ts';
import { AnswerTimes } from './observation/answer-times.ts';
import type { FilesystemLayout } from './observation/filesystems.ts';
import { SeenLayout } from './observation/layout.ts';
import {
  type NodeObservation,
  type PodUsage,
  type SampleFault,
  soundSamples,
} from './observation/observation.ts';
import type { PodStore, StoredPod } from './pods/pod-store.ts';
import type { PressureReason } from './reason.ts';
import { NodeReports } from './reports.ts';
import { type PressureSettings, withContainerFilesystem } from './settings/settings.ts';
import { amountOf, type Threshold } from './settings/thresholds.ts';
import { type PressureConditionType, signals } from './signals.ts';
import { ThresholdStates } from './threshold-states.ts';
import type { PressureWork, UnansweredEviction } from './work.ts';

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
  /** What nobody uses was cleared away since pods had to go. */
  reclaimed = false;
  /** Attempts that failed since the last one that did not. */
  failures = 0;
  readonly thresholdStates: ThresholdStates;
  readonly conditionWriter: ConditionWriter = new ConditionWriter();
  readonly reports: NodeReports = new NodeReports();
  readonly #options: DecideOptions;
  #observation: NodeObservation | null = null;
  /** Why the node could not be asked the last time; null: it could. */
  #readFault: Extract<PressureReason, { code: 'ReadFailed' }> | null = null;
  /** Samples until then do not show what was done last. */
  #freshAfter: Instant = Number.NEGATIVE_INFINITY;
  /** Pods that others made leave are waited for. */
  #waitsForOthers = false;
  readonly #passedOver = new Map<string, PassedOver>();
  readonly #answerTimes = new AnswerTimes();
  readonly #seenLayout = new SeenLayout();
  /** What the settings and the layout come to, until either changes. */
  #derived: readonly Threshold[] | null = null;
  #passes = 0;

  constructor(now: Instant, node: PressureNode, options: DecideOptions) {
    this.node = node;
    this.#options = options;
    this.thresholdStates = new ThresholdStates(options);
    this.thresholdStates.adopt(now, node.conditions);
  }

  /** How its file systems lie: as configured, else as seen; null: not seen yet. */
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
      // It was judged by the former thresholds: nobody goes by those any more.
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

  /** A kubelet knows how its file systems lie, once for all; from outside it is judged again. */
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

  /** What is wrong with what is known of it at `now`. */
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
    // Most nodes are well, and nobody asks what their pods use.
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

/** What other files see of a node: they read it, and say what happened. */
export type NodeState = Readonly<WritableNodeState>;

/** A node of which nothing was seen yet. */
export function nodeState(...args: ConstructorParameters<typeof WritableNodeState>): NodeState {
  return new WritableNodeState(...args);
}

/** Nobody sets thresholds for containerfs: they repeat those of the file system it lies on. */
function isDerivedAway({ code, signal }: SampleFault): boolean {
  return code === 'SignalMissing' && signals[signal].filesystem === 'containerfs';
}

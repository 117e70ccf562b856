import type { Outcome } from '../attempt/outcome.ts';
import { assert } from '../kernel/assert.ts';
import { ClusterClock } from '../kernel/cluster-clock.ts';
import { InFlight } from '../kernel/inflight.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant } from '../kernel/time.ts';
import { nodeRef } from '../model/node.ts';
import { selects } from '../model/selector.ts';
import type { PressureCommand } from './command.ts';
import { ConditionWriter } from './condition-writer.ts';
import { type PressureConfig, resolvePressureConfig } from './config.ts';
import { type DecideOptions, decidePressure, type PressureDecision } from './decide.ts';
import type { PressureEvent, PressureNode } from './event.ts';
import { localLimitMessage, pressureText } from './eviction-message.ts';
import { Evictor } from './evictor.ts';
import { explainPressure, type PressureExplanation } from './explain.ts';
import { localLimitSignals } from './local-limits.ts';
import { NodeRecord } from './node-record.ts';
import { byOurTime, type NodeObservation } from './observation/observation.ts';
import { PodStore } from './pods/pod-store.ts';
import { reportDoubts, reportPhases, reportWithheld } from './reports.ts';
import { localLimitGracePeriodSeconds, pressureRules } from './semantics.ts';
import { type PressureSettings, resolvePressureSettings } from './settings/settings.ts';
import { type Signal, signals } from './signals.ts';

/**
 * Evicts pods from nodes that run out of something. It does no I/O, reads no clock and never waits.
 */
export interface PressureMachine {
  /**
   * Takes one event. `now` must not go backwards (throws). Commands that change the cluster come
   * with a tick only: after an event nextWake() says when, which may be at once.
   */
  handle(now: Instant, event: PressureEvent): readonly PressureCommand[];
  /** The earliest instant at which a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null;
  /** How a node stands, and who would go; null for a node that is not known. */
  explain(now: Instant, nodeName: string): PressureExplanation | null;
}

/** A new machine that knows nothing yet. Throws RangeError for an option that is not allowed. */
export function createPressureMachine(options: Partial<PressureConfig> = {}): PressureMachine {
  return new NodePressureMachine(resolvePressureConfig(options));
}

/**
 * Evicts pods from nodes that run out of memory, disk, inodes or process ids.
 *
 * Theory of operation. Whoever holds the machine asks the nodes how they are, as often as it likes,
 * and reports what they answered. An observation moves the thresholds of its node (threshold-states.ts); the
 * next tick decides (decide.ts) and acts. Each node has one piece of work at most:
 *
 *                  +--- not enough ---- reclaimed <--done-- reclaiming
 *                  v                        |                  ^
 *       failed <-- evicting <---------------|------ (none) ----+
 *         |           |  |                enough      ^  ^
 *         +---------->+  +--accepted--> leaving ------+  |
 *                     |                    gone, or late |
 *                     +-- refused: passed over ----------+
 *
 * One pod goes at a time; only limits on local storage make several go. What was measured before a
 * pod was gone does not count for the next one. Without an observation nothing is decided: a node
 * that cannot be seen loses no pod. Before `synced` and without leadership nothing is sent, but all
 * observations are followed, so that grace periods have run when the turn comes.
 */
class NodePressureMachine implements PressureMachine {
  readonly #config: PressureConfig;
  readonly #options: DecideOptions;
  readonly #settings: PressureSettings | null;
  readonly #pools: ReadonlyMap<string, PressureSettings>;
  readonly #clock = new ClusterClock();
  readonly #nodes = new Map<string, NodeRecord>();
  readonly #pods = new PodStore();
  /** When each node is to be looked at. */
  readonly #due = new Schedule();
  readonly #evictor: Evictor;
  readonly #conditions = new ConditionWriter();
  readonly #reclaims = new InFlight('pressure-reclaim', Number.POSITIVE_INFINITY);
  /** Nodes that wait for an eviction elsewhere to be answered. */
  readonly #held = new Set<string>();
  #synced = false;
  #leader: boolean;
  #now: Instant = Number.NEGATIVE_INFINITY;
  #commands: PressureCommand[] = [];

  constructor(config: PressureConfig) {
    const { sampleAgeMsMax, leavingWaitMsMax, settings, pools, leader } = config;
    const rules = pressureRules[config.semantics];
    this.#config = config;
    this.#leader = leader;
    this.#options = { rules, sampleAgeMsMax, leavingWaitMsMax };
    this.#evictor = new Evictor(config, rules);
    this.#settings = settings && resolvePressureSettings(settings);
    this.#pools = new Map(pools.map((pool) => [pool.name, resolvePressureSettings(pool.settings)]));
  }

  handle(now: Instant, event: PressureEvent): readonly PressureCommand[] {
    assert(now >= this.#now, `time goes forward: ${now} after ${this.#now}`);
    this.#now = now;
    this.#commands = [];
    this.#take(now, event);
    return this.#commands;
  }

  nextWake(): Instant | null {
    return this.#mayAct ? this.#due.next() : null;
  }

  explain(now: Instant, nodeName: string): PressureExplanation | null {
    const record = this.#nodes.get(nodeName);
    return record ? explainPressure(now, record, this.#siteOf(record), this.#options) : null;
  }

  get #mayAct(): boolean {
    return this.#synced && this.#leader;
  }

  #take(now: Instant, event: PressureEvent): void {
    switch (event.kind) {
      case 'pressureNode':
        this.#takeNode(now, event.node);
        return;
      case 'pressureNodeGone':
        this.#forgetNode(event.name);
        return;
      case 'pressurePod':
        this.#pods.put(now, event.pod);
        this.#followLeaving(now, event.pod.nodeName);
        return;
      case 'pressurePodGone':
        this.#followLeaving(now, this.#pods.delete(event.uid));
        return;
      case 'observed':
        this.#observe(now, event.nodeName, byOurTime(event.observation, this.#clock));
        return;
      case 'observationFailed':
        this.#missObservation(now, event.nodeName, event.message);
        return;
      case 'clock':
        this.#clock.set(event.ahead);
        return;
      case 'synced':
        this.#synced = true;
        return;
      case 'leadership':
        this.#leader = event.held;
        return;
      case 'result':
        this.#settle(now, event.id, event.outcome);
        return;
      case 'tick':
        if (this.#mayAct) this.#act(now);
    }
  }

  #takeNode(now: Instant, node: PressureNode): void {
    const pool = this.#config.pools.find(({ selector }) => selects(selector, node.labels)) ?? null;
    const settings = pool ? (this.#pools.get(pool.name) ?? null) : this.#settings;
    const known = this.#nodes.get(node.name);
    if (known?.node.uid === node.uid) {
      if (known.settings !== settings) this.#wake(node.name, now);
      known.configure(node, pool?.name ?? null, settings);
      return;
    }
    const record = new NodeRecord(node, this.#options);
    record.configure(node, pool?.name ?? null, settings);
    record.thresholdStates.adopt(now, node.conditions);
    this.#nodes.set(node.name, record);
    this.#wake(node.name, now);
  }

  #forgetNode(name: string): void {
    this.#nodes.delete(name);
    this.#due.cancel(name);
    this.#held.delete(name);
  }

  /** A pod that was waited for may be gone: from now on one can see what that freed. */
  #followLeaving(now: Instant, nodeName: string | null): void {
    const record = nodeName === null ? undefined : this.#nodes.get(nodeName);
    if (!record) return;
    if (record.work?.kind === 'leaving') {
      if (record.work.pods.some(({ uid }) => this.#pods.isActive(uid))) return;
      record.work = null;
      record.freshAfter = now;
    } else if (record.waitsForOthers) {
      const pods = this.#pods.activeOn(record.node.name);
      record.waitsForOthers = pods.some(({ leavingSince }) => leavingSince !== null);
      if (!record.waitsForOthers) record.freshAfter = now;
    }
  }

  #observe(now: Instant, nodeName: string, observation: NodeObservation): void {
    const record = this.#nodes.get(nodeName);
    if (!record?.settings) return;
    this.#wake(nodeName, now);
    if (record.work?.kind === 'reclaimed') {
      record.endReclaim(record.isPressed(observation));
      return;
    }
    record.observe(now, observation);
    this.#commands.push(...reportPhases(record), ...reportDoubts(now, record));
  }

  /** Whether reclaiming was enough one cannot see, so it was not. */
  #missObservation(now: Instant, nodeName: string, message: string): void {
    const record = this.#nodes.get(nodeName);
    if (!record) return;
    record.readFault = { code: 'ReadFailed', message, at: now };
    if (record.work?.kind === 'reclaimed') {
      record.endReclaim(true);
      this.#wake(nodeName, now);
    }
    this.#commands.push(...reportDoubts(now, record));
  }

  #settle(now: Instant, id: string, outcome: Outcome): void {
    const evictedOn = this.#evictor.finish(id);
    const writtenOn = this.#conditions.finish(id);
    const reclaimedOn = this.#reclaims.finish(id);
    if (evictedOn !== null) for (const name of this.#held) this.#wake(name, now);
    if (evictedOn !== null) this.#held.clear();
    const record = this.#nodes.get(evictedOn ?? writtenOn ?? reclaimedOn ?? '');
    if (!record) return;
    if (evictedOn !== null) {
      this.#commands.push(...this.#evictor.settle(now, record, id, outcome));
      this.#followLeaving(now, evictedOn);
      this.#wake(evictedOn, now);
    }
    if (writtenOn !== null) this.#conditions.settle(record, id, outcome);
    if (reclaimedOn !== null) this.#settleReclaim(now, record, id);
  }

  /** Done or failed: what is seen next tells whether pods have to go. */
  #settleReclaim(now: Instant, record: NodeRecord, id: string): void {
    if (record.work?.kind !== 'reclaiming' || record.work.id !== id) return;
    if (this.#options.rules.anyAfterReclaim) {
      record.work = { kind: 'reclaimed' };
      return;
    }
    record.endReclaim(true);
    record.freshAfter = now;
  }

  #act(now: Instant): void {
    const names: string[] = [];
    for (let name = this.#due.takeDue(now); name !== null; name = this.#due.takeDue(now)) {
      names.push(name);
    }
    for (const name of names) {
      const record = this.#nodes.get(name);
      assert(record !== undefined, `node ${name} that is due is known`);
      this.#commands.push(...this.#conditions.write(this.#clock.wall(now), record));
      if (this.#isFree(now, record)) this.#decide(now, record);
    }
  }

  /** Whether nothing is under way on the node; what waited long enough is under way no more. */
  #isFree(now: Instant, record: NodeRecord): boolean {
    const { work } = record;
    if (work === null) return true;
    if (!('until' in work)) return false;
    if (work.until > now) {
      this.#wake(record.node.name, work.until);
      return false;
    }
    if (work.kind === 'leaving') record.freshAfter = now;
    record.work = null;
    return true;
  }

  #decide(now: Instant, record: NodeRecord): void {
    record.forgetRefusals(now);
    const site = record.isSpent ? null : this.#siteOf(record);
    if (!site) return;
    const decision = decidePressure(now, site, this.#options);
    if (decision.kind !== 'withhold') record.reportedWithheld = '';
    switch (decision.kind) {
      case 'keep':
        record.reclaimed = false;
        return;
      case 'withhold':
        this.#withhold(record, decision);
        return;
      case 'reclaim':
        this.#reclaim(record, decision);
        return;
      case 'evict':
        if (this.#hasTurn(now, record)) this.#evict(now, record, decision);
        return;
      case 'enforce':
        if (this.#hasTurn(now, record)) this.#enforce(now, record, decision);
    }
  }

  #withhold(record: NodeRecord, decision: Extract<PressureDecision, { kind: 'withhold' }>): void {
    const { due, until, because } = decision;
    record.waitsForOthers = because[0]?.code === 'PodLeaving';
    // Deciding again before something else is seen would say the same.
    record.isSpent = until === null;
    if (until !== null) this.#wake(record.node.name, until);
    if (because[0]?.code === 'NoCandidate') {
      this.#recordAttempt(record, due.threshold.signal);
      record.reclaimed = false;
    }
    this.#commands.push(...reportWithheld(record, decision));
  }

  #reclaim(
    record: NodeRecord,
    { due, functions, because }: Extract<PressureDecision, { kind: 'reclaim' }>,
  ): void {
    const { signal } = due.threshold;
    const { resource } = signals[signal];
    const node = nodeRef(record.node);
    this.#recordAttempt(record, signal);
    const id = this.#reclaims.start(node.name);
    record.work = { kind: 'reclaiming', id };
    this.#commands.push({ kind: 'reclaimNode', id, node, resource, functions, because });
  }

  #evict(
    now: Instant,
    record: NodeRecord,
    { due, target, gracePeriodSeconds, because }: Extract<PressureDecision, { kind: 'evict' }>,
  ): void {
    const { rules } = this.#options;
    const { disruptionTarget } = rules;
    const { signal } = due.threshold;
    this.#recordAttempt(record, signal);
    record.reclaimed = false;
    const { pod } = target;
    const text = pressureText(target, due, rules);
    const eviction = { pod, text, signal, gracePeriodSeconds, disruptionTarget, because };
    this.#commands.push(...this.#evictor.start(now, record, [eviction]));
  }

  #enforce(
    now: Instant,
    record: NodeRecord,
    { breaches }: Extract<PressureDecision, { kind: 'enforce' }>,
  ): void {
    const evictions = breaches.map(({ pod, breach }) => ({
      pod,
      text: { message: localLimitMessage(breach), annotations: {} },
      signal: localLimitSignals[breach.kind],
      gracePeriodSeconds: localLimitGracePeriodSeconds,
      disruptionTarget: false,
      because: [{ code: 'LocalLimit', breach } as const],
    }));
    this.#commands.push(...this.#evictor.start(now, record, evictions));
  }

  /** Whether one more eviction may begin; if not, the node is looked at when one may. */
  #hasTurn(now: Instant, { node }: NodeRecord): boolean {
    const readyAt = this.#evictor.readyAt(now);
    if (readyAt === null) this.#held.add(node.name);
    else if (readyAt > now) this.#wake(node.name, readyAt);
    return readyAt !== null && readyAt <= now;
  }

  /** Told once, before what nobody uses is cleared away. */
  #recordAttempt(record: NodeRecord, signal: Signal): void {
    if (record.reclaimed || record.isAnnounced) return;
    record.isAnnounced = true;
    this.#commands.push({
      kind: 'recordNodeEvent',
      node: nodeRef(record.node),
      type: 'Warning',
      reason: 'EvictionThresholdMet',
      message: `Attempting to reclaim ${signals[signal].resource}`,
    });
  }

  #siteOf(record: NodeRecord): ReturnType<NodeRecord['site']> {
    return record.site(this.#pods.activeOn(record.node.name));
  }

  /** Looks at the node at `at`, or earlier if that was to be so already. */
  #wake(name: string, at: Instant): void {
    const before = this.#due.at(name);
    if (before === null || at < before) this.#due.set(name, at);
  }
}

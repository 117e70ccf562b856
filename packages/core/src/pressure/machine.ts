import { blockerOf } from '../attempt/blocker.ts';
import { isSetback, type Outcome, type Setback } from '../attempt/outcome.ts';
import { evenTry, nextAttempt } from '../attempt/retry.ts';
import { assert } from '../kernel/checks.ts';
import { InFlight } from '../kernel/inflight.ts';
import { Schedule } from '../kernel/schedule.ts';
import { ClusterClock, type Instant, notBefore } from '../kernel/time.ts';
import { TokenBucket } from '../kernel/token-bucket.ts';
import { nodeRef } from '../model/node.ts';
import { type PodRef, podRef } from '../model/pod.ts';
import { selects } from '../model/selector.ts';
import {
  localLimitGracePeriodSeconds,
  type PressureBehaviour,
  pressureBehaviours,
  sparing,
} from './behaviours.ts';
import { type PressureConfig, resolvePressureConfig } from './config.ts';
import { decidePressure, type PressureDecision, type PressureOptions } from './decide.ts';
import { type EvictionText, pressureText } from './eviction-message.ts';
import { explainPressure, type PressureExplanation } from './explain.ts';
import { localLimitMessage, localLimitSignals } from './local-limits.ts';
import {
  type NodeState,
  nodeState,
  type PressureWork,
  type UnansweredEviction,
} from './node-state.ts';
import { byOurTime, type NodeObservation } from './observation/observation.ts';
import { PodStore } from './pods/pod-store.ts';
import type { PressurePod } from './pods/pressure-pod.ts';
import type { PressureCommand, PressureEvent, PressureNode } from './pressure-command.ts';
import type { PressureReason } from './reason.ts';
import { type PressureSettings, resolvePressureSettings } from './settings/settings.ts';
import { type Signal, signals } from './signals.ts';

/**
 * Evicts pods from nodes that run out of something. The machine does no I/O, reads no clock and
 * never waits.
 */
export interface PressureMachine {
  /**
   * Takes one event. `now` must not go backwards (throws). Commands that change the cluster come
   * with a tick only: after an event nextWake() says when, which may be at once.
   */
  handle(now: Instant, event: PressureEvent): readonly PressureCommand[];
  /**
   * The earliest instant at which a tick could yield a command, never before that of the last event; null: only
   * an event can.
   */
  nextWake(): Instant | null;
  /** The state of a node, and who would go; null for a node that is not known. */
  explain(now: Instant, nodeName: string): PressureExplanation | null;
}

/** A new machine that knows nothing yet. Throws RangeError for an option that is not allowed. */
export function createPressureMachine(options: Partial<PressureConfig> = {}): PressureMachine {
  return new NodePressureMachine(resolvePressureConfig(options));
}

/**
 * Evicts pods from nodes that run out of memory, disk, inodes or process ids.
 *
 * Theory of operation. The machine's caller asks the nodes for their state, as often as it likes,
 * and reports their answers. An observation moves the thresholds of its node (threshold-states.ts);
 * the next tick decides (decide.ts) and acts. What happens changes the node's state
 * (node-state.ts), which has one piece of work at most:
 *
 *                  +--- not enough ---- reclaimed <--done-- reclaiming
 *                  v                        |                  ^
 *       failed <-- evicting <---------------|------ (none) ----+
 *         |           |  |                enough      ^  ^
 *         +---------->+  +--accepted--> leaving ------+  |
 *                     |                    gone, or late |
 *                     +-- refused: passed over ----------+
 *
 * One pod goes at a time; only limits on local storage make several go. Measurements from before a
 * pod was gone do not count for the next one. Without an observation nothing is decided: a node
 * that cannot be seen loses no pod. Before `synced` and without leadership nothing is sent, but all
 * observations are followed, so that grace periods have run when the turn comes.
 */
class NodePressureMachine implements PressureMachine {
  readonly #config: PressureConfig;
  readonly #options: PressureOptions;
  readonly #settings: PressureSettings | null;
  readonly #pools: ReadonlyMap<string, PressureSettings>;
  readonly #clock = new ClusterClock();
  readonly #nodes = new Map<string, NodeState>();
  readonly #pods: PodStore;
  /** The time of the next look at each node. */
  readonly #due = new Schedule();
  readonly #evictor: Evictor;
  readonly #conditionWrites = new InFlight('pressure-condition', Number.POSITIVE_INFINITY);
  readonly #reclaims = new InFlight('pressure-reclaim', Number.POSITIVE_INFINITY);
  /** Nodes that wait for an eviction elsewhere to be answered. */
  readonly #held = new Set<string>();
  #synced = false;
  #leader: boolean;
  #now: Instant = Number.NEGATIVE_INFINITY;
  #commands: PressureCommand[] = [];

  constructor(config: PressureConfig) {
    const { sampleAgeMsMax, leavingWaitMsMax, settings, pools, leader } = config;
    const behaviour = sparing(config.ownPod, pressureBehaviours[config.semantics]);
    this.#config = config;
    this.#leader = leader;
    this.#options = { behaviour, sampleAgeMsMax, leavingWaitMsMax };
    this.#pods = new PodStore(behaviour);
    this.#evictor = new Evictor(config, behaviour);
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
    return this.#mayAct ? notBefore(this.#now, this.#due.next()) : null;
  }

  explain(now: Instant, nodeName: string): PressureExplanation | null {
    const state = this.#nodes.get(nodeName);
    return state ? explainPressure(now, state, this.#siteOf(state), this.#options) : null;
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
        this.#podsChanged(now, event.pod.nodeName);
        return;
      case 'pressurePodGone':
        this.#podsChanged(now, this.#pods.delete(event.uid));
        return;
      case 'observed':
        this.#observed(now, event.nodeName, byOurTime(event.observation, this.#clock));
        return;
      case 'observationFailed':
        this.#readFailed(now, event.nodeName, event.message);
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
        this.#answered(now, event.id, event.outcome);
        return;
      case 'tick':
        if (this.#mayAct) this.#act(now);
    }
  }

  #takeNode(now: Instant, node: PressureNode): void {
    const pool = this.#config.pools.find(({ selector }) => selects(selector, node.labels)) ?? null;
    const settings = pool ? (this.#pools.get(pool.name) ?? null) : this.#settings;
    const known = this.#nodes.get(node.name);
    const state = known?.node.uid === node.uid ? known : nodeState(now, node, this.#options);
    if (state !== known || state.settings !== settings) this.#wake(node.name, now);
    state.configured(node, pool?.name ?? null, settings);
    this.#nodes.set(node.name, state);
  }

  #forgetNode(name: string): void {
    this.#nodes.delete(name);
    this.#due.cancel(name);
    this.#held.delete(name);
  }

  #podsChanged(now: Instant, nodeName: string | null): void {
    if (nodeName !== null) this.#nodes.get(nodeName)?.podsChanged(now, this.#pods);
  }

  #observed(now: Instant, nodeName: string, observation: NodeObservation): void {
    const state = this.#nodes.get(nodeName);
    if (!state?.settings) return;
    this.#wake(nodeName, now);
    if (state.work?.kind === 'reclaimed') {
      state.reclaimObserved(observation);
      return;
    }
    state.observed(now, observation);
    this.#commands.push(...state.reports.observed(nodeName, state.thresholdStates.states));
    this.#commands.push(...state.reports.doubts(nodeName, state.doubts(now)));
  }

  #readFailed(now: Instant, nodeName: string, message: string): void {
    const state = this.#nodes.get(nodeName);
    if (!state) return;
    if (state.work?.kind === 'reclaimed') this.#wake(nodeName, now);
    state.readFailed(now, message);
    this.#commands.push(...state.reports.doubts(nodeName, state.doubts(now)));
  }

  #answered(now: Instant, id: string, outcome: Outcome): void {
    const evictedOn = this.#evictor.finish(id);
    const writtenOn = this.#conditionWrites.finish(id);
    const reclaimedOn = this.#reclaims.finish(id);
    if (evictedOn !== null) for (const name of this.#held) this.#wake(name, now);
    if (evictedOn !== null) this.#held.clear();
    const state = this.#nodes.get(evictedOn ?? writtenOn ?? reclaimedOn ?? '');
    if (!state) return;
    if (evictedOn !== null) {
      this.#commands.push(...this.#evictor.answered(now, state, id, outcome));
      state.podsChanged(now, this.#pods);
      this.#wake(evictedOn, now);
    }
    if (writtenOn !== null) this.#commands.push(...state.conditionWriter.answered(id, outcome));
    if (reclaimedOn !== null) state.reclaimAnswered(now, id);
  }

  #act(now: Instant): void {
    const names: string[] = [];
    for (let name = this.#due.takeDue(now); name !== null; name = this.#due.takeDue(now)) {
      names.push(name);
    }
    for (const name of names) {
      const state = this.#nodes.get(name);
      assert(state !== undefined, `node ${name} that is due is known`);
      this.#writeConditions(now, state);
      state.timePassed(now);
      const { work } = state;
      if (work === null) this.#decide(now, state);
      else if ('until' in work) this.#wake(name, work.until);
    }
  }

  #writeConditions(now: Instant, { node, conditions, conditionWriter }: NodeState): void {
    const wall = this.#clock.wall(now);
    const writes = conditionWriter.write(wall, nodeRef(node), conditions, this.#conditionWrites);
    this.#commands.push(...writes);
  }

  #decide(now: Instant, state: NodeState): void {
    const site = state.isSpent ? null : this.#siteOf(state);
    if (!site) return;
    const decision = decidePressure(now, site, this.#options);
    switch (decision.kind) {
      case 'keep':
        state.roundEnded();
        break;
      case 'withhold':
        this.#withhold(state, decision);
        break;
      case 'reclaim':
        this.#reclaim(state, decision);
        break;
      case 'evict':
        if (this.#hasTurn(now, state)) this.#evict(now, state, decision);
        break;
      case 'enforce':
        if (this.#hasTurn(now, state)) this.#enforce(now, state, decision);
    }
    this.#commands.push(...state.reports.decided(state.node.name, decision));
  }

  #withhold(state: NodeState, decision: Extract<PressureDecision, { kind: 'withhold' }>): void {
    const { due, until, because } = decision;
    if (until !== null) this.#wake(state.node.name, until);
    if (because[0]?.code === 'NoCandidate') this.#recordAttempt(state, due.threshold.signal);
    state.withheld(decision);
  }

  #reclaim(
    state: NodeState,
    { due, functions, because }: Extract<PressureDecision, { kind: 'reclaim' }>,
  ): void {
    const { signal } = due.threshold;
    const { resource } = signals[signal];
    const node = nodeRef(state.node);
    this.#recordAttempt(state, signal);
    const id = this.#reclaims.start(node.name);
    state.reclaimBegan(id);
    this.#commands.push({ kind: 'reclaimNode', id, node, resource, functions, because });
  }

  #evict(
    now: Instant,
    state: NodeState,
    { due, target, gracePeriodSeconds, because }: Extract<PressureDecision, { kind: 'evict' }>,
  ): void {
    const { behaviour } = this.#options;
    const { disruptionTarget } = behaviour;
    const { signal } = due.threshold;
    this.#recordAttempt(state, signal);
    state.roundEnded();
    const { pod } = target;
    const text = pressureText(target, due, behaviour);
    const eviction = { pod, text, signal, gracePeriodSeconds, disruptionTarget, because };
    this.#commands.push(...this.#evictor.start(now, state, [eviction]));
  }

  #enforce(
    now: Instant,
    state: NodeState,
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
    this.#commands.push(...this.#evictor.start(now, state, evictions));
  }

  /** True when one more eviction may begin; if not, the node is looked at when one may. */
  #hasTurn(now: Instant, { node }: NodeState): boolean {
    const readyAt = this.#evictor.readyAt(now);
    if (readyAt === null) this.#held.add(node.name);
    else if (readyAt > now) this.#wake(node.name, readyAt);
    return readyAt !== null && readyAt <= now;
  }

  #recordAttempt({ reclaimed, node, reports }: NodeState, signal: Signal): void {
    if (!reclaimed) this.#commands.push(...reports.attempt(nodeRef(node), signal));
  }

  #siteOf(state: NodeState): ReturnType<NodeState['site']> {
    return state.site(this.#pods.activeOn(state.node.name));
  }

  /** Looks at the node at `at`, or earlier if that was to be so already. */
  #wake(name: string, at: Instant): void {
    const before = this.#due.at(name);
    if (before === null || at < before) this.#due.set(name, at);
  }
}

/** A pod that has to leave, and how. */
interface PressureEviction {
  readonly pod: PressurePod;
  readonly text: EvictionText;
  /** The signal under which metrics count it. */
  readonly signal: string;
  readonly gracePeriodSeconds: number;
  readonly disruptionTarget: boolean;
  readonly because: readonly PressureReason[];
}

type Evicting = Extract<PressureWork, { kind: 'evicting' }>;

/** Sends evictions within the limits of all nodes together, and handles their results. */
class Evictor {
  readonly #config: PressureConfig;
  readonly #behaviour: PressureBehaviour;
  readonly #inFlight: InFlight;
  readonly #bucket: TokenBucket | null;

  constructor(config: PressureConfig, behaviour: PressureBehaviour) {
    const { evictionsInFlightMax, evictionsPerSecond: rate } = config;
    this.#config = config;
    this.#behaviour = behaviour;
    this.#inFlight = new InFlight('pressure-eviction', evictionsInFlightMax);
    this.#bucket = rate === null ? null : new TokenBucket(rate, Math.max(1, rate));
  }

  /** When one more may begin; null: when another one is answered. */
  readyAt(now: Instant): Instant | null {
    if (!this.#inFlight.hasRoom) return null;
    return this.#bucket?.readyAt(now) ?? now;
  }

  /** Begins as many as may begin now; the next observation of the node shows the others again. */
  start(
    now: Instant,
    state: NodeState,
    evictions: readonly PressureEviction[],
  ): readonly PressureCommand[] {
    const unanswered = new Map<string, UnansweredEviction>();
    const commands: PressureCommand[] = [];
    for (const eviction of evictions) {
      const readyAt = this.readyAt(now);
      if (readyAt === null || readyAt > now) break;
      this.#bucket?.take(now);
      const id = this.#inFlight.start(state.node.name);
      const pod = podRef(eviction.pod);
      unanswered.set(id, { pod, text: eviction.text });
      commands.push(evictCommand(id, pod, eviction));
    }
    state.evictionsBegan(unanswered);
    return commands;
  }

  /** Frees the place of a command; the name of its node, or null for one that is not ours. */
  finish(id: string): string | null {
    return this.#inFlight.finish(id);
  }

  /** Takes the answer to an eviction of the node; returns the reports. */
  answered(
    now: Instant,
    state: NodeState,
    id: string,
    outcome: Outcome,
  ): readonly PressureCommand[] {
    const { work } = state;
    const eviction = work?.kind === 'evicting' ? work.unanswered.get(id) : undefined;
    if (work?.kind !== 'evicting' || !eviction) return [];
    const { pod, text } = eviction;
    const unanswered = new Map(work.unanswered);
    unanswered.delete(id);
    if (!isSetback(outcome) || this.#behaviour.failureCounts) {
      const leaving = [...work.leaving, pod];
      state.evictionAnswered(this.#next(now, state, { ...work, unanswered, leaving }));
      return outcome.kind === 'gone' ? [] : [evictedEvent(pod, text)];
    }
    const passes = blockerOf(outcome).verdict !== 'resolves';
    const { blockedRetryWaitMs } = this.#config;
    const until = passes
      ? evenTry(now, outcome, blockedRetryWaitMs)
      : this.#retryAt(now, state, outcome);
    if (passes) state.podPassedOver(pod.uid, { setback: outcome, until });
    const setback = passes ? work.setback : outcome;
    state.evictionAnswered(this.#next(now, state, { ...work, unanswered, setback }));
    return [
      { kind: 'pressureReport', report: { kind: 'pressureRetry', pod, setback: outcome, until } },
    ];
  }

  /** Once all are answered: waits for those that go, else tries again, else looks at the others. */
  #next(now: Instant, state: NodeState, work: Evicting): PressureWork | null {
    const { unanswered, leaving: pods, setback } = work;
    if (unanswered.size > 0) return work;
    if (pods.length > 0) {
      return { kind: 'leaving', pods, until: now + this.#config.leavingWaitMsMax };
    }
    return setback && { kind: 'failed', setback, until: this.#retryAt(now, state, setback) };
  }

  #retryAt(now: Instant, { node, failures }: NodeState, setback: Setback): Instant {
    return nextAttempt(now, node.name, failures + 1, this.#config, setback);
  }
}

function evictCommand(id: string, pod: PodRef, eviction: PressureEviction): PressureCommand {
  const { text, signal, gracePeriodSeconds, because } = eviction;
  const disruptionTarget = eviction.disruptionTarget ? 'TerminationByKubelet' : null;
  const { message } = text;
  const status = { phase: 'Failed', reason: 'Evicted', message, disruptionTarget } as const;
  const { generation } = eviction.pod;
  const how = { gracePeriodSeconds, status, signal, because };
  return { kind: 'evictUnderPressure', id, pod, generation, ...how };
}

function evictedEvent(pod: PodRef, { message, annotations }: EvictionText): PressureCommand {
  const event = { type: 'Warning', reason: 'Evicted', message, annotations } as const;
  return { kind: 'recordPressureEvent', pod, ...event };
}

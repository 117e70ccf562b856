// The drain machine: taints nodes in turn and makes their pods leave within budgets and limits.

import { isDue, isTried } from '../attempt/attempt.ts';
import type { Outcome } from '../attempt/outcome.ts';
import type { PodCommand, RecordPodEvent } from '../attempt/pod-command.ts';
import type { Event } from '../event.ts';
import { describeReason, type Reason } from '../eviction/reason.ts';
import { askerOf } from '../kernel/inflight.ts';
import { earliest, type Instant, notBefore } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { formatTaint } from '../model/taint.ts';
import { decidingToleration } from '../model/toleration.ts';
import { type DrainConfig, drainTaint } from '../policy/node-drain.ts';
import type { RenewMark } from './node-taints.ts';
import { DrainNodes, type NodeHolds } from './node-turns.ts';
import {
  carriesTaint,
  DrainDecider,
  type DrainTimes,
  drainFaultsText,
  type Fate,
  fateOf,
  skipAt,
} from './pod-filters.ts';
import { DrainRequests, ForeignEvictions, heldUpAt, PodTurns } from './pod-turns.ts';
import {
  type DrainNode,
  type DrainNote,
  type DrainPod,
  DrainPods,
  type DrainStop,
  type DrainTarget,
  type DrainView,
  heldUpMs,
  isDone,
  isStaying,
  isStayingOn,
  openGate,
  outOfTurn,
  type PodGate,
  type TaintNode,
} from './state.ts';
import { Returns, returnBlocker } from './workloads.ts';

/** The commands of a drain machine. */
export type DrainCommand = PodCommand<Reason> | RecordPodEvent<Reason> | TaintNode | RenewMark;

/**
 * Drains nodes by a taint: each is tainted when its turn has come, and then the pods go that do not
 * tolerate the taint, each when its time is over.
 *
 * Theory of operation. Each pod, known by its uid, takes this way; a pod that never leaves is
 * `kept` or `left`:
 *
 *     waiting --due--> queued --turn and room--> requested --accepted--> accepted --> terminating --> gone
 *                       ^  ^                       |  |                     |              |
 *                       |  +- due -- blocked, <----+  +--> givenUp          |           too long
 *                       |             failed                                |              v
 *                       +---------------------------- unconfirmed ----------+           skipped
 *
 * A node begins when its turn has come, or ends then where pods are that must not go. A node ends
 * when nothing more is expected of its pods, when its time is over, or when the node or its taint
 * is gone. Events only change what is known; a tick acts. A pod that returns under the same name is
 * another pod; a pod that comes to a target node late is drained as well.
 */
export class DrainMachine implements DrainView {
  readonly #config: DrainConfig;
  readonly #times: DrainTimes;
  readonly #decider: DrainDecider;
  readonly #nodes: DrainNodes;
  readonly #pods = new DrainPods();
  readonly #requests: DrainRequests;
  readonly #turns: PodTurns;
  readonly #others: ForeignEvictions;
  readonly #reconciler: PodReconciler;
  #synced = false;
  #notes: DrainNote[] = [];
  /** DaemonSets that do not tolerate the taint, as `namespace/name`, and the nodes of their pods. */
  readonly #keptOff = new Map<string, Set<string>>();
  /** Nodes that have begun since the last tick: what holds their pods counts from now on. */
  #begun: string[] = [];
  /** When there is something to do that no schedule names; null: nothing. */
  #actAt: Instant | null = null;
  #now: Instant = Number.NEGATIVE_INFINITY;

  /** `times`: those of the store that has taken each event when this machine is given it. */
  constructor(config: DrainConfig, times: DrainTimes, gate: PodGate = openGate) {
    this.#config = config;
    this.#times = times;
    this.#decider = new DrainDecider(config, times);
    const note = (one: DrainNote): void => {
      this.#notes.push(one);
      if (one.kind === 'nodeBegun') this.#begun.push(one.node);
    };
    this.#nodes = new DrainNodes(config, note);
    const { store } = this.#decider;
    const site = { store, nodes: this.#nodes, pods: this.#pods, gate, note };
    this.#requests = new DrainRequests(config, site);
    const requests = this.#requests;
    this.#turns = new PodTurns(config, { ...site, requests });
    this.#others = new ForeignEvictions(config, site);
    const [decider, turns] = [this.#decider, this.#turns];
    this.#reconciler = new PodReconciler(config, { ...site, decider, requests, turns });
  }

  /** The target nodes, in the order of their turns. */
  nodes(): readonly DrainNode[] {
    return this.#nodes.phases.list();
  }

  /** The pods of the target nodes, those that are gone included. */
  pods(): readonly DrainPod[] {
    return this.#pods.all();
  }

  /** The pods that run on though they are no longer evicted, of nodes whose turn has come. */
  staying(): readonly DrainPod[] {
    const { store } = this.#decider;
    return this.pods().filter((known) => {
      const { uid, nodeName } = known.pod;
      return isStayingOn(known, store.pod(uid)) && !this.#nodes.phases.isPending(nodeName);
    });
  }

  /** The DaemonSets, as `namespace/name`, whose pods the taint keeps off nodes. */
  keptOff(): readonly string[] {
    const { phases } = this.#nodes;
    const isBarred = (name: string): boolean => phases.has(name) && !phases.isPending(name);
    const sets = [...this.#keptOff].filter(([, nodes]) => [...nodes].some(isBarred));
    return sets.map(([name]) => name).sort();
  }

  /** True if everything that existed has been seen once. */
  get synced(): boolean {
    return this.#synced;
  }

  /** True if every node has ended and no request awaits its answer. */
  get finished(): boolean {
    return this.#nodes.phases.allEnded && this.pods().every(({ awaitsAnswer }) => !awaitsAnswer);
  }

  /** Why the drain was stopped; null: it was not. */
  get stop(): DrainStop | null {
    return this.#others.stop;
  }

  /** True if another run continues this drain: everything set on nodes belongs to that run. */
  get isTakenOver(): boolean {
    return this.#nodes.isTakenOver;
  }

  /** Adds a node after the others, or another node of its name; events bring its state. */
  add(now: Instant, target: DrainTarget): void {
    this.#nodes.add(target, now);
    this.#actAt = now;
  }

  /** The node is no longer a target, and its turn had not come: its pods are no longer reported. */
  remove(nodeName: string): void {
    for (const { pod } of this.#pods.on(nodeName)) {
      this.#pods.schedule.cancel(pod.uid);
      this.#pods.delete(pod.uid);
    }
    this.#nodes.remove(nodeName);
  }

  /** Turns come in this order; those of targets that are not named last. */
  order(names: readonly string[]): void {
    this.#nodes.order(names);
  }

  /** Takes what must not happen on which nodes; everything else may. */
  hold(now: Instant, held: NodeHolds): void {
    this.#nodes.hold(now, held);
    this.#actAt = now;
  }

  /** Nothing more is begun until that is taken back; what is under way ends. */
  pause(isPaused: boolean): void {
    this.#nodes.pause(isPaused);
  }

  /** Asks its gate again with the next tick. */
  recheck(now: Instant): void {
    this.#actAt = now;
  }

  /** Ends every node that is not done with: its time is over. */
  giveUp(now: Instant): void {
    this.#nodes.stop(now, 'TimedOut');
  }

  /** Takes back that nodes have begun which still have pods; which they are. */
  rollBack(): readonly string[] {
    const names = this.#nodes.rollBack(this.#pods);
    for (const name of names) this.#reconciler.rolledBack(name);
    for (const known of names.flatMap((name) => this.#pods.on(name))) {
      this.#pods.put(known.pod, known.state, { hold: null });
    }
    return names;
  }

  /** True if its turn is still to come. */
  isPending(nodeName: string): boolean {
    return this.#nodes.phases.has(nodeName) && this.#nodes.phases.isPending(nodeName);
  }

  /** True if the turn of the node has come. */
  isBegun(nodeName: string): boolean {
    return this.#nodes.phases.isBegun(nodeName);
  }

  /** True if a pod will leave, or is leaving, and its node is being drained. */
  isGoing(uid: string): boolean {
    const known = this.#pods.get(uid);
    if (!known || isDone(known.state)) return false;
    return this.#nodes.phases.isBegun(known.pod.nodeName);
  }

  /** True if there is such a pod. */
  hasGoing(): boolean {
    return this.pods().some(({ pod }) => this.isGoing(pod.uid));
  }

  /** The fate of a pod as things are. */
  fateOf(now: Instant, pod: Pod): Fate {
    return fateOf(now, pod, this.#decider, this.#config).fate;
  }

  /** Notes of all that happened since the last call. */
  takeNotes(): readonly DrainNote[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /** Policies or pauses may decide otherwise now about every pod. */
  redecide(now: Instant): void {
    this.#reconciler.reconcileAll(now);
    this.#now = now;
    this.#actAt = now;
  }

  /** Takes an event; the commands that it leads to come with a tick. `now` never goes back. */
  handle(now: Instant, event: Event): readonly DrainCommand[] {
    this.#now = now;
    this.#actAt = now;
    switch (event.kind) {
      case 'nodeUpsert':
        this.#times.see(now, event.node.name);
        this.#seen(now, event.node);
        this.#reconciler.reconcileOn(now, event.node.name);
        this.#nodes.isThere(now, event.node.name, this.#pods);
        break;
      case 'nodeDelete':
        this.#nodes.vanished(now, event.name);
        break;
      case 'podUpsert':
        this.#seeDaemonSet(event.pod);
        this.#reconciler.reconcile(now, event.pod);
        this.#others.follow(now, event.pod);
        this.#lookAtNodeOf(now, event.pod);
        break;
      case 'podDelete':
        this.#reconciler.gone(now, event.uid);
        break;
      case 'synced':
        this.#synced = true;
        this.#nodes.synced(now);
        break;
      case 'clock':
        this.#reconciler.reconcileAll(now);
        break;
      case 'result':
        this.#answered(now, event.id, event.outcome);
        break;
      case 'tick':
        return this.#synced ? this.#act(now) : [];
      default: // nothing that a drain depends on
    }
    return [];
  }

  /**
   * The earliest instant at which a tick could yield something, never before that of the last event; null: only
   * an event can.
   */
  nextWake(): Instant | null {
    if (!this.#synced || this.finished) return null;
    const placeAt = this.#turns.nextWake();
    const wakes = [this.#actAt, placeAt, this.#pods.schedule.next(), this.#nodes.nextWake()];
    return notBefore(this.#now, earliest(wakes));
  }

  #answered(now: Instant, id: string, outcome: Outcome): void {
    if (askerOf(id) !== 'drain') {
      this.#nodes.answered(now, id, outcome);
      return;
    }
    // Holds that appeared while the pod's request was out count before the next try.
    const setBack = this.#requests.answered(now, id, outcome);
    const pod = setBack && this.#decider.store.pod(setBack.uid);
    if (pod) this.#reconciler.reconcile(now, pod);
  }

  #seen(now: Instant, node: Node): void {
    const { taint } = this.#config.spec;
    const isMarked = node.drains?.some((drain) => drain.taint === formatTaint(taint)) === true;
    this.#nodes.seen(now, node.name, carriesTaint(node, taint), isMarked);
  }

  #seeDaemonSet({ namespace, owner, nodeName, tolerations }: Pod): void {
    if (owner?.kind !== 'DaemonSet' || !this.#nodes.phases.has(nodeName)) return;
    if (decidingToleration(tolerations, drainTaint(this.#config.spec), this.#config)) return;
    const name = `${namespace}/${owner.name}`;
    this.#keptOff.set(name, (this.#keptOff.get(name) ?? new Set()).add(nodeName));
  }

  #lookAtNodeOf(now: Instant, { nodeName }: Pod): void {
    if (this.#decider.store.node(nodeName)) this.#nodes.isThere(now, nodeName, this.#pods);
  }

  #act(now: Instant): readonly DrainCommand[] {
    this.#actAt = null;
    const refusalOn = (name: string): string | null => this.#refusalOn(now, name);
    const taints = this.#nodes.begin(now, this.#turns.heldUpNodes(now), refusalOn);
    for (const name of this.#begun.splice(0)) this.#reconciler.reconcileOn(now, name);
    for (
      let uid = this.#pods.schedule.takeDue(now);
      uid !== null;
      uid = this.#pods.schedule.takeDue(now)
    ) {
      this.#reconciler.wake(now, uid);
    }
    const hasExpired = this.#nodes.expire(now, this.#pods);
    const commands = this.#turns.dispatch(now);
    // The next node has its turn at once.
    if (this.#nodes.end(now, this.#pods) || hasExpired) this.#actAt = now;
    return [...taints, ...commands];
  }

  /** The pods of a node that must not go, and why; null: all may. */
  #refusalOn(now: Instant, nodeName: string): string | null {
    const refused: string[] = [];
    for (const pod of this.#decider.store.podsOn(nodeName)) {
      const fate = this.fateOf(now, pod);
      if (fate.kind !== 'refuse') continue;
      refused.push(`pod ${pod.namespace}/${pod.name}: ${drainFaultsText(fate.faults)}`);
    }
    return refused.length === 0 ? null : `not begun: ${refused.join(', ')}`;
  }
}

/** The surroundings of the reconciler. */
interface ReconcilerSite {
  readonly decider: DrainDecider;
  readonly nodes: DrainNodes;
  readonly pods: DrainPods;
  readonly requests: DrainRequests;
  readonly turns: PodTurns;
  readonly gate: PodGate;
  readonly note: (note: DrainNote) => void;
}

/**
 * Gives pods the state that decisions and the state of their nodes require; requests under way are
 * left alone.
 */
class PodReconciler {
  readonly #config: DrainConfig;
  readonly #site: ReconcilerSite;
  readonly #returns: Returns;

  constructor(config: DrainConfig, site: ReconcilerSite) {
    this.#config = config;
    this.#returns = new Returns(config);
    this.#site = site;
  }

  reconcileAll(now: Instant): void {
    for (const { name } of this.#site.nodes.phases.list()) this.reconcileOn(now, name);
  }

  reconcileOn(now: Instant, nodeName: string): void {
    for (const pod of this.#site.decider.store.podsOn(nodeName)) this.reconcile(now, pod);
  }

  reconcile(now: Instant, pod: Pod): void {
    const { nodes, pods } = this.#site;
    const known = pods.get(pod.uid);
    if (!nodes.phases.has(pod.nodeName)) return;
    if (!known && nodes.phases.isEnded(pod.nodeName) && !this.#wasThere(pod)) return;
    if (!known) this.#returns.seen(now, pod);
    const kind = known?.state.kind ?? 'kept';
    // A pod that must not leave may have changed by the turn of its node, or others have deleted
    // it.
    const isLeftYet = kind === 'left' && nodes.phases.isPending(pod.nodeName);
    if (pod.deletionTimestamp === null) {
      const isOpen = kind === 'kept' || kind === 'waiting' || isDue({ kind });
      if (isOpen || isLeftYet) this.#decide(now, pod, isTried({ kind }));
    } else if (isLeftYet || !['terminating', 'skipped', 'left'].includes(kind)) {
      if (known) this.#leaves(known);
      const state = { kind: 'terminating', since: now } as const;
      this.#skipIfLong(now, pod, pods.put(pod, state));
    } else if (known) {
      this.#skipIfLong(now, pod, known);
    }
  }

  /**
   * True if an earlier run had the pod to do with: it was there when its node ended, or before the node
   * that came under the name of one that was deleted.
   */
  #wasThere({ nodeName, boundAt }: Pod): boolean {
    const { nodes, decider } = this.#site;
    const { store } = decider;
    const phase = nodes.phases.of(nodeName);
    if (boundAt === null) return false;
    if (phase.kind === 'failed' || phase.kind === 'drained')
      return boundAt < store.clock.wall(phase.at);
    const createdAt = store.node(nodeName)?.createdAt ?? null;
    return phase.kind === 'vanished' && createdAt !== null && boundAt < createdAt;
  }

  /** Does the work that is scheduled for now. */
  wake(now: Instant, uid: string): void {
    const { decider, pods } = this.#site;
    const pod = decider.store.pod(uid);
    const known = pods.get(uid);
    if (!pod || !known) return;
    const { kind } = known.state;
    if (kind === 'terminating') this.#skipIfLong(now, pod, known);
    else if (kind === 'queued') pods.put(pod, outOfTurn);
    else if (isTried({ kind }) || kind === 'accepted') this.#decide(now, pod, false);
    else this.reconcile(now, pod);
  }

  /** Forgets the node: the drain has taken back all that was set there. */
  rolledBack(nodeName: string): void {
    this.#returns.forget(nodeName);
  }

  /** The pod is gone. The answer to a request that is out may say who deleted it. */
  gone(now: Instant, uid: string): void {
    const { pods, requests } = this.#site;
    const known = pods.get(uid);
    pods.schedule.cancel(uid);
    if (known) this.#leaves(known);
    this.#returns.gone(uid);
    if (!known || known.state.kind === 'gone') return;
    if (known.awaitsAnswer) pods.put(known.pod, known.state, { vanishedAt: now });
    else if (isStaying(known)) pods.delete(uid);
    else requests.gone(now, known);
  }

  /** Where the pod goes because the drain has asked for it, the next one of its owner has come back. */
  #leaves({ pod: { uid }, tries }: DrainPod): void {
    if (tries > 0 || this.#site.gate.isRequested?.(uid)) this.#returns.leaves(uid);
  }

  /** `tried`: its next try comes in time, if it is still due. */
  #decide(now: Instant, pod: Pod, tried: boolean): void {
    const { decider, nodes, pods, turns, note } = this.#site;
    const { fate, because } = fateOf(now, pod, decider, this.#config);
    if ('faults' in fate) {
      const { faults } = fate;
      const isNew = pods.get(pod.uid)?.state.kind !== 'left';
      const left = pods.put(pod, { kind: 'left', faults }, { because, due: null });
      if (fate.kind === 'refuse' && isNew) note({ kind: 'podLeft', pod: left, faults });
    } else if (fate.kind === 'hold') {
      // The earlier refusal of the pod is not its hold now.
      const held = { due: null, blocker: null, hold: this.#pauseOn(now, pod, because) };
      pods.put(pod, outOfTurn, { because, ...held });
    } else if (fate.kind !== 'evict') {
      pods.put(pod, { kind: 'kept' }, { because, due: null });
    } else if (this.#holdReturn(now, pod, because)) {
      // The pod's owner has recreated it: its eviction waits, or does not come.
    } else if (nodes.isTainted(pod.nodeName) && fate.at > now) {
      const state = { kind: 'waiting', since: now, until: fate.at } as const;
      pods.put(pod, state, { because, due: fate.at, hold: null });
    } else if (!tried) {
      // When its time is over shows when the taint is there.
      const due = nodes.isTainted(pod.nodeName) ? fate.at : null;
      pods.put(pod, outOfTurn, { because, due, hold: turns.stillOn(now, pod) });
    }
  }

  /** Holds a pod that came back after an eviction; false: it goes at once. */
  #holdReturn(now: Instant, pod: Pod, because: readonly Reason[]): boolean {
    const { pods, note } = this.#site;
    const back = this.#returns.of(pod);
    if (!back) return false;
    const { message, waits } = back;
    if (!waits) {
      const blocker = returnBlocker(back);
      const left = pods.put(pod, { kind: 'givenUp' }, { because, blocker, hold: null });
      note({ kind: 'podGivenUp', pod: left, blocker });
    } else if (now < waits.until) {
      const hold = { message, since: waits.since };
      pods.put(pod, { kind: 'waiting', ...waits }, { because, due: waits.until, hold });
    }
    return !waits || now < waits.until;
  }

  /** The pause that holds a pod where the turn of its node has come; after a while that leaves its place to others. */
  #pauseOn(now: Instant, pod: Pod, [paused]: readonly Reason[]): DrainPod['hold'] {
    const { nodes, pods } = this.#site;
    if (!paused || !nodes.phases.isDraining(pod.nodeName)) return null;
    const since = pods.get(pod.uid)?.hold?.since ?? now;
    if (since + heldUpMs > now) pods.schedule.set(pod.uid, since + heldUpMs);
    return { message: describeReason(paused), since };
  }

  #skipIfLong(now: Instant, pod: Pod, known: DrainPod): void {
    const { decider, pods, note } = this.#site;
    const at = skipAt(pod, this.#config.spec.timeouts, decider.store.clock);
    const { podsAtOnce, heldUpNodes } = this.#config.spec.limits;
    const takesPlace = podsAtOnce > 0 || heldUpNodes > 0;
    const heldUp = takesPlace ? heldUpAt(pod, decider.store) : null;
    const later = [heldUp, at].filter((one) => one !== null && one > now);
    const next = earliest(later);
    if (next !== null) pods.schedule.set(pod.uid, next);
    if (at !== null && at <= now && known.state.kind === 'terminating') {
      note({ kind: 'podSkipped', pod: pods.put(pod, { kind: 'skipped' }) });
    }
  }
}

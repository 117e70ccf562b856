// The precise eviction machine: when each pod of a tainted node leaves, and the results.
import type { AttemptState } from '../attempt/attempt.ts';
import type { BudgetPolicy } from '../attempt/delete-or-evict.ts';
import type { Outcome, Setback } from '../attempt/outcome.ts';
import type { Event } from '../event.ts';
import { askerOf } from '../kernel/inflight.ts';
import { earlier, type Instant, type Millis } from '../kernel/time.ts';
import { hasSameLabels } from '../model/node.ts';
import type { Pod, PodRef } from '../model/pod.ts';
import type { OwnReplicas } from '../own-replicas.ts';
import type { LimitStatus } from '../policy/limit.ts';
import type { Change, Machine, NodeChange, StoreView } from '../store.ts';
import { AttemptReconciler } from './attempt-reconciler.ts';
import { Attempts } from './attempts.ts';
import type { EvictionConfig } from './config.ts';
import type { Decision, Eviction } from './decide.ts';
import { Decider } from './decider.ts';
import type { MachineCommand } from './eviction-command.ts';
import { EvictionLimits } from './limits/limits.ts';
import { LimitRecordWriter } from './limits/record-writer.ts';
import { Pauses } from './pauses.ts';
import type { Cause } from './reason.ts';
import { RemovalRequests } from './removal-requests.ts';
import { TaintRequests } from './requests/taint-requests.ts';
import { type ObservedTaint, TaintClock } from './taint-clock.ts';
import { TaintClockWriter } from './taint-clock-writer.ts';
import { WorkingDrains } from './working-drains.ts';

/** A machine that evicts, and can be asked about it. */
export interface EvictionMachine extends Machine<MachineCommand> {
  /** The NoExecute taints of a node as this machine counts them, in the node's order. */
  taintsOf(nodeName: string): readonly ObservedTaint[];
  /** The nodes whose pods may have to go: for taints of theirs, or of devices that their pods use. */
  nodesOfTaints(): readonly string[];
  /** The decision on a pod that holds now: the one the machine acts on. */
  decisionOn(pod: Pod): Decision;
  /** The treatment of its budgets when a pod goes for this decision. */
  budgetsOf(pod: Pod, decision: Decision): BudgetPolicy;
  /** When a pod that goes is deleted whatever budgets say, by the cluster's clock; null: never, or at once. */
  deletedAt(now: Instant, pod: Pod, decision: Eviction): Instant | null;
  /** The stage that the eviction of a pod has reached; null when none is pending. */
  attemptOn(pod: PodRef): AttemptState | null;
  /** Why the last try to evict a pod failed, also while it waits for the next; null: none did. */
  lastSetbackOn(pod: PodRef): Setback | null;
  /** The limits that have tripped, those in whose window pods were evicted, and rates in use. */
  limits(now: Instant): readonly LimitStatus[];
}

/**
 * Evicts pods from nodes with NoExecute taints, in time.
 *
 * Theory of operation. Each pod that has to go is one attempt (attempt/attempt.ts), keyed by its
 * uid:
 *
 *                           limit
 *                       +-> queued ---+
 *                       |             v
 *     (none) --> waiting --due--> requested --accepted--> accepted --the watch--> (none)
 *                 |  ^  ^             |  ^                   |
 *              pause |  |     refused |  | due               |
 *                 v  |  |             v  |                   |
 *               paused  +-later-- blocked, failed            |
 *                       +-----------------unconfirmed--------+
 *
 * Every event that touches a pod or its node's taints makes the machine decide again (decide.ts)
 * and move the attempt to match (attempt-reconciler.ts): a deadline may come earlier, later or go
 * away until the eviction is sent (removal-requests.ts). A failed try never ends the attempt; only
 * the pod's leaving or a decision to keep it does. By a policy with the action Request a pod that
 * is due, and that limits admit, is `asked` first: its responder moves it, or it is sent after all.
 * The schedule holds one instant for each attempt that waits: its deadline, its next try, or when
 * an eviction that was accepted but never seen to happen is decided again.
 *
 * Events only change what is known; a tick acts. So whatever comes in together is seen together: a
 * taint that was put on and taken off during an outage of the watch costs no pod. Before `synced` and without leadership
 * nothing is sent, no Event either, but everything is decided, so that the first tick afterwards acts at once.
 */
export class PreciseEvictionMachine implements EvictionMachine {
  readonly askers = ['eviction', 'limits', 'taint-starts', 'eviction-requests'] as const;
  readonly #config: EvictionConfig;
  readonly #store: StoreView;
  readonly #decider: Decider;
  readonly #limits: EvictionLimits;
  /** The record of what limits have counted, which outlives us. */
  readonly #record: LimitRecordWriter;
  readonly #starts: TaintClockWriter;
  readonly #taints = new TaintClock();
  readonly #pauses: Pauses;
  readonly #drains = new WorkingDrains();
  /** The nodes of pods that use claims, where taints of devices are decided about. */
  readonly #claimNodes = new Set<string>();
  readonly #replicas: OwnReplicas;
  /** The version of them that was decided about. */
  #replicasSeen = 0;
  readonly #attempts = new Attempts();
  readonly #reconciler: AttemptReconciler;
  readonly #requests: RemovalRequests;
  /** The requests of policies that ask the pod's responder first. */
  readonly #asks: TaintRequests;
  #synced = false;
  #leader: boolean;
  /** The lead of the cluster's clock, as it was said last. */
  #ahead: Millis = 0;
  #commands: MachineCommand[] = [];

  constructor(store: StoreView, config: EvictionConfig, replicas: OwnReplicas) {
    this.#store = store;
    this.#replicas = replicas;
    this.#config = config;
    this.#leader = config.leader;
    this.#pauses = new Pauses(store);
    const [taints, pauses, attempts] = [this.#taints, this.#pauses, this.#attempts];
    this.#decider = new Decider({ store, taints, pauses, drains: this.#drains, replicas, config });
    this.#limits = new EvictionLimits(store, this.#decider, this.#attempts, config);
    this.#record = new LimitRecordWriter(this.#limits, store.clock);
    const [decider, limits] = [this.#decider, this.#limits];
    this.#starts = new TaintClockWriter({ store, taints, pauses, decider, attempts, config });
    const emit = (command: MachineCommand): void => {
      this.#commands.push(command);
    };
    const [starts, mayAct] = [this.#starts, this.#mayAct];
    const site = { store, decider, limits, attempts, starts, replicas, mayAct, emit };
    const reconciler = new AttemptReconciler(site);
    this.#reconciler = reconciler;
    this.#asks = new TaintRequests(site);
    this.#requests = new RemovalRequests({ ...site, reconciler, config, asks: this.#asks });
  }

  handle(now: Instant, event: Event, changes: readonly Change[]): readonly MachineCommand[] {
    this.#commands = [];
    this.#take(now, event);
    for (const change of changes) this.#follow(now, change);
    this.#reconcileOn(now, this.#drains.takeStale(now), 'DrainStale');
    this.#reconcileReplicas(now);
    if (event.kind === 'tick' && this.#mayAct()) this.#act(now);
    this.#reconcileReplicas(now);
    return this.#commands;
  }

  nextWake(): Instant | null {
    const drains = this.#drains.nextWake();
    if (!this.#mayAct()) return drains;
    const records = earlier(this.#starts.nextWake(), this.#record.nextWake());
    const requests = earlier(this.#requests.nextWake(), this.#asks.nextWake());
    return earlier(earlier(records, drains), requests);
  }

  taintsOf(nodeName: string): readonly ObservedTaint[] {
    const observed = this.#taints.of(nodeName);
    return observed.map((taint) => this.#decider.counted(nodeName, taint, null));
  }

  nodesOfTaints(): readonly string[] {
    return [...new Set([...this.#taints.nodes(), ...this.#claimNodes])];
  }

  decisionOn(pod: Pod): Decision {
    return this.#decider.decide(pod);
  }

  budgetsOf(pod: Pod, { because }: Decision): BudgetPolicy {
    return this.#decider.budgetsOf(pod, because);
  }

  deletedAt(now: Instant, pod: Pod, { deadline, because }: Eviction): Instant | null {
    return this.#decider.deletedAt(this.#wall(now), pod, deadline, because);
  }

  attemptOn({ uid }: PodRef): AttemptState | null {
    return this.#attempts.stateOf(uid);
  }

  lastSetbackOn = ({ uid }: PodRef): Setback | null => this.#attempts.get(uid)?.lastSetback ?? null;

  limits(now: Instant): readonly LimitStatus[] {
    return this.#record.limits(now);
  }

  #mayAct = (): boolean => this.#synced && this.#leader;

  #take(now: Instant, event: Event): void {
    switch (event.kind) {
      case 'synced':
        this.#synced = true;
        return;
      case 'leadership':
        this.#leader = event.held;
        this.#record.lead(now, event.held);
        return;
      case 'result':
        this.#answered(now, event.id, event.outcome);
        return;
      case 'clock': {
        const moved = this.#taints.correct(event.ahead - this.#ahead);
        this.#ahead = event.ahead;
        this.#reconciler.retime(now);
        for (const name of moved) this.#starts.notice(now, name);
        this.#reconcileOn(now, moved, 'NodeChanged');
        return;
      }
      case 'view':
        this.#drains.setView(now, event.current);
        return;
      case 'resumeEvictions':
      case 'limitRecord':
        this.#commands.push(...this.#record.take(now, event));
        return;
      case 'evictionRequests':
        this.#asks.hear(event);
        return;
      default: // what it says of objects, the store has taken
    }
  }

  #answered(now: Instant, id: string, outcome: Outcome): void {
    const asker = askerOf(id);
    if (asker === 'eviction') this.#requests.answered(now, id, outcome);
    else if (asker === 'taint-starts') this.#starts.answered(now, id, outcome);
    else if (asker === 'eviction-requests') this.#asks.answered(now, id, outcome);
    else this.#commands.push(...this.#record.answered(now, id, outcome));
  }

  #follow(now: Instant, change: Change): void {
    switch (change.kind) {
      case 'node':
        this.#followNode(now, change);
        return;
      case 'pod':
        this.#noteClaims(now, change.pod);
        this.#reconciler.reconcile(now, change.pod, 'PodChanged');
        return;
      case 'devices':
        if (this.#config.deviceTaints) this.#reconcileUsers(now, change.pods);
        return;
      case 'podGone':
        this.#reconciler.gone(now, change.previous);
        this.#asks.gone(change.previous);
        return;
      case 'policy':
        this.#limits.followPolicies(now);
        this.#asks.followPolicies(now);
        // The writer may say again what depends on the starts of taints, and move no deadline.
        for (const name of this.#taints.nodes()) this.#starts.notice(now, name);
        this.#reconcileOn(now, this.nodesOfTaints(), 'PolicyChanged');
        return;
      case 'namespace':
        this.#reconcileIn(now, change.name);
        return;
      case 'pause':
      case 'pauseEnd': {
        const isOver = change.kind === 'pauseEnd' || change.pause === null;
        const moved = this.#pauses.follow(this.#wall(now), change);
        for (const name of moved) this.#starts.notice(now, name);
        this.#reconcileOn(now, moved, isOver ? 'Resumed' : 'Paused');
        return;
      }
      default: // a matter of the node lifecycle
    }
  }

  #followNode(now: Instant, change: NodeChange): void {
    const { name, node, previous } = change;
    if (node) this.#starts.notice(now, name);
    else this.#starts.forget(name);
    this.#limits.followNode(now, change);
    const wall = this.#wall(now);
    const isNews = this.#taints.update(wall, change);
    if (!node) this.#claimNodes.delete(name);
    // A pod may be told of before its node, and its devices say nothing when that comes.
    else if (!previous && this.#config.deviceTaints) this.#noteClaimsOn(now, name);
    const isTainted = this.#taints.of(name).length > 0 || this.#claimNodes.has(name);
    const isMoved = this.#pauses.followNode(wall, name, isTainted);
    const isLeft = this.#drains.followNode(now, name, node);
    const hasPolicies = isTainted && this.#store.policies().length > 0;
    const isOther = hasPolicies && !hasSameLabels(node, previous);
    const isMet = !previous && this.#claimNodes.has(name);
    if (!isNews && !isMoved && !isLeft && !isOther && !isMet) return;
    this.#reconcileOn(now, [name], node ? 'NodeChanged' : 'NodeDeleted');
  }

  /** The labels of a namespace are others: policies may look at them, and so does a takeover. */
  #reconcileIn(now: Instant, namespace: string): void {
    const isAsked = this.#store.policies().some(({ match }) => match.namespaces?.selector);
    if (!isAsked && !this.#config.takeover) return;
    this.#limits.followPolicies(now);
    for (const name of this.nodesOfTaints()) {
      this.#starts.notice(now, name);
      for (const pod of this.#store.podsOn(name))
        if (pod.namespace === namespace) this.#reconciler.reconcile(now, pod, 'PolicyChanged');
    }
  }

  /** Deadlines may stand still on the node of a pod with claims, as on a node with taints. */
  #noteClaims(now: Instant, { claims, nodeName }: Pod): void {
    if (!claims || !this.#config.deviceTaints) return;
    if (this.#claimNodes.has(nodeName) || !this.#store.node(nodeName)) return;
    this.#claimNodes.add(nodeName);
    this.#pauses.followNode(this.#wall(now), nodeName, true);
  }

  #noteClaimsOn(now: Instant, nodeName: string): void {
    for (const pod of this.#store.podsOn(nodeName)) this.#noteClaims(now, pod);
  }

  #reconcileUsers(now: Instant, uids: ReadonlySet<string>): void {
    for (const uid of uids) {
      const pod = this.#store.pod(uid);
      if (!pod) continue;
      this.#noteClaims(now, pod);
      this.#reconciler.reconcile(now, pod, 'DevicesChanged');
    }
  }

  #reconcileOn(now: Instant, nodeNames: readonly string[], cause: Cause): void {
    for (const name of nodeNames) {
      for (const pod of this.#store.podsOn(name)) this.#reconciler.reconcile(now, pod, cause);
    }
  }

  /** The turn of one of ours depends on the others. */
  #reconcileReplicas(now: Instant): void {
    if (this.#replicas.version === this.#replicasSeen) return;
    for (const { uid } of this.#replicas.list()) {
      const pod = this.#store.pod(uid);
      if (pod) this.#reconciler.reconcile(now, pod, 'ReplicaChanged');
    }
    this.#replicasSeen = this.#replicas.version;
  }

  #wall(now: Instant): Instant {
    return this.#store.clock.wall(now);
  }

  /** Sends the evictions that are due and may be sent, and writes down the required records. */
  #act(now: Instant): void {
    this.#requests.sendDue(now);
    this.#commands.push(...this.#record.act(now), ...this.#starts.write(now));
    this.#commands.push(...this.#asks.take(now));
  }
}

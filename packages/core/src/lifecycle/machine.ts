// The precise node lifecycle machine: heartbeats and conditions in, conditions, taints and
// not-ready pods out.

import type { Outcome } from '../attempt/outcome.ts';
import type { NodeNotReadyReason } from '../attempt/pod-command.ts';
import type { Event } from '../event.ts';
import { askerOf } from '../kernel/inflight.ts';
import { earlier, type Instant, type Millis } from '../kernel/time.ts';
import {
  hasSameLabels,
  type Lease,
  type Node,
  nodeRef,
  readyStatus,
  zoneKey,
} from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Change, Machine, StoreView } from '../store.ts';
import { ConditionRules, type RuleStatus } from './condition-rules.ts';
import type { LifecycleConfig } from './config.ts';
import { HealthStore } from './health.ts';
import { type LifecycleCommand, nodeEvent } from './node-command.ts';
import { NodeReconciler } from './node-reconciler.ts';
import { ReadinessMarker } from './readiness.ts';
import {
  type LifecycleReason,
  type LifecycleReport,
  type NodeHealth,
  reasonAtWallTime,
  reportAtWallTime,
  type ZoneStatus,
  zoneAtWallTime,
} from './reason.ts';
import { ZoneLimiter } from './zone-holds.ts';

/** A machine that watches over nodes, and can be asked about them. */
export interface LifecycleMachine extends Machine<LifecycleCommand> {
  /** Every zone that has nodes, by name. */
  zones(now: Instant): readonly ZoneStatus[];
  /** The zone of a node; null where it is not known. */
  zoneOf(now: Instant, node: Node): ZoneStatus | null;
  /** The health of a node, on which the machine acts. */
  healthOf(now: Instant, node: Node): NodeHealth;
  /**
   * Takes a renewal without consequences; false, or left out: there may be some, and `handle` has
   * to take it.
   */
  hearLease?(now: Instant, lease: Lease): boolean;
  /** The status of taint rules, while it leads; left out: it has none. */
  taintRules?(): readonly RuleStatus[];
  /** Why and when it deletes the pod itself, without a taint; null, or left out: it does not. */
  deletionOf?(pod: Pod): NodeNotReadyReason | null;
}

/** Called this much later than was asked for, we did not listen meanwhile. */
const standstillMs: Millis = 5_000;

/**
 * Watches over nodes: notices those that become unreachable, and makes their taints say how they
 * are.
 *
 * Theory of operation. Events only inform; a tick acts, in this order:
 *
 *   1. Heartbeats. health.ts knows when each node was last heard of, and which are unreachable by
 *      now.
 *   2. Zones. zone-holds.ts judges all zones by the nodes in them, before anything is decided
 *      about a node: how fast its nodes may be tainted, and whether they may at all.
 *   3. Nodes. For each node something happened to, node-reconciler.ts finds the first write it
 *      needs: Unknown conditions, labels, taints NoSchedule, taints NoExecute, taints of rules.
 *      Each is derived from the node and its wanted state, never from earlier actions, so that
 *      anything lost or undone by others is found again. A node has one write under way at a time;
 *      what was refused waits, and what comes after it does not.
 *   4. Turns. New taints NoExecute wait in the queue of their zone; each goes before all other
 *      writes.
 *   5. Pods of unreachable nodes are marked not ready.
 *
 * Decisions about taints go by the condition Ready as the API has it: first missing heartbeats are
 * written down, then it has consequences. Before `synced` and without leadership nothing is
 * written. An observing machine looks without leadership too: a new leader says what is held before
 * it acts.
 */
export class PreciseLifecycleMachine implements LifecycleMachine {
  readonly askers = ['node', 'readiness'] as const;
  readonly #store: StoreView;
  readonly #config: LifecycleConfig;
  readonly #health: HealthStore;
  readonly #limiter: ZoneLimiter;
  readonly #readiness: ReadinessMarker;
  readonly #rules: ConditionRules;
  readonly #reconciler: NodeReconciler;
  /** Nodes whose zone has to hear of them. */
  readonly #moved = new Set<string>();
  #synced = false;
  #leader: boolean;
  /** Since when it has led, where that is not now; null: it begins. */
  #since: Instant | null = null;
  #isViewCurrent = true;
  /** When we asked to be called, and were not since; null: we did not. */
  #wake: Instant | null = null;
  #now: Instant = Number.NEGATIVE_INFINITY;
  /** When to be called next, as of #now: asked twice with each event, and most are about pods. */
  #next: Instant | null = null;
  #commands: LifecycleCommand[] = [];

  constructor(store: StoreView, config: LifecycleConfig, leader: boolean) {
    this.#store = store;
    this.#config = config;
    this.#leader = leader;
    this.#health = new HealthStore(config, store.clock);
    this.#limiter = new ZoneLimiter(config);
    this.#rules = new ConditionRules(config.conditionRules, config.retiredRules, store.clock);
    const [health, limiter, rules] = [this.#health, this.#limiter, this.#rules];
    const emit = (command: LifecycleCommand): void => {
      this.#commands.push(command);
    };
    this.#reconciler = new NodeReconciler({ config, store, health, limiter, rules, emit });
    this.#readiness = new ReadinessMarker(store, config, (name) => this.#limiter.holdOn(name));
  }

  handle(now: Instant, event: Event, changes: readonly Change[]): readonly LifecycleCommand[] {
    this.#commands = [];
    this.#now = now;
    const stoodStill = this.#wake !== null && now - this.#wake > standstillMs;
    if (stoodStill) this.#forgive(now);
    this.#take(now, event);
    for (const change of changes) this.#follow(now, change);
    if (event.kind === 'tick' && this.#looks) this.#act(now);
    this.#wake = this.#asked(now, stoodStill || event.kind === 'tick' ? null : this.#wake);
    return this.#commands;
  }

  hearLease(now: Instant, lease: Lease): boolean {
    const isDue = this.#wake !== null && this.#wake <= now;
    return !isDue && this.#limiter.rests && this.#health.renew(now, lease);
  }

  /** A node that has waited for writes of ours is asked for now, and not since it waits. */
  #asked(now: Instant, before: Instant | null): Instant | null {
    const wake = this.#findNext();
    this.#next = wake;
    return wake === null || wake > now ? wake : Math.min(before ?? now, now);
  }

  nextWake(): Instant | null {
    return this.#next;
  }

  #findNext(): Instant | null {
    if (!this.#looks) return null;
    const health = this.#isViewCurrent ? this.#health.nextWake() : null;
    const others = earlier(health, this.#readiness.nextWake());
    return earlier(this.#reconciler.nextWake(this.#now), others);
  }

  zoneOf(_now: Instant, { labels = {} }: Node): ZoneStatus | null {
    const key = zoneKey(labels);
    return this.zones().find((zone) => zone.key === key) ?? null;
  }

  zones(): readonly ZoneStatus[] {
    return this.#limiter.zones().map((zone) => zoneAtWallTime(zone, this.#store.clock));
  }

  taintRules(): readonly RuleStatus[] {
    return this.#rules.status();
  }

  healthOf(now: Instant, node: Node): NodeHealth {
    const record = this.#health.recordOf(node.name);
    const because = record ? this.#reconciler.decide(now, node, record).because : [];
    const [store, health, limiter] = [this.#store, this.#health, this.#limiter];
    return nodeHealth(now, node.name, { store, health, limiter, because });
  }

  get #looks(): boolean {
    return this.#synced && (this.#leader || this.#config.observes);
  }

  get #writes(): boolean {
    return this.#looks && !this.#config.observes;
  }

  #take(now: Instant, event: Event): void {
    switch (event.kind) {
      case 'synced':
        this.#synced = true;
        if (this.#since !== null) this.#health.takeUp(now, this.#since);
        this.#begin(now);
        return;
      case 'leadership':
        this.#leader = event.held;
        this.#since = event.since ?? null;
        this.#begin(now);
        return;
      case 'view':
        this.#isViewCurrent = event.current;
        this.#limiter.setView(now, event.current);
        if (event.current) this.#forgive(now);
        return;
      case 'result':
        this.#settle(now, event.id, event.outcome);
        return;
      default: // what it says of objects, the store has taken
    }
  }

  /** From now on we act: the recent taints of another leader are unknown. */
  #begin(now: Instant): void {
    if (!this.#looks) return;
    this.#limiter.restart(now);
    this.#touchAll(now);
  }

  /** No process listened until now, so missing heartbeats until now mean nothing. */
  #forgive(now: Instant): void {
    for (const name of this.#health.forgive(now)) this.#back(now, name);
  }

  #follow(now: Instant, change: Change): void {
    switch (change.kind) {
      case 'node':
        if (change.node) this.#followNode(now, change.node, change.previous);
        else this.#forget(change.name, change.previous);
        return;
      case 'lease':
        if (change.lease && this.#health.seeLease(now, change.lease)) {
          this.#back(now, change.nodeName);
        }
        return;
      case 'pod':
        this.#readiness.notice(now, change.pod);
        return;
      case 'podGone':
        this.#readiness.forget(change.previous.uid);
        return;
      case 'taintRule':
        this.#rules.put(change.name, change.rule);
        this.#touchAll(now);
        return;
      case 'pause':
      case 'pauseEnd':
        this.#followPause(now, change);
        return;
      default: // a matter of evictions
    }
  }

  #followNode(now: Instant, node: Node, previous: Node | null): void {
    const { name } = node;
    if (previous?.uid !== node.uid) {
      if (previous) this.#forget(name, previous);
      if (this.#writes) this.#commands.push(nodeEvent(node, 'RegisteredNode'));
    }
    if (this.#health.see(now, node, this.#store.lease(name))) this.#back(now, name);
    this.#touch(now, name);
    const ready = readyStatus(node);
    const before = readyStatus(previous);
    // Its labels say which pauses and which zone hold its pods.
    if (ready !== before || !hasSameLabels(node, previous)) this.#readiness.noticeNode(now, name);
    if (ready === before) return;
    const isNews = previous?.uid === node.uid && before === 'True' && ready === 'False';
    if (isNews && this.#writes) this.#commands.push(nodeEvent(node, 'NodeNotReady'));
  }

  #forget(name: string, previous: Node | null): void {
    this.#reconciler.forget(name);
    this.#moved.delete(name);
    this.#health.forget(name);
    this.#limiter.remove(name);
    this.#rules.forget(name);
    if (previous && this.#writes) this.#commands.push(nodeEvent(previous, 'RemovingNode'));
  }

  #followPause(now: Instant, change: Extract<Change, { kind: 'pause' | 'pauseEnd' }>): void {
    const before = change.kind === 'pause' ? change.previous : null;
    if (!before?.readiness && !change.pause?.readiness) return;
    this.#touchAll(now);
    for (const { name } of this.#store.nodes()) this.#readiness.noticeNode(now, name);
  }

  /** A node that counted as unreachable was heard of again. */
  #back(now: Instant, name: string): void {
    this.#limiter.noteHeard(name);
    this.#touch(now, name);
  }

  #act(now: Instant): void {
    this.#judgeHeartbeats(now);
    this.#reviewZones(now);
    this.#reconciler.act(now);
    this.#commands.push(...this.#readiness.write(now));
  }

  #judgeHeartbeats(now: Instant): void {
    if (!this.#isViewCurrent) return;
    const unreachable = this.#health.judge(now);
    for (const name of unreachable) {
      const [node, record] = [this.#store.node(name), this.#health.recordOf(name)];
      if (!node || !record) continue;
      this.#touch(now, name);
      const heardAt = this.#store.clock.wall(record.heardAt);
      this.#report({ kind: 'nodeUnreachable', node: nodeRef(node), heardAt });
    }
    const news = unreachable.filter((name) => readyStatus(this.#store.node(name)) === 'True');
    if (news.length > 0) this.#limiter.noteUnreachable(now, news);
  }

  /** Zones and pools are counted by nodes as they are now, before anything is decided about one of them. */
  #reviewZones(now: Instant): void {
    for (const name of this.#moved) {
      const [node, record] = [this.#store.node(name), this.#health.recordOf(name)];
      const isReady = readyStatus(node) === 'True' && record?.unreachableAt === null;
      if (!node) continue;
      this.#limiter.place(now, node, isReady);
      this.#rules.notice(node);
    }
    this.#moved.clear();
    const { reports, affected, isOver } = this.#limiter.review(now);
    for (const report of reports) this.#report(reportAtWallTime(report, this.#store.clock));
    for (const name of affected) {
      this.#reconciler.lookSoon(now, name);
      this.#readiness.noticeNode(now, name);
    }
    if (!isOver) return;
    this.#forgive(now);
    // Other zones hear at once of the nodes that are back by it.
    this.#reviewZones(now);
  }

  #settle(now: Instant, id: string, outcome: Outcome): void {
    if (askerOf(id) === 'readiness') {
      this.#commands.push(...this.#readiness.settle(now, id, outcome));
      return;
    }
    const ended = this.#reconciler.settle(now, id, outcome);
    if (!ended) return;
    const { name, write, retryAt } = ended;
    const node = this.#store.node(name);
    if (!node) return;
    if (write === 'conditions' && outcome.kind === 'done') {
      this.#commands.push(nodeEvent(node, 'NodeNotReady'));
    }
    // The live read saw a sign of life that has not reached us yet.
    if (write === 'conditions' && outcome.kind === 'changed' && this.#health.hear(now, name)) {
      this.#back(now, name);
    }
    if (retryAt === null || outcome.kind === 'changed') return;
    const at = this.#store.clock.wall(retryAt);
    this.#report({ kind: 'writeFailed', node: nodeRef(node), write, outcome, at });
  }

  #touchAll(now: Instant): void {
    for (const { name } of this.#store.nodes()) this.#touch(now, name);
  }

  #touch(now: Instant, name: string): void {
    this.#moved.add(name);
    this.#reconciler.lookSoon(now, name);
  }

  #report(report: LifecycleReport): void {
    this.#commands.push({ kind: 'report', report });
  }
}

/** Where it is known, and why the node is treated as it is, by the clock of the cluster. */
interface KnownHealth {
  readonly store: StoreView;
  readonly health: HealthStore;
  readonly limiter: ZoneLimiter;
  readonly because: readonly LifecycleReason[];
}

/** The health of a node; all its times are of the cluster's clock. */
function nodeHealth(now: Instant, name: string, known: KnownHealth): NodeHealth {
  const { store, health, limiter, because } = known;
  const record = health.recordOf(name);
  const turn = limiter.turnOf(now, name);
  const hold = turn && limiter.holdOn(name);
  const queued =
    turn?.at != null ? [{ code: 'Queued', place: turn.place, at: turn.at } as const] : [];
  const waits: readonly LifecycleReason[] = [...queued, ...(hold ? [hold] : [])];
  const isUnreachable = record === null || record.unreachableAt !== null;
  const { clock } = store;
  const atWall = (at: Instant | null): Instant | null => at && clock.wall(at);
  return {
    heardAt: atWall(record?.heardAt ?? null),
    unreachableAt: atWall(isUnreachable ? null : health.unreachableAfter(record)),
    leaseRenewedAt: store.lease(name)?.renewedAt ?? null,
    taintAt: atWall(turn?.at ?? null),
    place: turn?.place ?? null,
    because: [...because, ...waits.map((reason) => reasonAtWallTime(reason, clock))],
  };
}

// Brings each node to what it should be: the first write it needs, or its turn in the queue of its zone.
import type { Outcome } from '../attempt/outcome.ts';
import { assert } from '../kernel/assert.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earlier, earliest, type Instant } from '../kernel/time.ts';
import { type Node, readyOf } from '../model/node.ts';
import type { StoreView } from '../store.ts';
import type { LifecycleCommand } from './command.ts';
import type { ConditionRules } from './condition-rules.ts';
import type { LifecycleConfig } from './config.ts';
import type { NoExecuteDecision } from './decide.ts';
import type { HealthStore, NodeHeartbeats } from './health.ts';
import { needsOf, noExecuteNeed } from './needs.ts';
import { type EndedNodeWrite, type Needed, NodeWriter } from './node-writer.ts';
import { decideUnlessPaused } from './paused-decision.ts';
import { recoveryOf } from './recovery.ts';
import type { ZoneLimiter } from './zone-limiter.ts';

const beforeAll: Instant = Number.MIN_SAFE_INTEGER;

/** What nodes are reconciled with. */
export interface ReconcilerSite {
  readonly store: StoreView;
  readonly health: HealthStore;
  readonly limiter: ZoneLimiter;
  readonly rules: ConditionRules;
  readonly emit: (command: LifecycleCommand) => void;
}

/** Looks at the nodes to which something happened, and begins what each needs. */
export class NodeReconciler {
  readonly #config: LifecycleConfig;
  readonly #store: StoreView;
  readonly #health: HealthStore;
  readonly #limiter: ZoneLimiter;
  readonly #rules: ConditionRules;
  readonly #emit: (command: LifecycleCommand) => void;
  readonly #writer: NodeWriter;
  /** When each node is to be looked at. */
  readonly #due = new Schedule();

  constructor({ store, health, limiter, rules, emit }: ReconcilerSite, config: LifecycleConfig) {
    this.#config = config;
    this.#store = store;
    this.#health = health;
    this.#limiter = limiter;
    this.#rules = rules;
    this.#emit = emit;
    this.#writer = new NodeWriter(config);
  }

  /** When a node is to be looked at or has its turn, as of `now`; null: not before something happens. */
  nextWake(now: Instant): Instant | null {
    const hasRoom = this.#writer.room > 0;
    return earlier(this.#limiter.nextWake(now, hasRoom), hasRoom ? this.#due.next() : null);
  }

  /** What was begun is brought to its end first: else each node waits for the first write of all. */
  lookSoon(now: Instant, name: string): void {
    this.#due.set(name, this.#writer.hasBegun(name) ? beforeAll : now);
  }

  forget(name: string): void {
    this.#due.cancel(name);
    this.#writer.forget(name);
  }

  /** Begins what is due. */
  act(now: Instant): void {
    // Whoever only observes begins nothing; then no node waits for its turn either.
    if (this.#config.observes) while (this.#due.takeDue(now) !== null);
    this.#takeTurns(now);
    while (this.#writer.room > 0) {
      const name = this.#due.takeDue(now);
      if (name === null) break;
      this.#look(now, name);
    }
    this.#takeTurns(now);
  }

  /** Takes a result; null when it is not one of ours, or the node is another by now. */
  settle(now: Instant, id: string, outcome: Outcome): EndedNodeWrite | null {
    const ended = this.#writer.settle(now, id, outcome);
    if (!ended) return null;
    const { name } = ended;
    this.lookSoon(now, name);
    this.#limiter.settle(name, outcome);
    return ended;
  }

  /** What is decided about the taint NoExecute of a node. */
  decide(now: Instant, node: Node, record: NodeHeartbeats): NoExecuteDecision {
    const recovery = recoveryOf(now, record, this.#config);
    const circumstances = { record, recovery, isAllDown: this.#limiter.isAllDown };
    return decideUnlessPaused(this.#store, node, circumstances);
  }

  /**
   * Turns come before all other writes: zones let few nodes have one, and a zone of thousands needs
   * minutes for the rest.
   */
  #takeTurns(now: Instant): void {
    const isDue = (name: string): boolean => (this.#due.at(name) ?? now + 1) <= now;
    while (this.#writer.room > 0) {
      const name = this.#limiter.next(now).find(isDue);
      if (name === undefined) break;
      this.#due.cancel(name);
      this.#look(now, name);
    }
    for (const name of this.#limiter.take(now, this.#writer.room)) this.#turn(now, name);
  }

  #look(now: Instant, name: string): void {
    const [node, record] = [this.#store.node(name), this.#health.recordOf(name)];
    if (node && record) this.#tend(now, node, record);
  }

  /** Begins the first write a node needs, or lets it wait for its turn. */
  #tend(now: Instant, node: Node, record: NodeHeartbeats): void {
    const { name } = node;
    const noExecute = this.decide(now, node, record);
    const rules = this.#rules.decide(now, node);
    for (const report of rules.reports) this.#emit({ kind: 'report', report });
    const { unreachableAt, leaseRenewedAt } = record;
    const isUnreachable = unreachableAt !== null;
    const decided = { isUnreachable, leaseRenewedAt, noExecute, rules: rules.change };
    const needs = needsOf(this.#store.clock.wall(now), node, decided);
    const isLacking = noExecute.kind === 'taint';
    const lacking: readonly Needed[] = isLacking ? [{ write: 'noExecute', taints: null }] : [];
    const needed = [...needs, ...lacking];
    const { write, laterAt } = this.#writer.next(now, name, needed);
    // It waits since it stopped being ready, as far as that is known.
    const since = this.#store.clock.since(now, readyOf(node.conditions)?.transitionAt);
    if (isLacking && write === 'noExecute') this.#limiter.wait(name, since);
    else this.#limiter.leave(name);
    const next = needs.find((need) => need.write === write);
    if (next) this.#emit(this.#writer.begin(name, next));
    const wake = earliest([noExecute.until, rules.until, laterAt]);
    if (wake !== null) this.#due.set(name, wake);
  }

  #turn(now: Instant, name: string): void {
    const [node, record] = [this.#store.node(name), this.#health.recordOf(name)];
    assert(node !== null && record !== null, `node ${name} that waits is known`);
    const decision = this.decide(now, node, record);
    // Deciding again must agree: no event came that could have changed it.
    assert(decision.kind === 'taint', `node ${name} whose turn it is is to be tainted`);
    const need = noExecuteNeed(this.#store.clock.wall(now), node, decision);
    assert(need !== null, `node ${name} lacks the taint`);
    this.#emit(this.#writer.begin(name, need));
  }
}

// Brings each node to its wanted state: the first write it needs, or its turn in the queue of its
// zone.

import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { assert } from '../kernel/checks.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earlier, earliest, type Instant } from '../kernel/time.ts';
import { type Node, readyOf } from '../model/node.ts';
import type { StoreView } from '../store.ts';
import type { ConditionRules } from './condition-rules.ts';
import type { LifecycleConfig } from './config.ts';
import { decideUnlessPaused, type NoExecuteDecision, recoveryOf } from './decide.ts';
import type { HealthStore, NodeHeartbeats } from './health.ts';
import type { LifecycleCommand } from './node-command.ts';
import { type Need, needsOf, noExecuteNeed } from './node-needs.ts';
import type { NodeWrite } from './reason.ts';
import type { ZoneLimiter } from './zone-holds.ts';

const beforeAll: Instant = Number.MIN_SAFE_INTEGER;

/** The surroundings of the reconciler. */
interface NodeSite {
  readonly config: LifecycleConfig;
  readonly store: StoreView;
  readonly health: HealthStore;
  readonly limiter: ZoneLimiter;
  readonly rules: ConditionRules;
  readonly emit: (command: LifecycleCommand) => void;
}

/** Looks at the nodes to which something happened, and begins what each needs. */
export class NodeReconciler {
  readonly #site: NodeSite;
  readonly #writer: NodeWriter;
  /** The time of the next look at each node. */
  readonly #due = new Schedule();

  constructor(site: NodeSite) {
    this.#site = site;
    this.#writer = new NodeWriter(site.config);
  }

  /** The next look at a node, or turn of one, as of `now`; null: not before something happens. */
  nextWake(now: Instant): Instant | null {
    const hasRoom = this.#writer.room > 0;
    return earlier(this.#site.limiter.nextWake(now, hasRoom), hasRoom ? this.#due.next() : null);
  }

  /** A node whose writes have begun is brought to its end first: else each node waits for the first write of all. */
  lookSoon(now: Instant, name: string): void {
    this.#due.set(name, this.#writer.hasBegun(name) ? beforeAll : now);
  }

  forget(name: string): void {
    this.#due.cancel(name);
    this.#writer.forget(name);
  }

  /** Begins the writes that are due. */
  act(now: Instant): void {
    // An observer begins nothing; then no node waits for its turn either.
    if (this.#site.config.observes) while (this.#due.takeDue(now) !== null);
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
    this.#site.limiter.settle(name, outcome);
    return ended;
  }

  /** The decision about the taint NoExecute of a node. */
  decide(now: Instant, node: Node, record: NodeHeartbeats): NoExecuteDecision {
    const recovery = recoveryOf(now, record, this.#site.config);
    const circumstances = { record, recovery, isAllDown: this.#site.limiter.isAllDown };
    return decideUnlessPaused(this.#site.store, node, circumstances);
  }

  /**
   * Turns come before all other writes: zones let few nodes have one, and a zone of thousands needs
   * minutes for the rest.
   */
  #takeTurns(now: Instant): void {
    const isDue = (name: string): boolean => (this.#due.at(name) ?? now + 1) <= now;
    while (this.#writer.room > 0) {
      const name = this.#site.limiter.next(now).find(isDue);
      if (name === undefined) break;
      this.#due.cancel(name);
      this.#look(now, name);
    }
    for (const name of this.#site.limiter.take(now, this.#writer.room)) this.#turn(now, name);
  }

  #look(now: Instant, name: string): void {
    const [node, record] = [this.#site.store.node(name), this.#site.health.recordOf(name)];
    if (node && record) this.#tend(now, node, record);
  }

  /** Begins the first write a node needs, or lets it wait for its turn. */
  #tend(now: Instant, node: Node, record: NodeHeartbeats): void {
    const { name } = node;
    const noExecute = this.decide(now, node, record);
    const rules = this.#site.rules.decide(now, node);
    for (const report of rules.reports) this.#site.emit({ kind: 'report', report });
    const { unreachableAt, leaseRenewedAt } = record;
    const isUnreachable = unreachableAt !== null;
    const decided = { isUnreachable, leaseRenewedAt, noExecute, rules: rules.change };
    const needs = needsOf(this.#site.store.clock.wall(now), node, decided);
    const isLacking = noExecute.kind === 'taint';
    const lacking: readonly NeededWrite[] = isLacking ? [{ write: 'noExecute', taints: null }] : [];
    const needed = [...needs, ...lacking];
    const { write, laterAt } = this.#writer.next(now, name, needed);
    // The node waits since it stopped being ready, as far as that is known.
    const since = this.#site.store.clock.since(now, readyOf(node.conditions)?.transitionAt);
    if (isLacking && write === 'noExecute') this.#site.limiter.wait(name, since);
    else this.#site.limiter.leave(name);
    const next = needs.find((need) => need.write === write);
    if (next) this.#site.emit(this.#writer.begin(name, next));
    const wake = earliest([noExecute.until, rules.until, laterAt]);
    if (wake !== null) this.#due.set(name, wake);
  }

  #turn(now: Instant, name: string): void {
    const [node, record] = [this.#site.store.node(name), this.#site.health.recordOf(name)];
    assert(node !== null && record !== null, `node ${name} that waits is known`);
    const decision = this.decide(now, node, record);
    // Deciding again must agree: no event came that could have changed it.
    assert(decision.kind === 'taint', `node ${name} whose turn it is is to be tainted`);
    const need = noExecuteNeed(this.#site.store.clock.wall(now), node, decision);
    assert(need !== null, `node ${name} lacks the taint`);
    this.#site.emit(this.#writer.begin(name, need));
  }
}

/** A write that has ended. */
interface EndedNodeWrite {
  readonly name: string;
  readonly write: NodeWrite;
  /** When the next attempt may begin; null: it succeeded. */
  readonly retryAt: Instant | null;
}

/** A write that a node needs; `taints`: null where they are decided in its turn. */
type NeededWrite = Pick<Need, 'write' | 'taints'>;

interface NextWrite {
  /** Null: none. */
  readonly write: NodeWrite | null;
  /** Null: nothing else waits, or a write under way has to end first. */
  readonly laterAt: Instant | null;
}

const waits = { confirmationWaitMs: 10_000, retryWaitMsMin: 100, retryWaitMsMax: 30_000 };
const conflict = 409;

/**
 * The writes to nodes, one at a time for each, since every one would make the next one conflict.
 * A write that failed or has just succeeded on a node waits, and nothing else there does: a label that is refused
 * again and again is no reason not to taint.
 */
export class NodeWriter {
  /** By node and purpose. */
  readonly #writes: KeyedWrites;
  /** The writes that were begun on each node, until they are seen there. */
  readonly #begun = new Map<string, Map<NodeWrite, NeededWrite>>();

  constructor({ writesInFlightMax: max }: LifecycleConfig) {
    this.#writes = new KeyedWrites({ ...waits, prefix: 'node', max, isStale: isConflict });
  }

  /** The number of writes that may still begin. */
  get room(): number {
    return this.#writes.room;
  }

  /** True when a write was begun on the node that has not failed: the next one may need it. */
  hasBegun(name: string): boolean {
    return this.#begunOn(name).some((write) => !this.#writes.failures(writeKey(name, write)));
  }

  /** Takes in what the node needs now, and says which of it may be written, and when more of it may be. */
  next(now: Instant, name: string, needed: readonly NeededWrite[]): NextWrite {
    this.#confirm(name, needed);
    if (this.#isUnderWay(name)) return { write: null, laterAt: null };
    const times = needed.map(({ write }) => this.#writes.dueAt(writeKey(name, write)) ?? now);
    const next = needed.find((_, index) => (times[index] ?? now) <= now);
    return { write: next?.write ?? null, laterAt: earliest(times.filter((at) => at > now)) };
  }

  begin(name: string, { write, taints, command }: Need): LifecycleCommand {
    const key = writeKey(name, write);
    this.#begun.set(name, (this.#begun.get(name) ?? new Map()).set(write, { write, taints }));
    const hasFailed = (this.#writes.failures(key) ?? 0) > 0;
    return command(this.#writes.begin(key), hasFailed);
  }

  /** Takes a result; null when it is not one of ours, or the node is another by now. */
  settle(now: Instant, id: string, outcome: Outcome): EndedNodeWrite | null {
    const ended = this.#writes.settle(now, id, outcome);
    if (!ended) return null;
    const name = nodeOf(ended.key);
    const write = this.#begunOn(name).find((one) => writeKey(name, one) === ended.key);
    assert(write !== undefined, `a write to ${name} that has ended was begun`);
    return { name, write, retryAt: ended.failures === 0 ? null : ended.at };
  }

  /** Forgets each write whose effect has been shown, or whose contrary the node needs by now. */
  #confirm(name: string, needed: readonly NeededWrite[]): void {
    const begun = this.#begun.get(name);
    if (!begun) return;
    for (const one of begun.values()) {
      const { write } = one;
      const key = writeKey(name, write);
      if (needed.some((other) => isSame(one, other)) || this.#writes.isUnderWay(key)) continue;
      this.#writes.forget(key);
      begun.delete(write);
    }
    if (begun.size === 0) this.#begun.delete(name);
  }

  #isUnderWay(name: string): boolean {
    return this.#begunOn(name).some((write) => this.#writes.isUnderWay(writeKey(name, write)));
  }

  #begunOn(name: string): readonly NodeWrite[] {
    return [...(this.#begun.get(name)?.keys() ?? [])];
  }

  forget(name: string): void {
    for (const write of this.#begunOn(name)) this.#writes.forget(writeKey(name, write));
    this.#begun.delete(name);
  }
}

function isSame(one: NeededWrite, other: NeededWrite): boolean {
  if (one.write !== other.write) return false;
  return one.taints === null || other.taints === null || one.taints === other.taints;
}

function writeKey(name: string, write: NodeWrite): string {
  return `${write}/${name}`;
}

function nodeOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

/** A first one only means that the node has to be read again. */
function isConflict(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.status === conflict;
}

import { isUncertain } from '../../attempt/blocker.ts';
import type { Outcome, Setback } from '../../attempt/outcome.ts';
import type { Event } from '../../event.ts';
import { earliest, type Instant, type Millis } from '../../kernel/time.ts';
import { hasSameLabels } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import type { LimitHit } from '../../policy/limit.ts';
import type { NodeChange, StoreView } from '../../store.ts';
import type { Attempts } from '../attempts.ts';
import type { EvictionConfig } from '../config.ts';
import type { Decision } from '../decide.ts';
import { type Decider, decidingTaint } from '../decider.ts';
import type { MachineCommand } from '../eviction-command.ts';
import { queuedReport } from '../pod-events.ts';
import type { Reason } from '../reason.ts';
import { EvictionLimiter, type LimitAnswer } from './limiter.ts';
import { LimitRecordWriter, resumedEvents } from './record-writer.ts';

/** A request without an answer may come about so much later: the API server gives it up then. */
const uncertainMs: Millis = 60_000;

/** Pods come and go all the time: those who wait for room ask together. */
const recountMs: Millis = 1_000;

type LimitRefusal = Extract<LimitAnswer, { kind: 'wait' }>;

/**
 * Who may be evicted now: what limits say of pods that are due, and who waits for them in which order.
 * Whenever there may be room, all that wait ask again.
 */
export class EvictionLimits {
  readonly #store: StoreView;
  readonly #decider: Decider;
  readonly #attempts: Attempts;
  readonly #limiter: EvictionLimiter;
  /** The record of them, which outlives us. */
  readonly record: LimitRecordWriter;
  /** Who waits for room. */
  readonly queue: LimitQueue = new LimitQueue();
  /** Until when an eviction without an answer may still come about, whatever a later try says. */
  readonly #uncertainUntil = new Map<string, Instant>();
  /** Uids of those of whom it was reported that the record holds them. */
  readonly #reported = new Set<string>();
  /** True when some policy had limits. */
  #hadLimits = false;

  constructor(store: StoreView, decider: Decider, attempts: Attempts, config: EvictionConfig) {
    this.#store = store;
    this.#decider = decider;
    this.#attempts = attempts;
    this.#limiter = new EvictionLimiter(config, store);
    this.record = new LimitRecordWriter(this.#limiter, store.clock);
  }

  /** Takes what people and the record say of limits. */
  take(
    now: Instant,
    event: Extract<Event, { kind: 'resumeEvictions' | 'limitRecord' }>,
  ): readonly MachineCommand[] {
    if (event.kind === 'resumeEvictions') {
      this.queue.requeue(now);
      return this.#limiter.resume(event.limits).flatMap((hit) => resumedEvents(hit, 'its caller'));
    }
    const { hasRoom, commands } = this.record.take(now, event);
    if (hasRoom) this.queue.requeue(now);
    return commands;
  }

  /** Takes the result of a command of its own; null: it is not one. */
  answered(now: Instant, id: string, outcome: Outcome): readonly MachineCommand[] {
    const answer = this.record.answered(now, id, outcome);
    if (answer === 'room') this.queue.requeue(now);
    if (answer === 'failed') return this.#heldByRecord();
    return [];
  }

  /** The record fails, and holds whoever waits for it: those of whom that was not reported yet. */
  #heldByRecord(): readonly MachineCommand[] {
    return this.queue.uids().flatMap((uid) => {
      const [pod, state] = [this.#store.pod(uid), this.#attempts.stateOf(uid)];
      if (!pod || state?.kind !== 'queued' || state.hit?.limit !== 'record') return [];
      if (this.#reported.has(uid)) return [];
      this.#reported.add(uid);
      return queuedReport(pod, state.hit, null);
    });
  }

  /** The policies are others, or what they look at is: every pod counts anew. */
  followPolicies(now: Instant): void {
    const policies = this.#store.policies();
    if (policies.every(({ limits }) => limits.length === 0) && !this.#hadLimits) return;
    this.#hadLimits = policies.some(({ limits }) => limits.length > 0);
    this.#limiter.setPolicies(now, policies);
    if (this.#limiter.countsPods) {
      for (const pod of this.#store.pods()) this.followPod(now, pod, this.#decider.decide(pod));
    }
    this.queue.requeue(now);
  }

  /** Takes in a node as the store has it; others than before may hold its pods. */
  followNode(now: Instant, { name, node, previous }: NodeChange): void {
    if (this.#limiter.countsPods) this.#limiter.moved(name);
    if (node?.zone !== previous?.zone || !hasSameLabels(node, previous)) this.askAnew(now);
  }

  /** The cause that put a pod into the queue may have changed: all that wait ask again, together. */
  askAnew(now: Instant): void {
    if (!this.queue.isEmpty) this.queue.requeue(now + recountMs);
  }

  /** True when pods are counted that nothing is done about. */
  get countsPods(): boolean {
    return this.#limiter.countsPods;
  }

  /** Takes in a pod as it is, and what was decided about it. */
  followPod(now: Instant, pod: Pod, { kind, because }: Decision): void {
    if (pod.deletionTimestamp !== null) this.leave(now, pod.uid);
    if (!this.#limiter.countsPods) return;
    const late = kind !== 'keep' && this.#decider.isLate(pod, because);
    if (this.#limiter.see(pod, late)) this.queue.requeue(now + recountMs);
  }

  /** The pod is no more. */
  gone(now: Instant, pod: Pod): void {
    if (this.#limiter.forget(pod)) this.queue.requeue(now + recountMs);
  }

  /** True when a pod that is due asks at once; else it waits for its turn, as it does from now on. */
  isFirst(now: Instant, pod: Pod, deadline: Instant): boolean {
    if (!this.#limiter.isLimited) return true;
    this.queue.put(pod, deadline, now);
    return false;
  }

  /** Asks for one eviction, and counts it if it may begin; else why not, and the pod waits. */
  admit(
    now: Instant,
    pod: Pod,
    deadline: Instant,
    because: readonly Reason[],
  ): LimitRefusal | null {
    const late = this.#decider.isLate(pod, because);
    const answer = this.#limiter.admit(now, { pod, taint: decidingTaint(because), late });
    this.queue.delete(pod.uid);
    if (answer.madeRoom) this.queue.requeue(now);
    if (answer.kind === 'go') {
      this.#reported.delete(pod.uid);
      this.queue.served(pod.namespace);
      return null;
    }
    this.queue.put(pod, deadline, answer.until);
    return answer;
  }

  /** The pod has left or may be leaving: its eviction was accepted, is seen, or has no answer that says more. */
  leave(now: Instant, uid: string): void {
    // From now on it is known how long those who wait for its room have to.
    if (this.#limiter.leave(now, uid)) this.queue.requeue(now + recountMs);
  }

  /** A refused eviction has disrupted nothing: others may go in its place, and it asks again. */
  failed(now: Instant, uid: string, setback: Setback): void {
    if (isUncertain(setback)) this.#uncertainUntil.set(uid, now + uncertainMs);
    else if (!this.#mayLeave(now, uid) && this.#limiter.release(uid, false))
      this.queue.requeue(now);
  }

  #mayLeave(now: Instant, uid: string): boolean {
    return now < (this.#uncertainUntil.get(uid) ?? now);
  }

  /** The pod leaves, or stays after all. An attempt without an answer may still come about. */
  drop(now: Instant, uid: string, leaves: boolean, setback: Setback | null): void {
    this.queue.delete(uid);
    this.#reported.delete(uid);
    const mayLeave = this.#mayLeave(now, uid);
    this.#uncertainUntil.delete(uid);
    if (leaves || mayLeave || (setback !== null && isUncertain(setback))) this.leave(now, uid);
    else if (this.#limiter.release(uid, true)) this.queue.requeue(now);
  }
}

/**
 * True when there is more to say of what holds a pod back than was said. The record is written in a
 * moment as a rule: that is told only where it fails.
 */
export function isNews(hit: LimitHit, before: LimitHit | null): boolean {
  if (hit.limit === 'record') return false;
  return before === null || before.limit === 'record' || (hit.tripped && !before.tripped);
}

interface Waiting {
  readonly uid: string;
  readonly namespace: string;
  readonly deadline: Instant;
}

/**
 * The pods that are due and that limits hold back. Whenever a limit may have opened, all of them
 * ask again: the namespaces in turn, first the one that has waited longest since one of its pods went,
 * and the pods of a namespace by their deadlines. So a namespace with a thousand pods does not keep
 * another from its share.
 */
class LimitQueue {
  readonly #waiting = new Map<string, Waiting>();
  /** When each namespace was last served, as a count of servings. */
  readonly #servedAt = new Map<string, number>();
  #servings = 0;
  #askAt: Instant | null = null;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Who waits, in no order. */
  uids(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** `until`: when a limit may let it through; null: when there is room. */
  put({ uid, namespace }: Pod, deadline: Instant, until: Instant | null): void {
    this.#waiting.set(uid, { uid, namespace, deadline });
    if (until !== null) this.requeue(until);
  }

  /** The pod does not wait any more. */
  delete(uid: string): void {
    if (this.#waiting.delete(uid) && this.isEmpty) this.#servedAt.clear();
  }

  /** A pod of the namespace was let through: the others come first now. */
  served(namespace: string): void {
    this.#servings += 1;
    if (!this.isEmpty) this.#servedAt.set(namespace, this.#servings);
  }

  /** Everyone asks again at `at`, or earlier if that was to be so already. */
  requeue(at: Instant): void {
    this.#askAt = earliest([this.#askAt, at]);
  }

  /** When those who wait ask again; null: when something changes. */
  nextWake(): Instant | null {
    return this.isEmpty ? null : this.#askAt;
  }

  /** Those who ask at `now`, in the order in which they are let through; empty before its time. */
  ask(now: Instant): readonly string[] {
    if (this.#askAt === null || this.#askAt > now) return [];
    this.#askAt = null;
    const queues = [...this.#byNamespace()].sort(([a, [x]], [b, [y]]) => {
      const turns = (this.#servedAt.get(a) ?? 0) - (this.#servedAt.get(b) ?? 0);
      return turns || (x?.deadline ?? 0) - (y?.deadline ?? 0) || (a < b ? -1 : 1);
    });
    const rounds = Math.max(0, ...queues.map(([, queue]) => queue.length));
    return Array.from({ length: rounds }, (_, round) =>
      queues.flatMap(([, queue]) => queue[round]?.uid ?? []),
    ).flat();
  }

  /** Who waits, the earliest deadline first. */
  #byNamespace(): ReadonlyMap<string, readonly Waiting[]> {
    const queues = new Map<string, Waiting[]>();
    const inOrder = [...this.#waiting.values()].sort(
      (a, b) => a.deadline - b.deadline || (a.uid < b.uid ? -1 : 1),
    );
    for (const one of inOrder) {
      const queue = queues.get(one.namespace);
      if (queue) queue.push(one);
      else queues.set(one.namespace, [one]);
    }
    return queues;
  }
}

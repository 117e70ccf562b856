// Writes on the nodes of a drain: the taint, the mark beside it, and signs of life.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { askerOf } from '../kernel/inflight.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earlier, earliest, type Instant, type Millis } from '../kernel/time.ts';
import { drainHeartbeatMs, drainStaleMs } from '../model/working-drain.ts';
import type { DrainConfig } from '../policy/node-drain.ts';
import type { TaintNode } from './state.ts';

/** The last sight of a node. */
type Sight = 'unseen' | 'bare' | 'tainted';

/**
 * The nodes that have the taint and the mark of a drain, as far as is known, and the requests for
 * them.
 */
export class NodeTaints {
  readonly #sights = new Map<string, Sight>();
  readonly #writes: KeyedWrites;
  /** Null: nodes are not marked. */
  readonly #claims: DrainClaims | null;
  /** Nodes that had the taint when their turn came, and those whose mark has been written. */
  readonly #wasTainted = new Set<string>();
  readonly #isMarked = new Set<string>();
  /** Open nodes whose first write is not answered: pods that left now could land there. */
  readonly #unanswered = new Set<string>();
  /** Nodes that were not seen since their taint was asked for last, or since that was answered. */
  readonly #unseenSince = new Set<string>();
  readonly #confirmationWaitMs: Millis;

  constructor(config: DrainConfig) {
    const { pace } = config;
    this.#confirmationWaitMs = pace.confirmationWaitMs;
    const max = pace.requestsInFlightMax;
    this.#writes = new KeyedWrites({ ...pace, prefix: 'taint', max });
    this.#claims = config.marksNodes ? new DrainClaims(config) : null;
  }

  /** Adds a node, or another by the name of one: nothing is known of it. */
  add(name: string): void {
    this.forget(name);
    this.#sights.set(name, 'unseen');
  }

  remove(name: string): void {
    this.forget(name);
    this.#sights.delete(name);
  }

  /** Forgets the writes on a node: they are not ours any more. */
  forget(name: string): void {
    this.#writes.forget(name);
    this.#claims?.forget(name);
    this.#isMarked.delete(name);
    this.#wasTainted.delete(name);
    this.#unanswered.delete(name);
    this.#unseenSince.delete(name);
  }

  see(name: string, isTainted: boolean): void {
    this.#sights.set(name, isTainted ? 'tainted' : 'bare');
    this.#unseenSince.delete(name);
  }

  get unseen(): readonly string[] {
    return [...this.#sights].flatMap(([name, sight]) => (sight === 'unseen' ? [name] : []));
  }

  isTainted(name: string): boolean {
    return this.#sights.get(name) === 'tainted';
  }

  /** True if it had the taint before we asked for it. */
  wasTainted(name: string): boolean {
    return this.#wasTainted.has(name);
  }

  /** The node may have the taint already, and others may have acted on it since. */
  foundTainted(name: string): void {
    this.#wasTainted.add(name);
  }

  /** Asks for the taint. */
  want(now: Instant, name: string): void {
    if (!this.isTainted(name)) this.#unanswered.add(name);
    this.#writes.notice(now, name);
  }

  /** The mark stands there. */
  marked(now: Instant, name: string): void {
    this.#isMarked.add(name);
    this.#claims?.begun(now, name, this.#wasTainted.has(name));
  }

  /** True if the taint is there and, where nodes are marked, the mark. */
  isReady(name: string): boolean {
    return this.isTainted(name) && (this.#claims === null || this.#isMarked.has(name));
  }

  /** The taint needs no more work. */
  settle(name: string): void {
    this.#writes.forget(name);
    this.#unanswered.delete(name);
  }

  /** The node is done with. */
  end(name: string): void {
    this.settle(name);
    this.#claims?.forget(name);
  }

  /**
   * True if pods of the node are ours to evict, and none could land on a node that is not tainted
   * yet.
   */
  mayEvict(now: Instant, name: string): boolean {
    return this.#unanswered.size === 0 && (this.#claims?.holds(now, name) ?? true);
  }

  /** True if another run may have gone on with this drain there. */
  isLapsed(now: Instant, name: string): boolean {
    return this.#claims?.isLapsed(now, name) ?? false;
  }

  /** The nodes whose taint is due for a look. */
  due(now: Instant, names: Iterable<string>): readonly string[] {
    return [...names].filter((name) => {
      const at = this.#writes.dueAt(name);
      return at !== null && at <= now;
    });
  }

  /** True if its write was accepted and the taint did not come, or went at once. */
  hasNotCome(name: string): boolean {
    return this.#writes.failures(name) === 0 && !this.#unseenSince.has(name);
  }

  /** Requests for as many of these nodes as may be under way, and for the signs of life that are due. */
  begin(now: Instant, names: readonly string[]): readonly (TaintNode | RenewMark)[] {
    const hidden = names.filter((name) => this.#isHidden(name));
    for (const name of hidden) this.#writes.postpone(name, now + this.#confirmationWaitMs);
    const open = names.filter((name) => !this.#isHidden(name));
    const taints = open.slice(0, this.#writes.room);
    for (const name of taints) {
      this.#claims?.begin(now, name);
      this.#unseenSince.add(name);
    }
    return [
      ...taints.map((nodeName) => {
        return { kind: 'taintNode', id: this.#writes.begin(nodeName), nodeName } as const;
      }),
      ...(this.#claims?.renew(now) ?? []),
    ];
  }

  /** The node that an answer is about, and whether it is about its taint; null: about none of ours. */
  answered(
    now: Instant,
    id: string,
    outcome: Outcome,
  ): { readonly name: string; readonly isTaint: boolean } | null {
    const isTaint = askerOf(id) === 'taint';
    const ended = isTaint ? this.#writes.settle(now, id, outcome) : null;
    const name = isTaint ? ended?.key : this.#claims?.answered(now, id, outcome);
    if (name == null) return null;
    this.#unanswered.delete(name);
    // A state seen before the answer may have been the node before the write.
    if (ended?.failures === 0 && !this.isTainted(name)) this.#unseenSince.add(name);
    return { name, isTaint };
  }

  /** The time at which a taint or a sign of life is due; null: not before something happens. */
  nextWake(): Instant | null {
    return earlier(this.#writes.nextWake(), this.#claims?.nextWake() ?? null);
  }

  /** True if its write was accepted and nothing has been seen of it since: our view is behind. */
  #isHidden(name: string): boolean {
    return this.#writes.failures(name) === 0 && this.#unseenSince.has(name);
  }
}

/** Asks for a sign of life on a node; answered by one `result` event that carries the id. */
export interface RenewMark {
  readonly kind: 'renewMark';
  readonly id: string;
  readonly nodeName: string;
}

/** Without a newer sign of life no more evictions are sent: another drain may soon take over. */
const claimMs: Millis = drainStaleMs / 2;

/**
 * The nodes on which this drain shows that it is at work, so that others leave it their pods. The
 * drain evicts only while its last sign of life is recent. Where others may have been evicting
 * until it came, or since it fell behind, it waits first until what they have sent shows.
 */
class DrainClaims {
  readonly #handoverMs: Millis;
  readonly #writes: KeyedWrites;
  /** When the write was asked for that is under way. */
  readonly #asked = new Map<string, Instant>();
  /** When the last sign of life was asked for that was given. */
  readonly #shown = new Map<string, Instant>();
  /** Until when what others have sent is waited for. */
  readonly #handovers = new Schedule();

  constructor({ handoverMs, pace }: DrainConfig) {
    this.#handoverMs = handoverMs;
    const max = pace.requestsInFlightMax;
    const confirmationWaitMs = drainHeartbeatMs;
    this.#writes = new KeyedWrites({ ...pace, prefix: 'mark', max, confirmationWaitMs });
  }

  /** The first sign of life was asked for, with what else is written on the node. */
  begin(now: Instant, name: string): void {
    this.#asked.set(name, now);
  }

  /** The sign of life was given; `isHandedOver`: others may have been evicting there. */
  begun(now: Instant, name: string, isHandedOver: boolean): void {
    this.#shown.set(name, this.#asked.get(name) ?? now);
    if (isHandedOver) this.#handovers.set(name, now + this.#handoverMs);
    this.#writes.postpone(name, now + drainHeartbeatMs);
  }

  /** True if the node's pods are ours to evict. */
  holds(now: Instant, name: string): boolean {
    const shown = this.#shown.get(name);
    const until = this.#handovers.at(name);
    return shown !== undefined && now - shown < claimMs && (until === null || until <= now);
  }

  /**
   * True if the last sign of life is too old: another run may have taken the node over, and the drain
   * with it.
   */
  isLapsed(now: Instant, name: string): boolean {
    const shown = this.#shown.get(name);
    return shown !== undefined && now - shown >= claimMs;
  }

  /** The signs of life that are due. */
  renew(now: Instant): readonly RenewMark[] {
    while (this.#handovers.takeDue(now) !== null);
    return Array.from(this.#writes.takeDue(now), (nodeName) => {
      this.#asked.set(nodeName, now);
      return { kind: 'renewMark', id: this.#writes.begin(nodeName), nodeName };
    });
  }

  /** Takes a result; the node whose sign of life was not given, or null. */
  answered(now: Instant, id: string, outcome: Outcome): string | null {
    const ended = this.#writes.settle(now, id, outcome);
    if (!ended) return null;
    const { key } = ended;
    if (isSetback(outcome)) return key;
    const before = this.#shown.get(key) ?? now;
    this.#shown.set(key, this.#asked.get(key) ?? now);
    if (now - before >= claimMs) this.#handovers.set(key, now + this.#handoverMs);
    return null;
  }

  forget(name: string): void {
    this.#writes.forget(name);
    this.#handovers.cancel(name);
    this.#asked.delete(name);
    this.#shown.delete(name);
  }

  nextWake(): Instant | null {
    return earliest([this.#writes.nextWake(), this.#handovers.next()]);
  }
}

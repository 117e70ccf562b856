// What a drain writes on its nodes: the taint, the mark beside it, and its signs of life.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { askerOf } from '../kernel/inflight.ts';
import { earlier, type Instant, type Millis } from '../kernel/time.ts';
import { DrainClaims, type RenewMark } from './claims.ts';
import type { DrainConfig } from './config.ts';
import type { TaintNode } from './state.ts';

/** How a node was last seen. */
type Sight = 'unseen' | 'bare' | 'tainted';

/** Which nodes have the taint and the mark of a drain, as far as is known, and the requests for them. */
export class NodeTaints {
  readonly #sights = new Map<string, Sight>();
  readonly #writes: KeyedWrites;
  /** Null: nodes are not marked. */
  readonly #claims: DrainClaims | null;
  /** Nodes that had the taint when their turn came, and those whose mark has been written. */
  readonly #wasTainted = new Set<string>();
  readonly #isMarked = new Set<string>();
  /** Open nodes whose first write is not answered: pods that went now could come to rest there. */
  readonly #unanswered = new Set<string>();
  /** Nodes that were not seen since their taint was asked for last, or since that was answered. */
  readonly #unseenSince = new Set<string>();
  readonly #confirmationWaitMs: Millis;

  constructor(config: DrainConfig) {
    this.#confirmationWaitMs = config.confirmationWaitMs;
    const max = config.requestsInFlightMax;
    this.#writes = new KeyedWrites({ ...config, prefix: 'taint', max });
    this.#claims = config.marksNodes ? new DrainClaims(config) : null;
  }

  /** One more node, or another by the name of one: nothing is known of it. */
  add(name: string): void {
    this.forget(name);
    this.#sights.set(name, 'unseen');
  }

  remove(name: string): void {
    this.forget(name);
    this.#sights.delete(name);
  }

  /** What was written on it is not ours any more. */
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

  /** Whether it had the taint before we asked for it. */
  wasTainted(name: string): boolean {
    return this.#wasTainted.has(name);
  }

  /** It may have the taint already, and others may have been at it since. */
  foundTainted(name: string): void {
    this.#wasTainted.add(name);
  }

  /** The taint is to be put on. */
  want(now: Instant, name: string): void {
    if (!this.isTainted(name)) this.#unanswered.add(name);
    this.#writes.notice(now, name);
  }

  /** The mark stands there. */
  marked(now: Instant, name: string): void {
    this.#isMarked.add(name);
    this.#claims?.begun(now, name, this.#wasTainted.has(name));
  }

  /** Whether the taint is there and, where nodes are marked, the mark. */
  isReady(name: string): boolean {
    return this.isTainted(name) && (this.#claims === null || this.#isMarked.has(name));
  }

  /** The taint is seen to. */
  settle(name: string): void {
    this.#writes.forget(name);
    this.#unanswered.delete(name);
  }

  /** The node is done with. */
  end(name: string): void {
    this.settle(name);
    this.#claims?.forget(name);
  }

  /** Whether pods of the node are ours to evict, and none could come to rest on a node that is not tainted yet. */
  mayEvict(now: Instant, name: string): boolean {
    return this.#unanswered.size === 0 && (this.#claims?.holds(now, name) ?? true);
  }

  /** Whether another run may have gone on with this drain there. */
  isLapsed(now: Instant, name: string): boolean {
    return this.#claims?.isLapsed(now, name) ?? false;
  }

  /** Those of the nodes whose taint is to be seen to now. */
  due(now: Instant, names: Iterable<string>): readonly string[] {
    return [...names].filter((name) => {
      const at = this.#writes.dueAt(name);
      return at !== null && at <= now;
    });
  }

  /** Whether its write was accepted and the taint did not come, or went at once. */
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
    // What was seen before the answer may have been the node before the write.
    if (ended?.failures === 0 && !this.isTainted(name)) this.#unseenSince.add(name);
    return { name, isTaint };
  }

  /** When a taint or a sign of life is to be seen to; null: not before something happens. */
  nextWake(): Instant | null {
    return earlier(this.#writes.nextWake(), this.#claims?.nextWake() ?? null);
  }

  /** Whether its write was accepted and nothing has been seen of it since: our view is behind. */
  #isHidden(name: string): boolean {
    return this.#writes.failures(name) === 0 && this.#unseenSince.has(name);
  }
}

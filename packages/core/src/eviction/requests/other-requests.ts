// Respects EvictionRequests of others: a pod's responder may be moving it.
import type { Outcome } from '../../attempt/outcome.ts';
import type { Event } from '../../event.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import {
  describeEvictionRequest,
  type EvictionRequest,
  movingUntil,
} from '../../model/eviction-request.ts';
import type { Pod } from '../../model/pod.ts';
import type { StoreView } from '../../store.ts';
import type { ReadEvictionRequests } from '../eviction-command.ts';
import { RequestView } from './request-view.ts';

/** The interval at which a cluster without requests is asked. */
export const absentEveryMs: Millis = 10 * 60_000;

/** The surroundings of requests of others. */
interface MoverSite {
  readonly store: StoreView;
  /** Over all of them, whatever they say. */
  readonly timeoutMs: Millis;
}

interface Seen {
  /** When a pod was first left to them. */
  readonly since: Instant;
  /** The time at which that responder's turn was first seen, by the cluster's clock. */
  readonly turnAt: Instant;
  readonly responder: string | null;
}

/** Responders whose turn it is show that they are at work; without that their time is over. */
export class OtherMovers {
  readonly #site: MoverSite;
  readonly #seen = new Map<string, Seen>();

  constructor(site: MoverSite) {
    this.#site = site;
  }

  /** The reason why a pod is left to others, in words; null: no other program moves it. */
  holdOf(now: Instant, podUid: string, requests: readonly EvictionRequest[]): string | null {
    const wall = this.#site.store.clock.wall(now);
    for (const request of requests) {
      const until = this.untilOf(now, podUid, request);
      const since = this.#seen.get(podUid)?.since ?? now;
      const isOver = now >= since + this.#site.timeoutMs;
      if (until !== null && wall < until && !isOver)
        return `another program is moving it: ${describeEvictionRequest(request)}`;
    }
    return null;
  }

  /**
   * The end of the time in which a responder moves the pod if no further sign of life comes, by the
   * cluster's clock; null: only pods/eviction moves it.
   */
  untilOf(now: Instant, podUid: string, request: EvictionRequest): Instant | null {
    const before = this.#seen.get(podUid);
    const responder = request.responder?.name ?? null;
    const isSame = before?.responder === responder;
    const turnAt = before && isSame ? before.turnAt : this.#site.store.clock.wall(now);
    const until = movingUntil(request, turnAt);
    if (until === null) return null;
    this.#seen.set(podUid, { since: before?.since ?? now, turnAt, responder });
    return until;
  }

  forget(podUid: string): void {
    this.#seen.delete(podUid);
  }
}

/** The surroundings in which requests of others are respected. */
interface OtherRequestSite extends MoverSite {
  /** Begins the id of every command. */
  readonly prefix: string;
}

/**
 * Looks, before a pod is evicted, whether others move it. Evictions wait until the first answer. Where
 * requests may not be read, it continues: budgets are asked in any case.
 */
export class OtherRequests {
  readonly #view: RequestView;
  readonly #movers: OtherMovers;
  /** True if pods were asked about since the last tick; and if lists are of use. */
  #hasAsked = true;
  #isNeeded = true;

  constructor(now: Instant, site: OtherRequestSite) {
    this.#view = new RequestView(`${site.prefix}others`, now, absentEveryMs);
    this.#movers = new OtherMovers(site);
  }

  /** A remark for people on the drain; null: none. */
  get remark(): string | null {
    const { trouble, hasFailed, isServed } = this.#view;
    if (!hasFailed || isServed === false) return null;
    return `whether others move pods by EvictionRequests is not known: ${trouble}`;
  }

  holdOf(now: Instant, pod: Pod): string | null {
    this.#hasAsked = true;
    if (!this.#view.isAnswered(now)) return 'waits to hear whether others move it';
    const others = this.#view.of(pod.uid);
    return this.#movers.holdOf(now, pod.uid, others);
  }

  sent(_now: Instant, pod: Pod): void {
    this.#movers.forget(pod.uid);
  }

  hear({ isServed, requests }: Extract<Event, { kind: 'evictionRequests' }>): void {
    this.#view.hear(isServed, requests);
  }

  /** The list that is due. */
  take(now: Instant): readonly Omit<ReadEvictionRequests, 'drain' | 'uid'>[] {
    const id = this.#hasAsked ? this.#view.takeDue(now) : null;
    this.#isNeeded = this.#hasAsked;
    this.#hasAsked = false;
    return id === null ? [] : [{ kind: 'readEvictionRequests', id }];
  }

  /** No pod has to leave any more. */
  rest(): void {
    this.#isNeeded = false;
  }

  settle(now: Instant, id: string, outcome: Outcome): void {
    this.#view.settle(now, id, outcome);
  }

  nextWake(): Instant | null {
    return this.#isNeeded ? this.#view.nextWake() : null;
  }
}

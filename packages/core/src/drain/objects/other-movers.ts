// Pods that others are moving by EvictionRequests: a drain does not evict them beside that.
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
import type { PodGate } from '../pod-gate.ts';
import type { ReadEvictionRequests } from './command.ts';
import { RequestView } from './request-view.ts';

/** Where there is nothing to be seen it is looked for that seldom. */
const absentEveryMs: Millis = 10 * 60_000;

/** How long others are left to it. */
interface MoverSite {
  readonly store: StoreView;
  /** Over all of them, whatever they say; null: for as long as they show that they are at work. */
  readonly timeoutMs: Millis | null;
}

interface Seen {
  /** When a pod was first left to them. */
  readonly since: Instant;
  /** By the cluster's clock, when that one's turn was first seen. */
  readonly turnAt: Instant;
  readonly responder: string | null;
}

/** Those whose turn it is show that they are at work; without that their time is over. */
export class OtherMovers {
  readonly #site: MoverSite;
  readonly #seen = new Map<string, Seen>();

  constructor(site: MoverSite) {
    this.#site = site;
  }

  /** Why a pod is left to others, in words; null: nobody else moves it. */
  holdOf(now: Instant, podUid: string, requests: readonly EvictionRequest[]): string | null {
    const { store, timeoutMs } = this.#site;
    const wall = store.clock.wall(now);
    for (const request of requests) {
      const before = this.#seen.get(podUid);
      const responder = request.responder?.name ?? null;
      const isSame = before?.responder === responder;
      const turnAt = before && isSame ? before.turnAt : wall;
      const until = movingUntil(request, turnAt);
      if (until === null) continue;
      const since = before?.since ?? now;
      this.#seen.set(podUid, { since, turnAt, responder });
      const isOver = timeoutMs !== null && now >= since + timeoutMs;
      if (wall < until && !isOver)
        return `somebody else is moving it: ${describeEvictionRequest(request)}`;
    }
    return null;
  }

  forget(podUid: string): void {
    this.#seen.delete(podUid);
  }
}

/** What the requests of others are looked at for. */
export interface OtherRequestSite extends MoverSite {
  /** Is asked where nobody else moves the pod. */
  readonly gate: PodGate;
  /** Begins the id of every command. */
  readonly prefix: string;
}

/**
 * Looks, before a pod is evicted, whether others move it. Until the first answer it waits; where nobody
 * may look, it goes on: budgets are asked all the same.
 */
export class OtherRequests implements PodGate {
  readonly #site: OtherRequestSite;
  readonly #view: RequestView;
  readonly #movers: OtherMovers;
  /** Whether pods were asked about since the last tick, and whether lists are of use. */
  #hasAsked = true;
  #isNeeded = true;

  constructor(now: Instant, site: OtherRequestSite) {
    this.#site = site;
    this.#view = new RequestView(`${site.prefix}others`, now, absentEveryMs);
    this.#movers = new OtherMovers(site);
  }

  /** What people are to know of the drain; null: nothing. */
  get remark(): string | null {
    const { trouble, hasFailed, isServed } = this.#view;
    if (!hasFailed || isServed === false) return null;
    return `whether others move pods by EvictionRequests is not known: ${trouble}`;
  }

  holdOf(now: Instant, pod: Pod): string | null {
    this.#hasAsked = true;
    if (!this.#view.isAnswered(now)) return 'waits to hear whether others move it';
    const others = this.#view.of(pod.uid);
    return this.#movers.holdOf(now, pod.uid, others) ?? this.#site.gate.holdOf(now, pod);
  }

  sent(now: Instant, pod: Pod): void {
    this.#movers.forget(pod.uid);
    this.#site.gate.sent(now, pod);
  }

  answered(uid: string, outcome: Outcome): void {
    this.#site.gate.answered(uid, outcome);
  }

  hear({ isServed, requests }: Extract<Event, { kind: 'evictionRequests' }>): void {
    this.#view.hear(isServed, requests);
  }

  /** What is to be read now. */
  take(now: Instant): readonly Omit<ReadEvictionRequests, 'drain' | 'uid'>[] {
    const id = this.#hasAsked ? this.#view.takeDue(now) : null;
    this.#isNeeded = this.#hasAsked;
    this.#hasAsked = false;
    return id === null ? [] : [{ kind: 'readEvictionRequests', id }];
  }

  /** No pod is to go any more. */
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

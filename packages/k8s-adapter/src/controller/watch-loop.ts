// Follows collections of a cluster and reports each change as it comes, for recorders.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Random } from '../proto/backoff.ts';
import type { ItemChange } from '../proto/inventory.ts';
import { asRecord, type JsonRecord } from '../proto/json.ts';
import { Reflector, type ReflectorEffect, type ReflectorInput } from '../proto/reflector.ts';
import type { Selectors } from '../proto/requests.ts';
import type { LoopAction, LoopInput, LoopNotice, RunningLoop } from './loop-parts.ts';

/** A collection that is followed. */
export interface WatchedCollection {
  /** Its name in notices, which must be unique. */
  readonly resource: string;
  /** The path of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  /** Left out: all objects. */
  readonly selectors?: Selectors;
}

/** The reports of a WatchLoop. */
export type WatchNotice =
  | LoopNotice
  /** An object is new, or has changed. */
  | { readonly kind: 'object'; readonly resource: string; readonly object: JsonRecord }
  | { readonly kind: 'gone'; readonly resource: string; readonly uid: string }
  /** Changes of a collection no longer arrive; all that happened up to `heardAt` was reported. */
  | { readonly kind: 'lost'; readonly resource: string; readonly heardAt: Instant }
  /**
   * The collection is followed again; earlier changes were reported before, or are reported in the
   * next moment.
   */
  | { readonly kind: 'regained'; readonly resource: string };

interface Followed {
  readonly reflector: Reflector<JsonRecord>;
  isLost: boolean;
}

/** Follows collections and reports each change; the loop changes nothing in the cluster. */
export class WatchLoop implements RunningLoop<never, WatchNotice> {
  readonly #followed: readonly Followed[];
  #unread: number;
  #isStopped = false;
  /** The sum of the steps of the clock since the start. */
  #aheadMs: Millis = 0;

  constructor(collections: readonly WatchedCollection[], random: Random) {
    this.#unread = collections.length;
    this.#followed = collections.map(({ selectors = {}, ...collection }) => ({
      reflector: new Reflector<JsonRecord>({
        ...{ ...collection, selectors, random, watch: true, streamLists: true },
        project: asRecord,
      }),
      isLost: false,
    }));
  }

  /** True if the loop was stopped. */
  get closed(): boolean {
    return this.#isStopped;
  }

  /** Takes one input; returns the actions in order. `now` never goes back. */
  handle(now: Instant, input: LoopInput<never>): readonly LoopAction<WatchNotice>[] {
    if (input.kind === 'clockStep') this.#aheadMs += input.by;
    if (input.kind === 'clockStep' || input.kind === 'event') return [];
    if (input.kind === 'stop') this.#isStopped = true;
    return this.#feed(now, input);
  }

  /** The time of the next tick; null: after an input. */
  nextWake(): Instant | null {
    const wakes = this.#followed.flatMap(({ reflector }) => reflector.nextWake() ?? []);
    return wakes.length === 0 ? null : Math.min(...wakes);
  }

  /** The time on the clock of this machine at `now`. */
  wall(now: Instant): Instant {
    return now + this.#aheadMs;
  }

  #feed(now: Instant, input: ReflectorInput): readonly LoopAction<WatchNotice>[] {
    const actions: LoopAction<WatchNotice>[] = [];
    const wasLost = this.#followed.map(({ isLost }) => isLost);
    for (const followed of this.#followed) {
      for (const effect of followed.reflector.handle(now, input)) {
        actions.push(...this.#actionsOf(now, followed, effect));
      }
    }
    const isBack = this.#followed.some(({ isLost }, index) => wasLost[index] && !isLost);
    // A waiting reflector need not wait its time out.
    return isBack ? [...actions, ...this.#feed(now, { kind: 'returned' })] : actions;
  }

  #actionsOf(
    now: Instant,
    followed: Followed,
    effect: ReflectorEffect<JsonRecord>,
  ): readonly LoopAction<WatchNotice>[] {
    switch (effect.kind) {
      case 'send':
      case 'abort':
        return [effect];
      case 'synced':
        this.#unread -= 1;
        return this.#unread === 0 ? [{ kind: 'notice', notice: { kind: 'synced' } }] : [];
      case 'notice':
        return [...this.#heard(now, followed, effect.notice.kind), effect];
      default:
        return [{ kind: 'notice', notice: noticeOf(followed.reflector.resource, effect) }];
    }
  }

  /** A notice when changes no longer arrive, and when they arrive again. */
  #heard(now: Instant, followed: Followed, kind: string): readonly LoopAction<WatchNotice>[] {
    const { resource, heardAt } = followed.reflector;
    if (kind === 'reconnecting' && !followed.isLost && heardAt !== null) {
      followed.isLost = true;
      const since = Math.min(now, heardAt) + this.#aheadMs;
      return [{ kind: 'notice', notice: { kind: 'lost', resource, heardAt: since } }];
    }
    if (kind !== 'watching' || !followed.isLost) return [];
    followed.isLost = false;
    return [{ kind: 'notice', notice: { kind: 'regained', resource } }];
  }
}

function noticeOf(resource: string, change: ItemChange<JsonRecord>): WatchNotice {
  return change.kind === 'upsert'
    ? { kind: 'object', resource, object: change.item }
    : { kind: 'gone', resource, uid: change.uid };
}

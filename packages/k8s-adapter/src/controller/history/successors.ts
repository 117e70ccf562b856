// Finds the pods that come in the place of those that left.
import type { Pod } from '@taintmgr/core';
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Departure } from '../../history/departure.ts';
import type { OpenDepartures } from './open-departures.ts';

const slackMs: Millis = 1_000;

/**
 * The next pod of the same owner that is bound to a node after the request to leave was accepted. Each takes the place
 * of one departure, the earliest that has no successor.
 */
export class Successors {
  /** The uids of departures without a successor, by owner. */
  readonly #awaited = new Map<string, Set<string>>();
  /** The uids of departures, by that of the successor that is not ready yet. */
  readonly #coming = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  readonly #open: OpenDepartures;

  constructor(open: OpenDepartures) {
    this.#open = open;
    open.onClose((departure) => this.#forget(departure));
  }

  expect({ uid, namespace, owner, successor }: Departure): void {
    if (!owner || owner.kind === 'Node') return;
    if (successor) {
      if (successor.readyAt === undefined) this.#coming.set(successor.uid, uid);
      return;
    }
    const key = keyOf(namespace, owner);
    const awaited = this.#awaited.get(key) ?? new Set();
    this.#awaited.set(key, awaited.add(uid));
    this.#keys.set(uid, key);
  }

  see(now: Instant, pod: Pod, before: Pod | undefined): void {
    if (this.#keys.size > 0 && pod.nodeName !== '' && !before?.nodeName) this.#seeBound(now, pod);
    if (this.#coming.size > 0) this.#seeReady(now, pod);
  }

  #seeBound(now: Instant, { namespace, name, uid, nodeName: node, boundAt, owner }: Pod): void {
    const awaited = owner ? this.#awaited.get(keyOf(namespace, owner)) : undefined;
    for (const left of awaited ?? []) {
      const departure = this.#open.get(left);
      if (!departure || left === uid || !isGoing(departure)) continue;
      // The API keeps whole seconds, and an answer may come later than the watch.
      const since = wholeSecond(departure.answeredAt ?? departure.seenAt) - slackMs;
      if (boundAt === null || boundAt < since) continue;
      this.#stopWaiting(left);
      this.#coming.set(uid, left);
      const successor = { pod: name, uid, node, boundAt };
      this.#open.put(now, { ...departure, successor });
      return;
    }
  }

  #seeReady(now: Instant, { uid, ready }: Pod): void {
    const departure = this.#open.get(this.#coming.get(uid) ?? '');
    if (ready !== 'True' || !departure?.successor) return;
    this.#coming.delete(uid);
    this.#open.put(now, { ...departure, successor: { ...departure.successor, readyAt: now } });
  }

  #forget({ uid, successor }: Departure): void {
    this.#stopWaiting(uid);
    if (successor) this.#coming.delete(successor.uid);
  }

  #stopWaiting(uid: string): void {
    const key = this.#keys.get(uid);
    const awaited = key === undefined ? undefined : this.#awaited.get(key);
    this.#keys.delete(uid);
    awaited?.delete(uid);
    if (key !== undefined && awaited?.size === 0) this.#awaited.delete(key);
  }
}

/** No pod takes the place of one that is still refused, or only marked. */
function isGoing({ answeredAt, deletionTimestamp, goneAt, foundGoneAt, by }: Departure): boolean {
  const isOver = goneAt !== undefined || foundGoneAt !== undefined || by.kind === 'kubelet';
  return isOver || answeredAt !== undefined || deletionTimestamp !== undefined;
}

function keyOf(namespace: string, { kind, name }: NonNullable<Departure['owner']>): string {
  return `${namespace}/${kind}/${name}`;
}

function wholeSecond(at: Instant): Instant {
  return Math.floor(at / 1_000) * 1_000;
}

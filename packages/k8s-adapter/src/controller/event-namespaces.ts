// In which namespaces Events are taken, and how many are under way in each.
import type { Instant, Millis } from '@taintmgr/core/time';
import { Backoff, type Random } from '../proto/backoff.ts';

/** Until when a namespace waits, and how long the next time. */
interface Sickness {
  readonly until: Instant;
  readonly backoff: Backoff;
}

/** Beyond so many namespaces that fail it is the server that does. */
const sickMax = 64;
/** Places beyond the others for namespaces that have nothing under way: who hangs keeps no other from writing. */
const sparePlaces = 10;

/** A namespace in which Events fail is asked with one at a time, less and less often. */
export class EventNamespaces {
  readonly #sick = new Map<string, Sickness>();
  readonly #underWay = new Map<string, number>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  begun(namespace: string): void {
    this.#underWay.set(namespace, (this.#underWay.get(namespace) ?? 0) + 1);
  }

  ended(namespace: string): void {
    const count = (this.#underWay.get(namespace) ?? 0) - 1;
    if (count > 0) this.#underWay.set(namespace, count);
    else this.#underWay.delete(namespace);
  }

  /** Nothing is under way any more. */
  clear(): void {
    this.#underWay.clear();
  }

  /**
   * When one more of the namespace may go while so many are under way; null: not before an answer comes.
   * `room`: how many may be, where none fails.
   */
  opensAt(namespace: string, underWay: number, room: number): Instant | null {
    const sickness = this.#sick.get(namespace);
    const isFirst = !this.#underWay.has(namespace);
    const hasPlace = isFirst ? underWay < room + sparePlaces : !sickness && underWay < room;
    return hasPlace ? (sickness?.until ?? Number.NEGATIVE_INFINITY) : null;
  }

  /** An Event was taken there, or refused for good. */
  recovered(namespace: string): void {
    this.#sick.delete(namespace);
  }

  /** An Event failed there. False: so many namespaces fail that it is not the namespace's fault. */
  failed(now: Instant, namespace: string, atLeast: Millis): boolean {
    const known = this.#sick.get(namespace);
    if (!known && !this.#hasRoom(now)) return false;
    const { until, backoff } = known ?? { until: now, backoff: new Backoff(this.#random) };
    // Others that were under way fail for the same reason; one pause is enough for them all.
    if (now >= until) {
      this.#sick.set(namespace, { until: now + backoff.next(now, atLeast), backoff });
    }
    return true;
  }

  /** Those are forgotten that have had their time, and nothing under way. */
  #hasRoom(now: Instant): boolean {
    if (this.#sick.size < sickMax) return true;
    for (const [namespace, { until }] of this.#sick) {
      if (now >= until && !this.#underWay.has(namespace)) this.#sick.delete(namespace);
    }
    return this.#sick.size < sickMax;
  }
}

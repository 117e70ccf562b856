// That pods of a node are left to this drain: the signs of life that it gives there.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earliest, type Instant, type Millis } from '../kernel/time.ts';
import { drainHeartbeatMs, drainStaleMs } from '../model/working-drain.ts';
import type { DrainConfig } from './config.ts';

/** Asks for a sign of life on a node; answered by one `result` event that carries the id. */
export interface RenewMark {
  readonly kind: 'renewMark';
  readonly id: string;
  readonly nodeName: string;
}

/** Without a newer sign of life no more evictions are sent: whoever watches may soon take over. */
const claimMs: Millis = drainStaleMs / 2;

/**
 * The nodes on which this drain shows that it is at work, so that others leave it their pods. It goes
 * on evicting only while its last sign of life is recent. Where others may have been evicting until
 * it came, or since it fell behind, it waits first until what they have sent shows.
 */
export class DrainClaims {
  readonly #handoverMs: Millis;
  readonly #writes: KeyedWrites;
  /** When the write was asked for that is under way. */
  readonly #asked = new Map<string, Instant>();
  /** When the last sign of life was asked for that was given. */
  readonly #shown = new Map<string, Instant>();
  /** Until when what others have sent is waited for. */
  readonly #handovers = new Schedule();

  constructor(config: DrainConfig) {
    this.#handoverMs = config.handoverMs;
    const max = config.requestsInFlightMax;
    const confirmationWaitMs = drainHeartbeatMs;
    this.#writes = new KeyedWrites({ ...config, prefix: 'mark', max, confirmationWaitMs });
  }

  /** The first sign of life was asked for, with what else is written on the node. */
  begin(now: Instant, name: string): void {
    this.#asked.set(name, now);
  }

  /** It was given; `isHandedOver`: others may have been evicting there. */
  begun(now: Instant, name: string, isHandedOver: boolean): void {
    this.#shown.set(name, this.#asked.get(name) ?? now);
    if (isHandedOver) this.#handovers.set(name, now + this.#handoverMs);
    this.#writes.postpone(name, now + drainHeartbeatMs);
  }

  /** Whether the node's pods are ours to evict. */
  holds(now: Instant, name: string): boolean {
    const shown = this.#shown.get(name);
    const until = this.#handovers.at(name);
    return shown !== undefined && now - shown < claimMs && (until === null || until <= now);
  }

  /**
   * Whether the last sign of life is too old: another run may have taken the node over, and the drain
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

  /** Takes a result; the node whose sign of life was not given, null: it is none. */
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

import type { Instant, Millis } from '@taintmgr/core/time';

/**
 * The nodes whose pods are needed, and for a while longer. A need lingers for a while after it is
 * over, so that a taint that comes and goes costs no list each time.
 */
export class NodeNeeds {
  readonly #lingerMs: Millis;
  readonly #needed = new Set<string>();
  /** By node, until when; in the order of these instants. */
  readonly #lingering = new Map<string, Instant>();

  constructor(lingerMs: Millis) {
    this.#lingerMs = lingerMs;
  }

  /** How many there are, lingering ones included. */
  get size(): number {
    return this.#needed.size + this.#lingering.size;
  }

  has(nodeName: string): boolean {
    return this.#needed.has(nodeName) || this.#lingering.has(nodeName);
  }

  *names(): Iterable<string> {
    yield* this.#needed;
    yield* this.#lingering.keys();
  }

  /** Takes in whether a node's pods are needed; a node that is gone needs none. */
  update(now: Instant, nodeName: string, isNeeded: boolean): void {
    if (isNeeded) {
      this.#lingering.delete(nodeName);
      this.#needed.add(nodeName);
    } else if (this.#needed.delete(nodeName)) {
      this.#lingering.set(nodeName, now + this.#lingerMs);
    }
  }

  /** Forgets what has lingered long enough. */
  expire(now: Instant): void {
    for (const [nodeName, until] of this.#lingering) {
      if (until > now) return;
      this.#lingering.delete(nodeName);
    }
  }

  /** When something has; null: nothing lingers. */
  nextWake(): Instant | null {
    for (const until of this.#lingering.values()) return until;
    return null;
  }
}

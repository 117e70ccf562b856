import type { Instant } from '../kernel/time.ts';
import type { MassUnreachable } from './config.ts';
import type { HoldReason } from './reason.ts';

/**
 * Suspects ourselves: when many nodes become unreachable within a short time, the fault may be
 * ours. For a while no node is tainted for it; those that come back meanwhile were never tainted.
 */
export class MassUnreachableGuard {
  readonly #rule: MassUnreachable | null;
  readonly #unreachable = new Map<string, Instant>();
  #until: Instant = Number.NEGATIVE_INFINITY;
  #nodes = 0;

  constructor(rule: MassUnreachable | null) {
    this.#rule = rule;
  }

  /** Nodes were found unreachable, of so many that count. */
  note(now: Instant, names: readonly string[], counted: number): void {
    if (!this.#rule || names.length === 0) return;
    const { share, nodesMin, withinMs, holdMs } = this.#rule;
    for (const name of names) this.#unreachable.set(name, now);
    for (const [name, at] of this.#unreachable)
      if (now - at > withinMs) this.#unreachable.delete(name);
    const count = this.#unreachable.size;
    if (count < nodesMin || count < share * counted) return;
    this.#until = now + holdMs;
    this.#nodes = count;
  }

  /** A node was heard again. */
  heard(name: string): void {
    this.#unreachable.delete(name);
  }

  hold(now: Instant): HoldReason | null {
    if (now >= this.#until) return null;
    return { code: 'MassUnreachable', nodes: this.#nodes, until: this.#until };
  }

  /** When the hold ends; null: there is none. */
  nextWake(now: Instant): Instant | null {
    return now < this.#until ? this.#until : null;
  }
}

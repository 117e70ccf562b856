// Takes back what a NodeDrain has set on nodes when its window closes, so that they begin anew later.
import type { DrainMachine } from '../machine.ts';
import type { DrainHold } from './state.ts';

/** What it goes by. */
export interface RollBackSite {
  readonly machine: DrainMachine;
  /** Whether the node shows something of the drain. */
  readonly isMarked: (nodeName: string) => boolean;
  /** Whether something of the drain is being taken off the node. */
  readonly isUndoing: (nodeName: string) => boolean;
  /** What is known of how far the node has come is no more. */
  readonly forget: (nodeName: string) => void;
}

/**
 * Outside of the windows no node is tainted or cordoned that still has pods. One that waits for steps
 * after its pods is left to them. A node does not begin again before it shows nothing of the drain.
 */
export class RollBacks {
  readonly #site: RollBackSite;
  /** Nodes that are taken back, and whether that was written. */
  readonly #nodes = new Map<string, boolean>();

  constructor(site: RollBackSite) {
    this.#site = site;
  }

  /**
   * All windows are closed, or a gate is: an earlier leader may have begun to take nodes back too.
   * Whether there were any.
   */
  begin(): boolean {
    let hasBegun = false;
    const { machine, isMarked, forget } = this.#site;
    const begun = new Set(machine.rollBack());
    for (const { name, phase } of machine.nodes()) {
      const isLeft = phase.kind === 'pending' && isMarked(name) && !this.#nodes.has(name);
      if (!begun.has(name) && !isLeft) continue;
      forget(name);
      this.#nodes.set(name, false);
      hasBegun = true;
    }
    return hasBegun;
  }

  /** The nodes that have still to be taken back. */
  open(): readonly string[] {
    for (const [name, isWritten] of this.#nodes) {
      if (isWritten && !this.#site.isMarked(name)) this.#nodes.delete(name);
    }
    return [...this.#nodes.keys()];
  }

  written(name: string): void {
    if (this.#nodes.has(name)) this.#nodes.set(name, true);
  }

  holdOf(name: string): DrainHold | null {
    if (!this.#nodes.has(name) && !this.#site.isUndoing(name)) return null;
    return { reason: 'RollingBack', message: 'what was set on it is taken back first' };
  }
}

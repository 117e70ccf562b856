import type { Node, Taint } from '../model.ts';
import type { StartSource } from '../reason.ts';
import type { Instant } from '../time.ts';

/** A NoExecute taint of a node and since when it counts there. */
export interface ObservedTaint {
  readonly taint: Taint;
  readonly start: Instant;
  readonly startSource: Exclude<StartSource, 'podBound'>;
}

const none: readonly ObservedTaint[] = [];

/**
 * The NoExecute taints of every node and since when each counts: since taint.timeAdded, else since
 * we first saw it, which is remembered for as long as the taint stays.
 */
export class TaintLedger {
  readonly #byNode = new Map<string, readonly ObservedTaint[]>();

  /** In the node's order; empty for a node without NoExecute taints. */
  of(nodeName: string): readonly ObservedTaint[] {
    return this.#byNode.get(nodeName) ?? none;
  }

  /** Takes in the node's present state (null: it is gone); whether its taints changed for us. */
  update(now: Instant, nodeName: string, node: Node | null): boolean {
    const known = this.of(nodeName);
    const taints = node?.taints.filter((taint) => taint.effect === 'NoExecute') ?? [];
    const observed = taints.map((taint) => observe(now, taint, known));
    if (observed.length === known.length && observed.every((entry, i) => entry === known[i])) {
      return false;
    }
    if (observed.length > 0) this.#byNode.set(nodeName, observed);
    else this.#byNode.delete(nodeName);
    return true;
  }
}

/** Answers the known entry itself when the taint is still the same. */
function observe(now: Instant, taint: Taint, known: readonly ObservedTaint[]): ObservedTaint {
  const before = known.find((entry) => isSame(entry.taint, taint));
  if (before && before.taint.timeAdded === taint.timeAdded) return before;
  if (taint.timeAdded !== null) return { taint, start: taint.timeAdded, startSource: 'timeAdded' };
  return { taint, start: before?.start ?? now, startSource: 'firstSeen' };
}

/** Another value makes another taint: a pod may tolerate the one and not the other. */
function isSame(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.value === b.value && a.effect === b.effect;
}

// The pauses of a DaemonSet on a node where its pods fail: 1 s, then twice as long after each failure.
import type { KubeObject } from '../objects/kube-object.ts';

const firstPauseMs = 1_000;
const pauseMsMax = 900_000;

/** The last failure that was answered. */
interface Failure {
  readonly at: number;
  readonly pauseMs: number;
}

/** By DaemonSet and node: so a kubelet that refuses pods is not offered one after another. */
export class DaemonBackoffs {
  readonly #failures = new Map<string, Map<string, Failure>>();

  /**
   * The time until a failed pod may be removed and replaced; 0: now, and the next pause is twice as
   * long. The pauses start over on a node without a failure for twice the longest pause.
   */
  next({ metadata }: KubeObject, node: string, nowMs: number): number {
    const ofSet = this.#failures.get(metadata.uid ?? '') ?? new Map<string, Failure>();
    const last = ofSet.get(node);
    const isKnown = last !== undefined && nowMs - last.at <= 2 * pauseMsMax;
    if (isKnown && nowMs < last.at + last.pauseMs) return last.at + last.pauseMs - nowMs;
    const pauseMs = isKnown ? Math.min(pauseMsMax, 2 * last.pauseMs) : firstPauseMs;
    this.#failures.set(metadata.uid ?? '', ofSet.set(node, { at: nowMs, pauseMs }));
    return 0;
  }

  /** Forgets a DaemonSet that is gone. */
  forget({ metadata }: KubeObject): void {
    this.#failures.delete(metadata.uid ?? '');
  }
}

import { Checker } from '../checker.ts';
import type { State } from '../object-history.ts';
import { isReady, keyOf } from '../objects.ts';
import { clockTime } from '../terms.ts';
import type { LifecycleEvidence } from './evidence.ts';
import { readinessOf } from './node-rule.ts';

/**
 * The checker of pods of unreachable nodes: they are marked not ready within the bound. A node that
 * was not Ready before asks for nothing: its kubelet has said what there is to say of its pods.
 */
export class UnmarkedPodChecker extends Checker<LifecycleEvidence> {
  /** Judges the undisturbed time from `calmSince` to `now`. */
  atRest(calmSince: number, now: number): void {
    for (const states of this.evidence.history.pods) this.#judge(states, calmSince, now);
  }

  #judge(states: readonly State[], calmSince: number, now: number): void {
    const { history, terms, report } = this.evidence;
    const nodeName: string = states.findLast(({ object }) => object)?.object?.spec.nodeName ?? '';
    const nodeStates = history.node(nodeName);
    const instants = [calmSince, ...states.map(({ at }) => at), ...nodeStates.map(({ at }) => at)]
      .filter((at) => at >= calmSince && at <= now)
      .sort((a, b) => a - b);
    let since: number | null = null;
    for (const [index, at] of instants.entries()) {
      const pod = states.findLast((state) => state.at <= at)?.object ?? null;
      const isWrong =
        pod !== null &&
        pod.spec.nodeName === nodeName &&
        isReady(pod) &&
        wasUnreachable(nodeStates, at);
      if (!isWrong) since = null;
      else since ??= at;
      const until = instants[index + 1] ?? now;
      if (since === null || pod === null || until - since <= terms.podBoundMs) continue;
      const evidence = `pod ${keyOf(pod)} is ready on ${nodeName}, since ${clockTime(since)}`;
      report({
        invariant: 'pod of unreachable node not marked',
        at: since + terms.podBoundMs,
        evidence,
      });
      return;
    }
  }
}

/** Whether the node was Unknown at that instant, and Ready at its last heartbeat. */
function wasUnreachable(states: readonly State[], at: number): boolean {
  const index = states.findLastIndex((state) => state.at <= at);
  const node = states[index]?.object ?? null;
  if (readinessOf(node) !== 'Unknown') return false;
  const before = states
    .slice(0, index)
    .findLast(({ object }) => readinessOf(object) !== 'Unknown')?.object;
  return before?.metadata.uid === node?.metadata.uid && readinessOf(before ?? null) === 'True';
}

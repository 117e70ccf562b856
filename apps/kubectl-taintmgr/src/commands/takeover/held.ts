// The pods that kube-controller-manager was refused, and has forgotten.
import { type Pod, type Taint, toleratesTaint } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { NodeFacts } from '../../cluster/facts.ts';
import { UsageError } from '../../usage-error.ts';

/** A pod that kube-controller-manager would have deleted by now, or will delete. */
export interface HeldPod {
  readonly pod: Pod;
  /** When kube-controller-manager's time for it is over; null: it was over at once. */
  readonly dueAt: Instant | null;
  /** In words, for those who read of it. */
  readonly why: string;
}

/** By its rules, the first toleration that covers a taint counts. */
const rules = { comparisonOperators: false };

/**
 * Of the pods of a namespace those that are due by kube-controller-manager's rules, as far as the times
 * that taints carry say, static pods left out; where a taint carries none, its time counts as over.
 */
export function duePods(
  pods: readonly Pod[],
  nodes: readonly NodeFacts[],
  now: Instant,
): readonly HeldPod[] {
  const byName = new Map(nodes.map(({ node }) => [node.name, node]));
  return pods.flatMap((pod) => {
    const taints = byName.get(pod.nodeName)?.taints ?? [];
    // Of a static pod the API has an image only: it would come back, and the pod itself never goes.
    const isOut = pod.deletionTimestamp !== null || pod.mirror;
    const ending = taints.filter(({ effect }) => effect === 'NoExecute');
    if (isOut || ending.length === 0) return [];
    const due = dueAt(pod, ending);
    if (due === 'never' || (due !== null && due > now)) return [];
    return [{ pod, dueAt: due, why: `for ${ending.map(({ key }) => key).join(', ')}` }];
  });
}

/** Null: at once. */
function dueAt(pod: Pod, taints: readonly Taint[]): Instant | 'never' | null {
  const ends: Instant[] = [];
  for (const taint of taints) {
    const toleration = pod.tolerations.find((one) => toleratesTaint(one, taint, rules));
    if (!toleration) return null;
    const { tolerationSeconds: seconds } = toleration;
    if (seconds === null) continue;
    if (seconds <= 0 || taint.timeAdded === null) return null;
    ends.push(taint.timeAdded + Number(seconds) * 1000);
  }
  return ends.length === 0 ? 'never' : Math.min(...ends);
}

/** What is to become of them. */
export type HeldChoice = 'evict' | 'delete' | 'leave';

const choices: readonly HeldChoice[] = ['evict', 'delete', 'leave'];

/** Throws UsageError. */
export function readHeldChoice(text: string): HeldChoice {
  const found = choices.find((one) => one === text);
  if (found) return found;
  throw new UsageError(`--held: got "${text}", want ${choices.join(', ')}`);
}

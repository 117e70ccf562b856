// The pods that kube-controller-manager was refused, and has forgotten.
import { formatTaint } from '@taintmgr/core/model';
import type { Instant, Millis } from '@taintmgr/core/time';
import { evictsPods, type NodeFacts, type PodFacts } from '../../cluster/facts.ts';
import { UpstreamForecast } from '../../report/upstream-forecast.ts';
import { UsageError } from '../../usage-error.ts';

/** A pod that kube-controller-manager would have deleted by now. */
export interface HeldPod {
  readonly pod: PodFacts['pod'];
  /** When its time was over by kube-controller-manager's rules. */
  readonly dueAt: Instant;
  /** In words, for those who read of it. */
  readonly why: string;
}

/**
 * Of the pods of a namespace those that kube-controller-manager wants to delete until `ahead` from now,
 * static pods left out. It counts from when it saw both the taint and the pod. A taint without a time
 * of its own came when taintmgr wrote down, else when the node's taints were written last; where not even
 * that is known it came `now`, so that nobody who tolerates it for a while is evicted for a guess.
 */
export function duePods(
  pods: readonly PodFacts[],
  nodes: readonly NodeFacts[],
  now: Instant,
  ahead: Millis = 0,
): readonly HeldPod[] {
  const tainted = nodes.filter(evictsPods);
  const byName = new Map(tainted.map(({ node }) => [node.name, node]));
  // Of a static pod the API has an image only: it would come back, and the pod itself never goes.
  const there = pods.filter(({ pod }) => {
    return byName.has(pod.nodeName) && pod.deletionTimestamp === null && !pod.mirror;
  });
  const forecast = new UpstreamForecast({
    now,
    nodes: tainted.map((facts) => [dated(facts)]),
    pods: there.map((facts) => [facts]),
    // What it was refused has left no mark; with these, marks would count as deletions that failed.
    present: [],
    since: null,
  });
  return there.flatMap((facts) => {
    const decision = forecast.decisionOn(now + ahead, facts);
    if (decision?.kind !== 'evict' || decision.deadline > now + ahead) return [];
    const taints = byName.get(facts.pod.nodeName)?.taints ?? [];
    const keys = taints.filter(({ effect }) => effect === 'NoExecute').map(({ key }) => key);
    return [{ pod: facts.pod, dueAt: decision.deadline, why: `for ${keys.join(', ')}` }];
  });
}

/** With the times that taintmgr has written down, for taints that carry none. */
function dated(facts: NodeFacts): NodeFacts {
  const { taints, taintStarts = {} } = facts.node;
  const withTimes = taints.map((taint) => {
    return { ...taint, timeAdded: taint.timeAdded ?? taintStarts[formatTaint(taint)] ?? null };
  });
  return { ...facts, node: { ...facts.node, taints: withTimes } };
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

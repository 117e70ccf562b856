// The scores of kube-scheduler's default profile, by which it chooses among the nodes that fit.
import { preferenceFor, preferredTerms } from './node-affinity.ts';
import type { NodePool } from './node-pool.ts';
import { podAffinityScores } from './pod-affinity.ts';
import type { SchedulingPod } from './scheduling-pod.ts';
import { shynessOf, tolerationsOf } from './taints.ts';
import { type PeersOf, spreadScores } from './topology-spread.ts';

/** The scores of one plugin, in the order of the nodes that are compared, times its weight. */
export interface PluginScores {
  readonly plugin: string;
  readonly scores: Float64Array;
}

/**
 * The scores of each plugin for the nodes; plugins that do not distinguish nodes for this pod are
 * left out. `compared`: the nodes, by their places in the order of the pool.
 */
export function scoresOf(
  pool: NodePool,
  pod: SchedulingPod,
  compared: readonly number[],
  peersOf: PeersOf,
): readonly PluginScores[] {
  const all: readonly (readonly [string, number, Float64Array | null])[] = [
    ['TaintToleration', 3, tolerationScores(pool, pod, compared)],
    ['NodeAffinity', 2, preferenceScores(pool, pod, compared)],
    ['PodTopologySpread', 2, spreadScores(pool, pod, compared, peersOf)],
    ['InterPodAffinity', 2, podAffinityScores(pool, pod, compared)],
    ['NodeResourcesFit', 1, roomScores(pool, pod, compared)],
    ['NodeResourcesBalancedAllocation', 1, balanceScores(pool, pod, compared)],
    ['ImageLocality', 1, imageScores(pool, pod, compared)],
  ];
  return all.flatMap(([plugin, weight, scores]) => {
    if (!scores) return [];
    for (let at = 0; at < scores.length; at++) scores[at] = (scores[at] ?? 0) * weight;
    return [{ plugin, scores }];
  });
}

/** The nodes with the highest total, by their places among those that are compared. */
export function bestOf(count: number, plugins: readonly PluginScores[]): readonly number[] {
  let best: number[] = [];
  let most = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < count; at++) {
    let total = 0;
    for (const { scores } of plugins) total += scores[at] ?? 0;
    if (total < most) continue;
    if (total > most) best = [];
    most = total;
    best.push(at);
  }
  return best;
}

/** Untolerated PreferNoSchedule taints, the fewer the better; null: every node has the same. */
function tolerationScores(
  pool: NodePool,
  pod: SchedulingPod,
  compared: readonly number[],
): Float64Array | null {
  if (!pool.hasShyNodes) return null;
  const places = pool.places();
  const tolerations = tolerationsOf(pod);
  const scores = Float64Array.from(compared, (index) => {
    const place = places[index];
    return place ? shynessOf(place, tolerations) : 0;
  });
  const most = scores.reduce((one, other) => Math.max(one, other), 0);
  if (most === 0) return null;
  return scores.map((count) => 100 - Math.trunc((100 * count) / most));
}

/** The weights of preferred node affinity. */
function preferenceScores(
  pool: NodePool,
  { pod }: Readonly<SchedulingPod>,
  compared: readonly number[],
): Float64Array | null {
  const terms = preferredTerms(pod.spec);
  if (terms.length === 0) return null;
  const places = pool.places();
  const scores = Float64Array.from(compared, (index) => {
    const node = places[index]?.offer?.node;
    return node ? preferenceFor(terms, node) : 0;
  });
  const most = scores.reduce((one, other) => Math.max(one, other), 0);
  return most === 0 ? null : scores.map((weight) => Math.trunc((100 * weight) / most));
}

function roomScores(
  { rooms }: NodePool,
  { requests }: SchedulingPod,
  compared: readonly number[],
): Float64Array {
  const scores = new Float64Array(compared.length);
  for (let at = 0; at < compared.length; at++) {
    scores[at] = rooms.leastAllocated(compared[at] ?? 0, requests.sought);
  }
  return scores;
}

/** Pods that ask for neither CPU nor memory would all go to the same node. */
function balanceScores(
  { rooms }: NodePool,
  { requests }: SchedulingPod,
  compared: readonly number[],
): Float64Array | null {
  if (requests.cpu === 0 && requests.memory === 0) return null;
  const scores = new Float64Array(compared.length);
  for (let at = 0; at < compared.length; at++) {
    scores[at] = rooms.balance(compared[at] ?? 0, requests);
  }
  return scores;
}

function imageScores(
  pool: NodePool,
  { pod }: Readonly<SchedulingPod>,
  compared: readonly number[],
): Float64Array | null {
  if (pool.images.isEmpty) return null;
  const places = pool.places();
  const scoreOn = pool.images.scorer(pod, pool.size);
  return Float64Array.from(compared, (index) => scoreOn(places[index]?.name ?? ''));
}

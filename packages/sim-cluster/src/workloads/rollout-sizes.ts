// The sizes of a Deployment's ReplicaSets, step by step through a rollout.
import { scaledCount } from '../controllers/int-or-percent.ts';
import { isTerminating } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';

/** A Deployment and its ReplicaSets; `current` is that of its template, if it is there. */
export interface Look {
  readonly deployment: KubeObject;
  readonly current: KubeObject | null;
  readonly old: readonly KubeObject[];
}

/** Sizes of ReplicaSets that are to change. */
type Sizes = ReadonlyMap<KubeObject, number>;

/** The replicas in its spec; its pods may be fewer or more. */
export const replicasIn = ({ spec }: KubeObject): number => spec.replicas ?? 1;

export const totalOf = (sets: readonly KubeObject[]): number =>
  sets.reduce((total, set) => total + replicasIn(set), 0);

const availableIn = ({ status }: KubeObject): number => status?.availableReplicas ?? 0;

/** The oldest comes first. */
export function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const born = (time = ''): number => Date.parse(time) || 0;
  const difference = born(a.creationTimestamp) - born(b.creationTimestamp);
  return difference !== 0 ? difference : a.name < b.name ? -1 : 1;
}

/** The number of pods allowed beyond its replicas. */
export function surgeMax({ spec }: KubeObject): number {
  if (spec.strategy?.type === 'Recreate') return 0;
  const { maxSurge = '25%' } = spec.strategy?.rollingUpdate ?? {};
  return scaledCount(maxSurge, spec.replicas ?? 1, Math.ceil);
}

/** The number of its replicas that may be missing. */
export function unavailableMax(deployment: KubeObject): number {
  const { strategy, replicas = 1 } = deployment.spec;
  if (strategy?.type === 'Recreate' || replicas === 0) return 0;
  const { maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const missing = scaledCount(maxUnavailable, replicas, Math.floor);
  // Otherwise a rollout could begin neither with one pod more nor with one less.
  const least = missing === 0 && surgeMax(deployment) === 0 ? 1 : missing;
  return Math.min(least, replicas);
}

/** The size that the ReplicaSet of the template may have now: up to all replicas, as far as there is room. */
export function newReplicas({ deployment, current, old }: Look): number {
  const replicas = replicasIn(deployment);
  const size = current ? replicasIn(current) : 0;
  if (deployment.spec.strategy?.type === 'Recreate' || size >= replicas) return replicas;
  const room = replicas + surgeMax(deployment) - totalOf(old) - size;
  return size + Math.max(0, Math.min(room, replicas - size));
}

/**
 * The sizes of the old ReplicaSets that give up pods now: first those whose pods are not available, then as
 * many as the available pods are more than the fewest that there have to be.
 */
export function oldSizes({ deployment, current, old }: Look & { current: KubeObject }): Sizes {
  const sizes = new Map<KubeObject, number>();
  const active = old.filter((set) => replicasIn(set) > 0).sort(byAge);
  const fewest = replicasIn(deployment) - unavailableMax(deployment);
  const notYet = replicasIn(current) - availableIn(current);
  const spare = totalOf(active) + replicasIn(current) - fewest - notYet;
  if (active.length === 0 || spare <= 0) return sizes;
  const sizeOf = (set: KubeObject): number => sizes.get(set) ?? replicasIn(set);
  const take = (set: KubeObject, count: number): number => {
    if (count > 0) sizes.set(set, sizeOf(set) - count);
    return Math.max(0, count);
  };
  let unhealthy = spare;
  for (const set of active) {
    unhealthy -= take(set, Math.min(unhealthy, sizeOf(set) - availableIn(set)));
  }
  const available = [...active, current].reduce((total, set) => total + availableIn(set), 0);
  let healthy = available - fewest;
  for (const set of active) healthy -= take(set, Math.min(healthy, sizeOf(set)));
  return sizes;
}

const prefix = 'deployment.kubernetes.io/';
const desiredKey = `${prefix}desired-replicas`;
const maxKey = `${prefix}max-replicas`;

/** The annotations by which a ReplicaSet says for which size of its Deployment it has its own. */
export function sizeNotes(deployment: KubeObject): Readonly<Record<string, string>> {
  const replicas = replicasIn(deployment);
  return { [desiredKey]: String(replicas), [maxKey]: String(replicas + surgeMax(deployment)) };
}

const noteIn = ({ metadata }: KubeObject, key: string): number | null => {
  const text = metadata.annotations?.[key];
  return text === undefined ? null : Number(text);
};

/** True if the Deployment was scaled after its ReplicaSets got their sizes. */
export function isScaled({ deployment, current, old }: Look): boolean {
  const sets = current ? [...old, current] : old;
  return sets.some((set) => replicasIn(set) > 0 && isSizeStale(deployment, set));
}

/** True if the size of a ReplicaSet was computed for another size of its Deployment. */
export function isSizeStale(deployment: KubeObject, set: KubeObject): boolean {
  const noted = noteIn(set, desiredKey);
  return noted !== null && noted !== replicasIn(deployment);
}

/**
 * The sizes that a scaled or paused Deployment gives its ReplicaSets. The only one with pods gets all; in the
 * middle of a rollout each changes in proportion to its size, and the largest one has the rest.
 */
export function proportionalSizes(look: Look): Sizes {
  const { deployment, current, old } = look;
  const replicas = replicasIn(deployment);
  const sets = (current ? [...old, current] : old).filter((set) => !isTerminating(set));
  const active = sets.filter((set) => replicasIn(set) > 0);
  const [latest] = active.length === 0 ? [current ?? sets.sort(byAge).at(-1)] : active;
  if (latest && active.length < 2) return new Map([[latest, replicas]]);
  const isSaturated =
    current !== null &&
    replicasIn(current) === replicas &&
    noteIn(current, desiredKey) === replicas &&
    availableIn(current) === replicas;
  if (isSaturated) return new Map(active.filter((set) => set !== current).map((set) => [set, 0]));
  if (deployment.spec.strategy?.type === 'Recreate') return new Map();
  return inProportion(deployment, active);
}

function inProportion(deployment: KubeObject, active: readonly KubeObject[]): Sizes {
  const replicas = replicasIn(deployment);
  const allowed = replicas > 0 ? replicas + surgeMax(deployment) : 0;
  const change = allowed - totalOf(active);
  const inOrder = [...active].sort((one, other) => {
    const bySize = replicasIn(other) - replicasIn(one);
    return bySize !== 0 ? bySize : change > 0 ? byAge(other, one) : byAge(one, other);
  });
  let left = change;
  const sizes = new Map<KubeObject, number>();
  for (const set of inOrder) {
    const share = change === 0 ? 0 : fractionOf(deployment, set);
    const part = left > 0 ? Math.min(share, left) : Math.max(share, left);
    left -= part;
    sizes.set(set, replicasIn(set) + part);
  }
  const [largest] = inOrder;
  if (largest) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + left));
  return sizes;
}

/** The change of the ReplicaSet's size if all changed in proportion. */
function fractionOf(deployment: KubeObject, set: KubeObject): number {
  const replicas = replicasIn(deployment);
  if (replicas === 0) return -replicasIn(set);
  const before: number = noteIn(set, maxKey) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  const size = (replicasIn(set) * (replicas + surgeMax(deployment))) / before;
  return Math.round(size) - replicasIn(set);
}

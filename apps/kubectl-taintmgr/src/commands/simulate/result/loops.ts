import type { EvictionTrack } from '../record/evictions.ts';

/** Pods that were evicted from a node, came back to it, and were evicted again for the same reason. */
export interface EvictionLoop {
  readonly namespace: string;
  /** `db-0`: a pod that comes back under its name; else `Deployment shop/web`. */
  readonly name: string;
  readonly node: string;
  readonly evictions: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Why it was evicted each time. */
  readonly because: readonly string[];
}

/** Once may be chance. */
const returnsMin = 2;

/** The loops among evictions, the longest first. */
export function loopsOf(evictions: readonly EvictionTrack[]): readonly EvictionLoop[] {
  const groups = new Map<string, [EvictionTrack, ...EvictionTrack[]]>();
  for (const eviction of evictions) {
    // One reason and later another one are two stories, however often the pod came back.
    const why = eviction.because.join();
    const key = `${eviction.namespace}/${nameOf(eviction)} ${eviction.node} ${why}`;
    const known = groups.get(key);
    if (!known) groups.set(key, [eviction]);
    // Pods that were there beside the first go with it, and are no loop.
    else if (eviction.arrivedAt >= known[0].at) known.push(eviction);
  }
  const loops = Array.from(groups.values()).filter((group) => group.length > returnsMin);
  return loops.map(loopOf).sort((one, other) => other.evictions - one.evictions);
}

function loopOf(group: readonly [EvictionTrack, ...EvictionTrack[]]): EvictionLoop {
  const [first] = group;
  const last = group.at(-1) ?? first;
  const { namespace, node, because } = first;
  const times = { evictions: group.length, firstAt: first.at, lastAt: last.at };
  return { namespace, name: nameOf(first), node, ...times, because };
}

/** What of a pod stays the same when it comes back. */
function nameOf({ workload, pod }: EvictionTrack): string {
  return workload === null || workload.startsWith('StatefulSet ') ? pod : workload;
}

// How long the pods of a snapshot took to start: what is seen counts before what is assumed.
import { type Instant, parseTime } from '@taintmgr/core/time';
import type { KubeObject, RangeMs } from '@taintmgr/sim-cluster';
import type { Condition } from '../../../cluster/facts.ts';
import { workloadKeyOf } from './workload-key.ts';

/** Longer ago it was not its start, but that it was not ready for a while. */
const startMsMax = 600_000;
/** API times are whole seconds: what is shorter cannot be told from the usual. */
const medianMsMin = 3_000;
/** So many times the median is no start either. */
const medianTimes = 3;

/** The starts by workloads, `shop/web`. */
export function observedStarts(pods: readonly KubeObject[]): ReadonlyMap<string, RangeMs> {
  const starts = new Map<string, number[]>();
  for (const pod of pods) {
    const took = startOf(pod);
    if (took === null) continue;
    const key = workloadKeyOf(pod);
    starts.set(key, [...(starts.get(key) ?? []), took]);
  }
  const ranges = Array.from(starts, ([key, all]): readonly [string, RangeMs][] => {
    const sorted = all.sort((one, other) => one - other);
    const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
    if (median < medianMsMin) return [];
    const plausible = sorted.filter((took) => took <= medianTimes * median);
    return [[key, [plausible[0] ?? 0, plausible.at(-1) ?? 0]]];
  });
  return new Map(ranges.flat());
}

/** From when its kubelet took it to when it was ready; null: nobody can tell. */
function startOf({ status }: KubeObject): number | null {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True' || status?.phase !== 'Running') return null;
  const containers: readonly { readonly restartCount?: number }[] = status.containerStatuses ?? [];
  if (containers.some(({ restartCount = 0 }) => restartCount > 0)) return null;
  const [from, until] = [status.startTime, ready.lastTransitionTime].map(instantOf);
  if (from === null || from === undefined || until === null || until === undefined) return null;
  const took = until - from;
  return took >= 0 && took <= startMsMax ? took : null;
}

function instantOf(text: unknown): Instant | null {
  return typeof text === 'string' ? parseTime(text) : null;
}

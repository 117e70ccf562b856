import type { ClusterTime } from '../../kernel/cluster-clock.ts';
import { endOfSecond, type Instant } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import { addedAt, type Taint } from '../../model/taint.ts';

/** A look at a pod of a node that had these taints then. */
interface PastLook {
  readonly at: Instant;
  readonly taints: readonly Taint[];
}

interface Past {
  readonly now: Instant;
  /** Since when anybody looks. */
  readonly since: Instant;
  readonly clock: ClusterTime;
}

/**
 * The looks at a pod until now, as far as the objects show what there was to look at: the pod came when
 * it was bound, each taint when it says so or else when the taints were written last. Times are kept in
 * whole seconds, and count from their end.
 */
export function pastLooks(
  pod: Pod,
  { taints, taintsWrittenAt }: Node,
  { now, since, clock }: Past,
): readonly PastLook[] {
  const timeOf = (written: Instant | null | undefined): Instant =>
    Math.max(since, clock.since(now, written == null ? null : endOfSecond(written)));
  const startOf = (taint: Taint): Instant =>
    timeOf(addedAt(taint, clock.wall(now)) ?? taintsWrittenAt);
  const boundAt = pod.boundAt === null ? since : timeOf(pod.boundAt);
  const starts = [...new Set(taints.map(startOf))].sort((one, other) => one - other);
  // What came and was followed by more before the pod was there, nobody saw on it.
  const seen = starts.filter((_, index) => (starts[index + 1] ?? now + 1) > boundAt);
  return seen.map((start) => {
    return { at: Math.max(start, boundAt), taints: taints.filter((one) => startOf(one) <= start) };
  });
}

import type { Instant } from '../../kernel/time.ts';
import type { Pod } from '../../model/pod.ts';
import { isEqualTaint } from '../../model/taint.ts';
import { decidingToleration, type MatchOptions } from '../../model/toleration.ts';
import type { Reason } from '../reason.ts';
import type { ObservedTaint } from '../taint-clock.ts';
import { deadlineOf, type TaintReason } from '../taint-reason.ts';
import type { QueueEntry } from './timed-queue.ts';
import { minTolerationNanos, upstreamWait } from './wait.ts';

/**
 * Why kube-controller-manager is about to evict a pod, or is not. The reason that decided comes first: the
 * taint by which the pod's time was set, or, where the taints and tolerations of now do not come to that
 * time, that it was set for others.
 */
export function upstreamReasons(
  pod: Pod,
  observed: readonly ObservedTaint[],
  entry: QueueEntry | null,
  options: MatchOptions,
): readonly Reason[] {
  if (observed.length === 0) return [{ code: entry ? 'TimerKept' : 'NoTaint' }];
  const taints = observed.map(({ taint }) => taint);
  const stays = upstreamWait(taints, pod.tolerations, options).kind === 'forever';
  const reasons = observed.map((one) =>
    reasonFor(pod, one, entry?.createdAt ?? one.start, { ...options, stays }),
  );
  if (!entry) return stays ? reasons : [{ code: 'GivenUp' }, ...reasons];
  const decisive = reasons.find((reason) => isDecisive(reason, entry));
  if (!decisive) return [{ code: 'TimerKept' }, ...reasons];
  return [decisive, ...reasons.filter((reason) => reason !== decisive)];
}

/** Whether the pod's time is what its reading of the taint comes to. */
function isDecisive(reason: TaintReason, entry: QueueEntry): boolean {
  if (!isEqualTaint(reason.taint, entry.taint) || reason.code === 'ToleratedForever') return false;
  return entry.kind === 'inProgress' || Math.abs(deadlineOf(reason) - entry.fireAt) < 1;
}

/** `stays`: nothing that the pod tolerates ever ends, as far as an int64 tells. */
function reasonFor(
  pod: Pod,
  { taint, startSource }: ObservedTaint,
  start: Instant,
  { stays, ...options }: MatchOptions & { readonly stays: boolean },
): TaintReason {
  const toleration = decidingToleration(pod.tolerations, taint, options);
  if (!toleration) return { code: 'NoToleration', taint, start, startSource, deadline: start };
  const nanos = minTolerationNanos([toleration]);
  if (stays || nanos < 0n) return { code: 'ToleratedForever', taint, toleration };
  const deadline = start + Number(nanos) / 1_000_000;
  return { code: 'TolerationExpires', taint, toleration, start, startSource, deadline };
}

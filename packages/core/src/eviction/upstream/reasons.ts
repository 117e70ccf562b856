import type { Instant } from '../../kernel/time.ts';
import type { Pod } from '../../model/pod.ts';
import { decidingToleration, type MatchOptions } from '../../model/toleration.ts';
import type { Reason } from '../reason.ts';
import type { ObservedTaint } from '../taint-clock.ts';
import type { QueueEntry } from './timed-queue.ts';

/**
 * Why kube-controller-manager is about to evict a pod, or is not: what it reads from the taints, or
 * from a timer that says otherwise.
 */
export function upstreamReasons(
  pod: Pod,
  observed: readonly ObservedTaint[],
  entry: QueueEntry | null,
  options: MatchOptions,
): readonly Reason[] {
  const reasons = observed.map((one) =>
    reasonFor(pod, one, entry?.createdAt ?? one.start, options),
  );
  if (reasons.length === 0 && !entry) return [{ code: 'NoTaint' }];
  const stays = reasons.every(({ code }) => code === 'ToleratedForever');
  if (entry?.kind === 'timer' && stays) return [{ code: 'TimerKept' }, ...reasons];
  if (!entry && !stays) return [{ code: 'GivenUp' }, ...reasons];
  return reasons;
}

function reasonFor(
  pod: Pod,
  { taint, startSource }: ObservedTaint,
  start: Instant,
  options: MatchOptions,
): Reason {
  const toleration = decidingToleration(pod.tolerations, taint, options);
  if (!toleration) return { code: 'NoToleration', taint, start, startSource, deadline: start };
  if (toleration.tolerationSeconds === null) return { code: 'ToleratedForever', taint, toleration };
  const deadline = start + Math.max(0, Number(toleration.tolerationSeconds)) * 1000;
  return { code: 'TolerationExpires', taint, toleration, start, startSource, deadline };
}

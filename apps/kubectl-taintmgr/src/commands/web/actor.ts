// The controller that evicts for NoExecute taints and its start, as the live page says it.
import type { ForecastSurvey } from '@taintmgr/k8s-adapter/survey';
import type { LiveMoment } from '@taintmgr/page';

/** `evictedSince`: null where that is not known. */
export function liveActor({
  evictor,
  evictors,
}: Pick<ForecastSurvey, 'evictor' | 'evictors'>): Pick<LiveMoment, 'evictedBy' | 'evictedSince'> {
  const { name, source, sure, rules, takesOver, upstreamSince } = evictor;
  const upstream = 'kube-controller-manager';
  if (takesOver) {
    const evictedBy = `taintmgr-controller evicts in namespaces that are taken over, ${upstream} in others`;
    return { evictedBy, evictedSince: null };
  }
  switch (name) {
    case 'both':
      return {
        evictedBy: `${upstream} and taintmgr-controller evict here, whichever comes first`,
        evictedSince: null,
      };
    case 'nobody':
      return { evictedBy: 'No controller evicts here', evictedSince: null };
    case 'unknown':
      return {
        evictedBy: `It is unknown who evicts here (${source}): assume ${rules}`,
        evictedSince: null,
      };
    case 'kube-controller-manager': {
      const evictedBy = sure
        ? `${upstream} evicts here`
        : `Most likely ${upstream} evicts here (${source})`;
      return { evictedBy, evictedSince: upstreamSince };
    }
    case 'taintmgr-controller': {
      const leader = leaderIn(evictors);
      const by = leader ? `, leader ${leader.holder}` : '';
      return {
        evictedBy: `taintmgr-controller evicts here${by}`,
        evictedSince: leader?.since ?? null,
      };
    }
  }
}

/** The leader of taintmgr-controller; null: what shows that it acts does not name one. */
function leaderIn({ taintmgr }: ForecastSurvey['evictors']) {
  for (const one of taintmgr.kind === 'doesNotAct' ? [] : taintmgr.evidence) {
    if (one.kind === 'lease') return { holder: one.lease.holder, since: one.lease.acquiredAt };
    if (one.kind === 'published') return { holder: one.leader, since: one.startedAt };
  }
  return null;
}

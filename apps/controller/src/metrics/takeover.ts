// Metrics of takeover: what was handed over, what became of its pods, how the policies are.
import type { Notice } from '@taintmgr/k8s-adapter';
import type { ProcessStats } from '../stats/process-stats.ts';
import type { Meter } from './meter.ts';

/** So many namespaces are named at most. */
const namespacesMax = 100;

/** Takes the notices of what somebody changed; makes nothing where there is no takeover. */
export function takeoverMetrics(meter: Meter, stats: ProcessStats): (notice: Notice) => void {
  const { takeover } = stats;
  if (!takeover) return () => {};
  const spared = () =>
    [...(stats.running?.takeover()?.counts.spared ?? [])].slice(0, namespacesMax);
  const went = () => [...takeover.went].slice(0, namespacesMax);
  const label = 'namespace' as const;
  meter.reading(
    'taintmgr_takeover_policies_in_force',
    '1: the admission policies of takeover are as they should be, as far as the leader knows.',
    () => stats.running?.takeover()?.policies.isInForce ?? false,
  );
  meter.reading('taintmgr_takeover_namespaces', 'Namespaces that were handed over.', () => {
    return stats.running?.takeover()?.counts.namespaces.length ?? 0;
  });
  meter.totals(
    'taintmgr_takeover_spared_pods_total',
    'Pods that kube-controller-manager would have deleted and that stayed.',
    [label],
    () => spared().map(([namespace, count]) => [{ namespace }, count.spared]),
  );
  meter.readings('taintmgr_takeover_held_pods', 'Of these the pods that are there.', [label], () =>
    spared().map(([namespace, count]) => [{ namespace }, count.held]),
  );
  meter.totals(
    'taintmgr_takeover_let_through_pods_total',
    'Pods that kube-controller-manager deleted though their namespace was handed over.',
    [label],
    () => went().map(([namespace, { letThrough }]) => [{ namespace }, letThrough]),
  );
  const drifts = meter.counter(
    'taintmgr_takeover_drift_total',
    'Times that an object of takeover was not as it should be.',
    'object',
  );
  return (notice) => {
    if (notice.kind === 'takeoverDrift' || notice.kind === 'takeoverContested')
      drifts.inc({ object: notice.object });
  };
}

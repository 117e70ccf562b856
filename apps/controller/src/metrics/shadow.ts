// Metrics of the shadow: what kube-controller-manager evicted, held against what we would have done.
import type { ShadowReport } from '@taintmgr/core/shadow';
import type { Meter } from './meter.ts';

const verdicts = ['same', 'earlier', 'later', 'kept', 'onlyTaintmgr'] as const;
const unjudged = ['notDeleted', 'leftOtherwise', 'givenUp'] as const;

/** Reads `report` whenever metrics are asked for; null: nothing was seen yet. */
export function shadowMetrics(meter: Meter, report: () => ShadowReport | null): void {
  const read = <T>(of: (report: ShadowReport) => readonly T[]): readonly T[] => {
    const now = report();
    return now ? of(now) : [];
  };
  meter.totals(
    'taintmgr_shadow_pods_total',
    'Pods that kube-controller-manager deleted for a taint, or that taintmgr would have evicted, by what taintmgr would have done: same, earlier, later, kept (not evicted), onlyTaintmgr (kube-controller-manager did not delete it).',
    ['verdict'],
    () => read(({ counts }) => verdicts.map((verdict) => [{ verdict }, counts[verdict]] as const)),
  );
  meter.totals(
    'taintmgr_shadow_budgets_asked_pods_total',
    'Pods that kube-controller-manager deleted in spite of PodDisruptionBudgets, and that taintmgr would have evicted through the Eviction API.',
    [],
    () => read(({ counts }) => [[{}, counts.budgetsAsked] as const]),
  );
  meter.totals(
    'taintmgr_shadow_unjudged_pods_total',
    'Pods without a verdict: marked for deletion and not deleted, left otherwise, given up as too many were followed.',
    ['why'],
    () => read((all) => unjudged.map((why) => [{ why }, all[why]] as const)),
  );
  meter.readings(
    'taintmgr_shadow_following_pods',
    'Pods on whom there is no verdict yet.',
    [],
    () => read(({ following }) => [[{}, following] as const]),
  );
}

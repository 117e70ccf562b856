import { formatTaint } from '@taintmgr/core';
import { type Evictors, taintEvictors } from '@taintmgr/k8s-adapter';
import { readMarks } from '../../cluster/drain-marks.ts';
import type { NodeFacts } from '../../cluster/facts.ts';
import type { DrainRequest, DrainSettings, WantedTaint } from './settings.ts';

/**
 * Chooses the effect of the taint where the command line leaves it open. A NoSchedule taint is safe
 * on every cluster: nobody else evicts for it. NoExecute, which also keeps pods out that tolerate
 * the other, is chosen only where it is known that nobody else evicts for it either.
 */
export function settleEffect(
  request: DrainRequest,
  evictors: Evictors,
  targets: readonly NodeFacts[],
): DrainSettings {
  const { key, value, effect } = request.taint;
  const settle = (chosen: string, effectReason: string | null): DrainSettings => ({
    ...request,
    taint: { key, value, effect: chosen, timeAdded: null },
    effectReason,
  });
  if (effect !== null) return settle(effect, null);
  const earlier = earlierEffect(request.taint, targets);
  if (earlier !== null) return settle(earlier, 'set by an earlier run');
  if (isKnownNobody(evictors)) return settle('NoExecute', 'nobody else evicts for it here');
  const answer = taintEvictors(evictors);
  return settle('NoSchedule', answer.kind === 'nobody' ? noProof : answer.text);
}

/** What one line says of an effect that was chosen; null: it was given. */
export function effectLine({ taint, effectReason }: DrainSettings): string | null {
  if (effectReason === null) return null;
  return `Taint: ${formatTaint(taint)} (${effectReason})`;
}

/** That nobody was seen is no knowledge. */
export const noProof =
  'whether kube-controller-manager evicts for NoExecute taints here is unknown: it shows neither a ' +
  'pod nor a lease';

/**
 * Whether it is known that nobody else evicts for a NoExecute taint: kube-controller-manager's own
 * flags say that it does not. That nothing of it is to be seen says nothing.
 */
export function isKnownNobody(evictors: Evictors): boolean {
  const { kind, evidence } = evictors.upstream['taint-eviction-controller'];
  const hasFlags = evidence.some((one) => one.kind === 'pod');
  return taintEvictors(evictors).kind === 'nobody' && kind === 'doesNotAct' && hasFlags;
}

/** The same command goes on where an earlier run has ended: with the taint that one has set. */
function earlierEffect(wanted: WantedTaint, targets: readonly NodeFacts[]): string | null {
  const marks = targets.flatMap(({ annotations }) => readMarks(annotations));
  const mark = marks.find(
    ({ taint, tainted }) => tainted && taint.key === wanted.key && taint.value === wanted.value,
  );
  return mark?.taint.effect ?? null;
}

// Which effect the taint of a drain gets, and why.
import { formatTaint } from '@taintmgr/core';
import { taintEvictors } from '@taintmgr/k8s-adapter';
import { readMarks } from '@taintmgr/k8s-adapter/drain';
import type { NodeSurvey } from '../../cluster/survey.ts';
import { printable } from '../../render/printable.ts';
import type { DrainRequest, DrainSettings } from './settings.ts';

/**
 * Chooses the effect of the taint where the command line leaves it open. A NoSchedule taint is safe
 * on every cluster: nobody else evicts for it. NoExecute, which also keeps pods out that tolerate
 * the other, is chosen only where it is known that nobody else evicts for it either.
 */
export function chooseEffect(request: DrainRequest, survey: NodeSurvey): DrainSettings {
  const [effect, effectReason] = effectOf(request, survey);
  const { key, value } = request.taint;
  return { ...request, taint: { key, value, effect, timeAdded: null }, effectReason };
}

function effectOf(
  { taint: { key, value, effect } }: DrainRequest,
  { evictors, nodes }: NodeSurvey,
): readonly [effect: string, reason: string | null] {
  if (effect !== null) return [effect, null];
  // The same command goes on where an earlier run has ended: with the taint that one has set.
  const marks = nodes.flatMap(({ annotations }) => readMarks(annotations));
  const earlier = marks.find(
    ({ taint, tainted }) => tainted && taint.key === key && taint.value === value,
  );
  if (earlier) return [earlier.taint.effect, 'set by an earlier run'];
  const { kind, text } = taintEvictors(evictors);
  return kind === 'nobody' ? ['NoExecute', 'nobody else evicts for it here'] : ['NoSchedule', text];
}

/** What one line says of an effect that was chosen; null: it was given. */
export function effectLine({ taint, effectReason }: DrainSettings): string | null {
  if (effectReason === null) return null;
  return printable(`Taint: ${formatTaint(taint)} (${effectReason})`);
}

import { formatTaint, type Taint } from '@taintmgr/core';
import { type Evictors, taintEvictors } from '@taintmgr/k8s-adapter';

/**
 * Why a drain that respects budgets is not to be had with this taint: another controller would take
 * the pods of a NoExecute taint before budgets are asked, or may. Null: nobody would, as far as can be
 * told.
 */
export function overlapFault(taint: Taint, evictors: Evictors): string | null {
  if (taint.effect !== 'NoExecute') return null;
  const answer = taintEvictors(evictors);
  if (answer.kind === 'nobody') return null;
  const other = formatTaint({ ...taint, effect: 'NoSchedule' });
  return (
    `${answer.text}; use ${other}, for which nobody else evicts, or ${answer.advice}, or accept ` +
    'it with --allow-overlap'
  );
}

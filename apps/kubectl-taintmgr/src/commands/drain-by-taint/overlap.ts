import { formatTaint, type Taint } from '@taintmgr/core';
import { type Evictors, taintEvictors } from '@taintmgr/k8s-adapter';
import { isKnownNobody, noProof } from './effect.ts';

/**
 * Whether another controller would take the pods of the drain's taint without asking budgets. Null:
 * it is known that nobody would.
 */
export function overlapFault(taint: Taint, evictors: Evictors): string | null {
  if (taint.effect !== 'NoExecute' || isKnownNobody(evictors)) return null;
  const answer = taintEvictors(evictors);
  const other = formatTaint({ ...taint, effect: 'NoSchedule' });
  const known = answer.kind === 'nobody' ? '' : `, or ${answer.advice}`;
  return (
    `${answer.kind === 'nobody' ? noProof : answer.text}; use ${other}, for which nobody else ` +
    `evicts${known}, or accept it with --allow-overlap: the drain then stops at the first pod that ` +
    'another controller takes'
  );
}

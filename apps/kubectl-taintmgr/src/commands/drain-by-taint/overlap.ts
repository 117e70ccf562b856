import { formatTaint, type Taint } from '@taintmgr/core';
import type { Acting } from '../../cluster/acting.ts';

/**
 * Why a drain that respects budgets is not to be had with this taint: another controller would take
 * the pods of a NoExecute taint before budgets are asked. Null: nobody would.
 */
export function overlapFault(taint: Taint, { upstream, taintmgr }: Acting): string | null {
  if (taint.effect !== 'NoExecute') return null;
  const other = formatTaint({ ...taint, effect: 'NoSchedule' });
  const instead = `use ${other}, for which nobody else evicts, or accept it with --allow-overlap`;
  if (upstream.kind === 'runs') {
    return (
      'kube-controller-manager runs here and would delete the pods of a NoExecute taint at once, ' +
      `without asking disruption budgets; ${instead} if it was started with ` +
      '--controllers=*,-taint-eviction-controller'
    );
  }
  if (taintmgr.kind === 'runs') {
    return (
      'taintmgr-controller runs here and evicts the pods of a NoExecute taint itself, by its own ' +
      `policy; ${instead}`
    );
  }
  if (upstream.kind === 'unknown') {
    return (
      'whether kube-controller-manager runs here and would delete the pods of a NoExecute taint at ' +
      'once cannot be told without the right to get the lease kube-controller-manager in ' +
      `kube-system; ${instead}`
    );
  }
  return null;
}

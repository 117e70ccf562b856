import { isDeepStrictEqual } from 'node:util';
import { toleratesTaint } from '@taintmgr/core';
import { minTolerationNanos } from '../../src/eviction/upstream/wait.ts';
import { decidingToleration } from '../../src/model/toleration.ts';
import { taintFrom, tolerationFrom, type VectorTaint, type VectorToleration } from './objects.ts';

interface Used {
  readonly allTolerated: boolean;
  readonly usedTolerations: readonly number[];
  readonly minTolerationNs: string;
}

/** One list of taints and one of tolerations through Kubernetes' own matching functions. */
export interface MatchingCase {
  readonly enableComparisonOperators: boolean;
  readonly taints: readonly VectorTaint[];
  readonly tolerations: readonly VectorToleration[];
  readonly toleratesMatrix: readonly string[];
  readonly result: Used;
  readonly noExecuteOnly: Used & { readonly taintIndexes: readonly number[] };
}

/** What differs from the recording; null when nothing does. */
export function checkMatching(recorded: MatchingCase): string | null {
  const options = { comparisonOperators: recorded.enableComparisonOperators };
  const taints = recorded.taints.map(taintFrom);
  const tolerations = recorded.tolerations.map(tolerationFrom);
  const matrix = taints.map((taint) =>
    tolerations.map((toleration) => Number(toleratesTaint(toleration, taint, options))).join(''),
  );
  if (!isDeepStrictEqual(matrix, recorded.toleratesMatrix)) return `matrix ${matrix.join(' ')}`;
  const noExecute = taints.flatMap(({ effect }, index) => (effect === 'NoExecute' ? [index] : []));
  const { taintIndexes } = recorded.noExecuteOnly;
  if (!isDeepStrictEqual(noExecute, taintIndexes)) return `NoExecute taints ${noExecute.join()}`;
  return (
    differenceInUse(taints, recorded.result) ??
    differenceInUse(
      noExecute.flatMap((index) => taints[index] ?? []),
      recorded.noExecuteOnly,
    )
  );

  function differenceInUse(of: typeof taints, expected: Used): string | null {
    const used = of.map((taint) => decidingToleration(tolerations, taint, options));
    const allTolerated = !used.includes(null);
    const counted = allTolerated ? used.filter((toleration) => toleration !== null) : [];
    const ours: Used = {
      allTolerated,
      usedTolerations: counted.map((toleration) => tolerations.indexOf(toleration)),
      minTolerationNs: String(minTolerationNanos(counted)),
    };
    const { usedTolerations, minTolerationNs } = expected;
    const theirs = { allTolerated: expected.allTolerated, usedTolerations, minTolerationNs };
    return isDeepStrictEqual(ours, theirs) ? null : `used ${JSON.stringify(ours)}`;
  }
}

// The runs in the order in which the page shows them.
import type { Differences, PageInput } from '../simulation.ts';

/**
 * Of two unnamed runs, kube-controller-manager comes first, in any order of the flags: readers compare the
 * behavior of Kubernetes with the change.
 */
export function inReadingOrder(input: PageInput): PageInput {
  const [first, second, ...others] = input.runs;
  const isTurned =
    first?.name === 'taintmgr' && second?.name === 'kube-controller-manager' && others.length === 0;
  if (!isTurned) return input;
  const differences = second.differences && turned(second.differences);
  return {
    ...input,
    runs: [
      { ...second, differences: null },
      { ...first, differences },
    ],
  };
}

/** The difference of the first from the second. */
function turned(differences: Differences): Differences {
  return JSON.parse(JSON.stringify(differences), (_, value: unknown) => {
    return typeof value === 'number' ? -value : value;
  });
}

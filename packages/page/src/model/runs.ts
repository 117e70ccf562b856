// The runs in the order in which the page shows them.
import type { Differences, PageInput } from '../simulation.ts';

/**
 * Of two that nobody has named kube-controller-manager comes first, whichever was asked for: readers
 * compare what Kubernetes does with what changes.
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

/** What the first has more than the second. */
function turned(differences: Differences): Differences {
  return JSON.parse(JSON.stringify(differences), (_, value: unknown) => {
    return typeof value === 'number' ? -value : value;
  });
}

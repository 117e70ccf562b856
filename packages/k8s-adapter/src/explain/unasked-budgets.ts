// The budgets that evictions break, as the evictor does not ask them.
import type { Budget } from '@taintmgr/core/drain';
import { listText } from '../text/count.ts';
import { printable } from '../text/printable.ts';
import type { UnaskedBudgetDocument } from './answers.ts';
import type { PodEvictor } from './explainer.ts';
import type { PodReport } from './report.ts';

/** A budget that lets fewer pods go than are evicted without asking the budget. */
interface UnaskedBudget {
  readonly budget: Budget;
  readonly evictor: NonNullable<PodEvictor>;
  readonly pods: readonly PodReport[];
}

/** The budgets that these evictions break, in the order of the first of their pods. */
function unaskedBudgets(pods: readonly PodReport[]): readonly UnaskedBudget[] {
  const found = new Map<string, UnaskedBudget>();
  for (const report of pods) {
    const { evictor, asksBudgets, budgets } = report;
    if (evictor === null || asksBudgets || report.lacksEvictor) continue;
    for (const budget of budgets) {
      const key = `${evictor} ${budget.namespace}/${budget.name}`;
      const before = found.get(key)?.pods ?? [];
      found.set(key, { budget, evictor, pods: [...before, report] });
    }
  }
  return [...found.values()].filter((one) => one.pods.length > one.budget.allowed);
}

/** `PDB shop/web allows 0 of these 3 evictions (web-1, web-2, web-3): kube-controller-manager does not ask budgets` */
export function unaskedBudgetTexts(pods: readonly PodReport[]): readonly string[] {
  return unaskedBudgets(pods).map(({ budget, evictor, pods: under }) => {
    const { namespace, name, allowed } = budget;
    const names = listText(under.map(({ facts }) => facts.pod.name));
    const text =
      under.length === 1
        ? 'does not allow this eviction'
        : `allows ${allowed} of these ${under.length} evictions`;
    return printable(
      `PDB ${namespace}/${name} ${text} (${names}): ${evictor} does not ask budgets here`,
    );
  });
}

/** The same for documents; left out: none. */
export function unaskedBudgetsDocument(pods: readonly PodReport[]): {
  readonly unaskedBudgets?: readonly UnaskedBudgetDocument[];
} {
  const documents = unaskedBudgets(pods).map(({ budget, evictor, pods: under }) => {
    const { namespace, name, allowed, healthy, desired, expected } = budget;
    const names = under.map(({ facts }) => facts.pod.name);
    return { namespace, name, allowed, healthy, desired, expected, evictor, pods: names };
  });
  return documents.length === 0 ? {} : { unaskedBudgets: documents };
}

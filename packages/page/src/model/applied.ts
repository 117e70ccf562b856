// The changes that manifests make to a cluster before anything happens in the cluster, in words.
import type { AppliedObject, Named, PageInput } from '../simulation.ts';
import { count } from './words.ts';

/** The number of objects that are named. */
const namedMax = 10;

/** Each object that manifests change, and which fields; none where no manifests are laid over the cluster. */
export function appliedTexts({ applied }: PageInput): readonly string[] {
  if (!applied) return [];
  const moved = applied.filter(({ change }) => change !== 'unchanged');
  if (moved.length === 0) return ['After: nothing of the manifests changes the cluster'];
  const texts = moved.slice(0, namedMax).map((one) => {
    const fields = one.fields.length === 0 ? '' : `: ${one.fields.join('; ')}`;
    return `After: ${nameOf(one)} ${one.change} (${one.file}:${one.line})${fields}`;
  });
  const more = moved.length - namedMax;
  return more > 0 ? [...texts, `After: ${count(more, 'more object')} changed or created`] : texts;
}

/**
 * The faults after the manifests are applied: workloads that do not settle, and budgets that no longer allow
 * any eviction.
 */
export function rolloutFaults({ runs }: PageInput): readonly string[] {
  const [before, after] = runs.map(({ rollout }) => rollout);
  const isNew = ({ namespace, name }: Named): boolean =>
    !before?.closedBudgets.some((one) => one.namespace === namespace && one.name === name);
  return [
    ...(after?.unfinished ?? []).map(({ workload, text }) => {
      return `${workload} does not come to rest after: ${text}`;
    }),
    ...(after?.closedBudgets ?? []).filter(isNew).map(({ namespace, name, pods }) => {
      return `PDB ${namespace}/${name} allows no eviction after: 0 of ${pods} may be down`;
    }),
  ].slice(0, namedMax);
}

function nameOf({ kind, namespace, name }: AppliedObject): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
}

// The results of applying manifests, in words.
import type { AppliedObject } from '@taintmgr/page';

/** `2 changed (PDB shop/web, Deployment shop/api), 1 created, 14 unchanged` */
export function appliedText(applied: readonly AppliedObject[]): string {
  const texts = (['changed', 'created', 'unchanged'] as const).flatMap((change) => {
    const objects = applied.filter((one) => one.change === change);
    if (objects.length === 0) return [];
    const names = change === 'unchanged' ? '' : ` (${namesText(objects)})`;
    return [`${objects.length} ${change}${names}`];
  });
  const isSame = applied.every(({ change }) => change === 'unchanged');
  return [...(isSame ? ['nothing of it changes the cluster'] : []), ...texts].join(', ');
}

const namesMax = 6;

function namesText(objects: readonly AppliedObject[]): string {
  const names = objects.slice(0, namesMax).map(({ kind, namespace, name }) => {
    const short = kind === 'PodDisruptionBudget' ? 'PDB' : kind;
    return `${short} ${namespace === '' ? name : `${namespace}/${name}`}`;
  });
  const more = objects.length - namesMax;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

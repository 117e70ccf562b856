// The defaults of RBAC kinds.
import type { KubeObject } from '../objects/kube-object.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

interface Subject {
  readonly kind?: string;
  readonly apiGroup?: string;
  readonly namespace?: string;
}

/** A new or changed binding: who and what it names are of the groups that they can only be of. */
export function withBindingDefaults(binding: KubeObject): KubeObject {
  const subjects: readonly Subject[] = binding.subjects ?? [];
  const { apiGroup } = binding.roleRef;
  return {
    ...binding,
    ...(subjects.length > 0 ? { subjects: subjects.map(named) } : {}),
    roleRef: { ...binding.roleRef, apiGroup: apiGroup || rbacGroup },
  };
}

function named({ kind, apiGroup, ...rest }: Subject): Subject {
  const group = kind === 'ServiceAccount' ? apiGroup : (apiGroup ?? rbacGroup);
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(group ? { apiGroup: group } : {}),
    ...rest,
  };
}

// The validation of RBAC kinds.
import type { Cause } from '../objects/errors.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { invalidValue, notSupported, required } from './causes.ts';
import { validateMetadata } from './metadata.ts';

interface PolicyRule {
  readonly verbs: readonly string[] | null;
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

interface Subject {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

const roleKinds: Readonly<Record<string, readonly string[]>> = {
  RoleBinding: ['Role', 'ClusterRole'],
  ClusterRoleBinding: ['ClusterRole'],
};
const subjectKinds = ['ServiceAccount', 'User', 'Group'];

/** Names of roles and bindings are parts of a path and nothing more. */
function nameErrors(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%']
    .filter((sign) => name.includes(sign))
    .map((sign) => `may not contain '${sign}'`);
}

/** The rules for a role, of a namespace or of the cluster. */
export function validateRole(role: KubeObject): readonly Cause[] {
  const causes = [...validateMetadata(role, nameErrors)];
  const rules: readonly PolicyRule[] = role.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    causes.push(...validateRule(rule, `rules[${index}]`, role.kind === 'Role'));
  }
  return causes;
}

function validateRule(rule: PolicyRule, field: string, isNamespaced: boolean): readonly Cause[] {
  const { verbs, apiGroups = [], resources = [], nonResourceURLs = [] } = rule;
  if (!verbs || verbs.length === 0) {
    return [required(`${field}.verbs`, 'verbs must contain at least one value')];
  }
  if (nonResourceURLs.length > 0) {
    if (isNamespaced) {
      const text = 'namespaced rules cannot apply to non-resource URLs';
      return [invalidValue(`${field}.nonResourceURLs`, nonResourceURLs, text)];
    }
    if (apiGroups.length + resources.length === 0) return [];
    const text = 'rules cannot apply to both regular resources and non-resource URLs';
    return [invalidValue(`${field}.nonResourceURLs`, nonResourceURLs, text)];
  }
  if (apiGroups.length === 0) {
    return [required(`${field}.apiGroups`, 'resource rules must supply at least one api group')];
  }
  if (resources.length > 0) return [];
  return [required(`${field}.resources`, 'resource rules must supply at least one resource')];
}

/** The rules for a binding. */
export function validateRoleBinding(binding: KubeObject): readonly Cause[] {
  const causes = [...validateMetadata(binding, nameErrors)];
  const kinds = roleKinds[binding.kind ?? ''] ?? [];
  const { kind, name } = binding.roleRef;
  if (!kinds.includes(kind)) causes.push(notSupported('roleRef.kind', kind, kinds));
  if (!name) causes.push(required('roleRef.name'));
  const subjects: readonly Subject[] = binding.subjects ?? [];
  for (const [index, subject] of subjects.entries()) {
    const field = `subjects[${index}]`;
    if (!subject.name) causes.push(required(`${field}.name`));
    if (!subjectKinds.includes(subject.kind ?? '')) {
      causes.push(notSupported(`${field}.kind`, subject.kind, subjectKinds));
    }
    if (subject.kind === 'ServiceAccount' && !subject.namespace) {
      causes.push(required(`${field}.namespace`));
    }
  }
  return causes;
}

/** A binding is made for one role and stays with it. */
export function validateRoleBindingUpdate(
  next: KubeObject,
  previous: KubeObject,
): readonly Cause[] {
  if (equal(next.roleRef, previous.roleRef)) return [];
  return [invalidValue('roleRef', next.roleRef, 'cannot change roleRef')];
}

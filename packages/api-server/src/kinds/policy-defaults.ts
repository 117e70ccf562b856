// The defaults of admission policies and of what binds them.
import type { KubeObject } from '@taintmgr/sim-cluster/server';

interface Rule {
  readonly scope?: string;
}

interface MatchResources {
  readonly resourceRules?: readonly Rule[];
  readonly excludeResourceRules?: readonly Rule[];
}

/** Rules with the scope that each has where it says none. */
export const withScope = (rules: readonly Rule[]): readonly Rule[] =>
  rules.map((rule) => ({ ...rule, scope: rule.scope ?? '*' }));

function matchResources(given: MatchResources): object {
  const { resourceRules, excludeResourceRules } = given;
  return {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    ...given,
    ...(resourceRules ? { resourceRules: withScope(resourceRules) } : {}),
    ...(excludeResourceRules ? { excludeResourceRules: withScope(excludeResourceRules) } : {}),
  };
}

/** A new or changed policy. */
export function admitPolicy(policy: KubeObject): KubeObject {
  const { matchConstraints } = policy.spec;
  const spec = {
    failurePolicy: 'Fail',
    ...policy.spec,
    ...(matchConstraints ? { matchConstraints: matchResources(matchConstraints) } : {}),
  };
  return { ...policy, spec };
}

/** A new policy, of which nobody has said anything yet. */
export function admitNewPolicy(policy: KubeObject): KubeObject {
  return { ...admitPolicy(policy), status: {} };
}

/** A new or changed binding. */
export function admitBinding(binding: KubeObject): KubeObject {
  const { matchResources: given } = binding.spec;
  if (!given) return binding;
  return { ...binding, spec: { ...binding.spec, matchResources: matchResources(given) } };
}

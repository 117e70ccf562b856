// Tells in the status of admission policies that they were looked at, and what looks wrong.
import type { Change, KubeObject } from '@taintmgr/sim-cluster/server';
import { Controller, resources } from '@taintmgr/sim-cluster/server';
import type { ResourceRule } from './match-resources.ts';
import { type CheckedKind, checkTypes } from './type-checking.ts';

const policyResource = 'validatingadmissionpolicies';

/** Work is keyed by policy; policies act without it. */
export class PolicyStatus extends Controller {
  protected override begin(): void {
    for (const { metadata } of this.api.list(policyResource)) this.queue.add(metadata.name);
  }

  protected override notice({ resource, object }: Change): void {
    if (resource === policyResource) this.queue.add(object.metadata.name);
  }

  protected override sync(name: string): void {
    const policy = this.api.get(policyResource, '', name);
    const generation = policy?.metadata.generation;
    if (!policy || policy.status?.observedGeneration === generation) return;
    const expressionWarnings = checkTypes(policy, kindsOf(policy));
    const typeChecking = expressionWarnings.length > 0 ? { expressionWarnings } : {};
    const status = { ...policy.status, observedGeneration: generation, typeChecking };
    this.api.update(policyResource, { ...policy, status }, 'status');
  }
}

/** The built-in kinds that its rules name, without wildcards. */
function kindsOf({ spec }: KubeObject): readonly CheckedKind[] {
  const rules: readonly ResourceRule[] = spec.matchConstraints?.resourceRules ?? [];
  const named = rules.flatMap(({ apiGroups = [], apiVersions = [], resources: plurals = [] }) =>
    resources.filter(
      ({ group, version, plural }) =>
        apiGroups.includes(group) && apiVersions.includes(version) && plurals.includes(plural),
    ),
  );
  return [...new Set(named)].map(({ group, version, kind, schema }) => ({
    groupVersion: `${group}/${version}`,
    kind,
    schema,
  }));
}

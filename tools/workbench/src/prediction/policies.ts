// The policies of a prediction run: each action, for some pods of the scenario.
import type { Json, KubeObject } from '@taintmgr/sim-cluster';

type Spec = Readonly<Record<string, Json>>;

function policy(name: string, pods: readonly string[], spec: Spec): KubeObject {
  const podSelector = { matchExpressions: [{ key: 'app', operator: 'In', values: [...pods] }] };
  return {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPolicy',
    metadata: { name },
    spec: { match: { podSelector }, ...spec },
  };
}

/** Names of pods, by what is to become of them. */
export interface PodGroups {
  readonly lasting: readonly string[];
  readonly forced: readonly string[];
  readonly kept: readonly string[];
  readonly given: readonly string[];
  readonly asEver: readonly string[];
}

export function policiesFor(groups: PodGroups): readonly KubeObject[] {
  return [
    policy('lasting', groups.lasting, { action: 'Delete', minTaintAge: '30s' }),
    policy('forced', groups.forced, { action: 'EvictThenDelete', deleteAfter: '20s' }),
    policy('kept', groups.kept, { action: 'Keep' }),
    policy('given', groups.given, { action: 'Evict', defaultTolerationSeconds: 33 }),
    policy('as-ever', groups.asEver, { action: 'Upstream' }),
  ];
}

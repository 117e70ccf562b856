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

export const policies: readonly KubeObject[] = [
  policy('settled', ['five', 'twenty', 'late', 'gone-before', 'twice'], {
    action: 'Delete',
    minTaintAge: '30s',
  }),
  policy('forced', ['budget', 'budget-4', 'saved-late'], {
    action: 'EvictThenDelete',
    deleteAfter: '20s',
  }),
  policy('kept', ['forty', 'longer', 'unmoved'], { action: 'Keep' }),
  policy('given', ['plain', 'not-second'], { action: 'Evict', defaultTolerationSeconds: 33 }),
  policy('as-ever', ['ninety', 'down', 'up-late', 'shorter', 'down-5', 'late-5'], {
    action: 'Upstream',
  }),
];

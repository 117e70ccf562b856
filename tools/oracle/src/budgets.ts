// The checker of disruption budgets: no eviction breaks one.

import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Call } from './call.ts';
import { Checker } from './checker.ts';
import type { Evidence } from './evidence.ts';
import type { ObservedChange } from './object-history.ts';
import { isReady, isSelected, isTerminating } from './objects.ts';
import { noExecuteTaints } from './taint-rule.ts';
import { isRemoval } from './terms.ts';

/** Changes of health that the budget's status may not show yet. */
const statusLagMs = 1000;

/** Whether the budget is one for this pod. */
export function selectedBy(budget: KubeObject, pod: KubeObject): boolean {
  return isSelected(budget.spec.selector, pod);
}

/**
 * With mode `evict`, no eviction takes the healthy pods of a budget below what it needs. Counted from
 * the pods themselves, not from the budget's status, which follows after a moment.
 */
export class BudgetChecker extends Checker<Evidence> {
  /** When the health of a pod last changed but by an eviction, by namespace. */
  readonly #shakenAt = new Map<string, number>();

  observe({ at, change, by }: ObservedChange): void {
    const { resource, object, previous, type } = change;
    const { namespace = '' } = object.metadata;
    const shakes = resource === 'pods' || resource === 'poddisruptionbudgets';
    if (!shakes || (resource !== 'pods' && by)) return;
    const healthyAfter = type !== 'DELETED' && resource === 'pods' && isHealthy(object);
    const healthyBefore = resource === 'pods' && previous !== null && isHealthy(previous);
    const isEviction = by !== null && isRemoval(by) && healthyBefore && !healthyAfter;
    const asks = isEviction && previous && this.#asksBudgets(at, previous, by);
    if (asks) this.#judge(at, previous);
    const isSpec =
      resource !== 'pods' && previous?.metadata.generation !== object.metadata.generation;
    if (!asks && (isSpec || healthyBefore !== healthyAfter)) this.#shakenAt.set(namespace, at);
  }

  /** Whether each taint that the client may have gone by lets its pods go by the budgets only. */
  #asksBudgets(at: number, pod: KubeObject, { run, sentAt }: Call): boolean {
    const { history, terms, apiHistory, policies } = this.evidence;
    if (terms.policies.length === 0 && !terms.clusterPolicies) return terms.mode === 'evict';
    const known = apiHistory.known.inTurnUpTo(run, 'nodes', sentAt);
    const states = history.during(history.node(pod.spec.nodeName ?? ''), known, at);
    return states.every(({ object: node }) =>
      noExecuteTaints(node)
        .flatMap((taint) => policies.inForce(run, sentAt, { pod, node, taint }))
        .every(({ mode }) => mode === 'evict'),
    );
  }

  #judge(at: number, pod: KubeObject): void {
    const { report } = this.evidence;
    const { namespace = '', name } = pod.metadata;
    if (at - (this.#shakenAt.get(namespace) ?? 0) < statusLagMs) return;
    for (const budget of this.evidence.api.list('poddisruptionbudgets', namespace)) {
      if (!selectedBy(budget, pod)) continue;
      const pods = this.evidence.api.list('pods', namespace);
      const left = pods.filter((one) => selectedBy(budget, one) && isHealthy(one)).length;
      const { desiredHealthy = 0 } = budget.status ?? {};
      if (left >= desiredHealthy) continue;
      const evidence = `pod ${namespace}/${name} left ${left} healthy pods where budget ${budget.metadata.name} needs ${desiredHealthy}`;
      report({ invariant: 'budget overdrawn', at, evidence });
    }
  }
}

function isHealthy(pod: KubeObject): boolean {
  return isReady(pod) && !isTerminating(pod);
}

// PodDisruptionBudgets: their effect on an eviction, and others who have a say in them.
import type { Owner, Pod } from './pod.ts';
import { type LabelSelector, selects } from './selector.ts';

/** A PodDisruptionBudget, as far as it decides about evictions. Its numbers are of pods. */
export interface Budget {
  /** metadata.namespace. */
  readonly namespace: string;
  /** metadata.name. */
  readonly name: string;
  /** Null selects nothing, an empty one every pod of the namespace. */
  readonly selector: LabelSelector | null;
  /** The number of pods that may go now. */
  readonly allowed: number;
  /** status.currentHealthy. */
  readonly healthy: number;
  /** The number of pods that have to stay healthy. */
  readonly desired: number;
  /** status.expectedPods: the pods that the budget counts. */
  readonly expected: number;
  /** True when its numbers are those of its latest specification. */
  readonly upToDate: boolean;
  /** Pods that are not ready may always go. */
  readonly alwaysEvictUnhealthy: boolean;
  /** Why it allows nothing, in the words of its condition DisruptionAllowed; null: it gives none. */
  readonly refusal: { readonly reason: string; readonly message: string } | null;
  /** The number of evictions that it waits to see come about; left out: none. */
  readonly unconfirmed?: number;
  /** metadata.ownerReferences, whether they control it or not; left out: none. */
  readonly owners?: readonly Owner[];
  /** The programs that wrote its specification, as they call themselves; left out: unknown. */
  readonly writers?: readonly string[];
}

/** The API server lets a budget wait for no more evictions. */
const unconfirmedMax = 2000;

/** The groups of Kubernetes' own workloads: only people open the budgets of these. */
const ownGroups: readonly string[] = ['', 'apps', 'autoscaling', 'batch', 'extensions', 'policy'];

/**
 * The object of an operator that owns the budget (a database cluster, a virtual machine); null: there
 * is none. Such a budget is shut on purpose: its operator sees the pod's node go and moves the pod in
 * its own way, by a switchover or a live migration. Some do not mark themselves as its controller.
 */
export function operatorOf({ owners = [] }: Budget): Owner | null {
  return owners.find(isOperators) ?? null;
}

function isOperators({ apiVersion }: Owner): boolean {
  return !ownGroups.includes(apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/'))));
}

/** A sign that an operator stands behind a budget that no object of an operator owns. */
export interface OperatorSign {
  /** The controller of a pod that the budget holds; null: it belongs to no operator. */
  readonly controller: Owner | null;
  /** A program that wrote the budget and is no tool of people; null: none did. */
  readonly writer: string | null;
}

/** Names of the tools with which people write objects. */
const toolsOfPeople =
  /^(argo-?cd|before-first-apply|curl|flux|headlamp|helm|k9s|kubectl|kustomize|lens|mozilla|pulumi|terraform|hashicorp|unknown)/i;

/**
 * Tells what speaks for an operator behind a budget that has no owner, as with Longhorn: to open
 * such a budget may cost the data that it guards. A program may choose any name for itself, so its
 * name never removes a doubt.
 */
export function operatorSignOf(budget: Budget, pods: readonly Pod[]): OperatorSign | null {
  if (operatorOf(budget)) return null;
  const controllers = pods.flatMap(({ owner }) => (owner && isOperators(owner) ? [owner] : []));
  const [controller = null] = controllers;
  const writer = budget.writers?.find((name) => !toolsOfPeople.test(name)) ?? null;
  return controller || writer !== null ? { controller, writer } : null;
}

/** The budgets whose selectors match the pod. */
export function budgetsOver(
  { namespace, labels = {} }: Pod,
  budgets: readonly Budget[],
): readonly Budget[] {
  return budgets.filter(
    (budget) =>
      budget.namespace === namespace &&
      budget.selector !== null &&
      selects(budget.selector, labels),
  );
}

/**
 * True when the Eviction API asks budgets about a pod: not when the pod does not run yet, has
 * ended, or is on its way out.
 */
export function isUnderBudgets({ phase, deletionTimestamp }: Pod): boolean {
  return deletionTimestamp === null && !['Pending', 'Succeeded', 'Failed'].includes(phase);
}

/** True when a budget lets a pod go that is not ready, whatever its count of disruptions says. */
export function sparesUnready(budget: Budget, pod: Pod): boolean {
  if (pod.ready === 'True') return false;
  const { alwaysEvictUnhealthy, healthy, desired } = budget;
  return alwaysEvictUnhealthy || (healthy >= desired && desired > 0);
}

/** The budgets that have a say in an eviction of the pod now, whether they allow the eviction or not. */
export function budgetsAsked(pod: Pod, budgets: readonly Budget[]): readonly Budget[] {
  if (!isUnderBudgets(pod)) return [];
  return budgetsOver(pod, budgets).filter((budget) => !sparesUnready(budget, pod));
}

/** True when a pod is held back only because its budget does not let unready pods go. */
export function isHeldUnready(budget: Budget, pod: Pod): boolean {
  const { upToDate, alwaysEvictUnhealthy } = budget;
  return upToDate && pod.ready !== 'True' && !alwaysEvictUnhealthy && !sparesUnready(budget, pod);
}

/** Why a budget would refuse an eviction now, in the API server's words; null: it would not. */
export function budgetRefusal(budget: Budget): string | null {
  const { name, upToDate, allowed, healthy, desired, refusal, unconfirmed = 0 } = budget;
  const subject = `The disruption budget ${name}`;
  if (!upToDate) return `${subject} is still being processed by the server.`;
  if (unconfirmed > unconfirmedMax) {
    return `${subject} waits for too many evictions to be confirmed by its controller`;
  }
  if (allowed > 0) return null;
  const notNow = `${subject} does not allow evicting pods currently`;
  if (refusal?.reason === 'SyncFailed' && refusal.message !== '') {
    return `${notNow} because it failed sync: ${refusal.message}`;
  }
  if (healthy <= desired) {
    return `${subject} needs ${desired} healthy pods and has ${healthy} currently`;
  }
  return refusal ? `${notNow} (${refusal.reason}): ${refusal.message}` : notNow;
}

/**
 * True when no pod could leave even if all of them were healthy: a person has to change something.
 */
export function isShut({ upToDate, allowed, desired, expected, refusal }: Budget): boolean {
  if (!upToDate || allowed > 0) return false;
  return refusal?.reason === 'SyncFailed' || desired >= expected;
}

// Makes room for a pod by removing less important ones.
import { conditionOf } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { labelSelectorRequirements, matchesLabels } from '../selectors/labels.ts';
import { availableText, type Failure } from './failure.ts';
import type { Filter } from './filter.ts';
import type { Place } from './place.ts';
import { type Placement, shift } from './placement.ts';
import type { SchedulingPod } from './scheduling-pod.ts';

/** A node on which a pod fits when these are gone. */
interface Candidate {
  readonly place: Place;
  /** The most important first. */
  readonly victims: readonly SchedulingPod[];
  /** The number of victims that break a budget. */
  readonly broken: number;
}

/** The result of the search for room. */
export type Preemption =
  | { readonly place: Place; readonly victims: readonly SchedulingPod[]; readonly text: null }
  /** `isRefused`: the pod may not look for room now, and its earlier message still holds. */
  | { readonly place: null; readonly text: string; readonly isRefused: boolean };

/** Budgets, as far as they can still be drawn on. */
interface Budget {
  readonly namespace: string;
  readonly protects: (pod: SchedulingPod) => boolean;
  left: number;
}

/** The message for nodes where no removal makes room. */
export const notHelpful = 'Preemption is not helpful for scheduling';
const noVictims = 'No preemption victims found for incoming pod';
/** The number of candidates that suffice, unless a tenth of the nodes is more. */
const candidatesMin = 100;

/** The deletion of a pod that another one has preempted. */
function isPreempted({ pod, isEnding }: SchedulingPod): boolean {
  const target = conditionOf(pod, 'DisruptionTarget');
  return isEnding && target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}

/**
 * Looks for the node where a pod costs the least. `begin`: drawn from [0, 1), where the search begins, which
 * matters where there are more candidates than are compared.
 */
export function preempt(
  placement: Placement,
  pod: SchedulingPod,
  failure: Failure,
  { budgets, begin }: { readonly budgets: readonly KubeObject[]; readonly begin: number },
): Preemption {
  const refusal = refusalOf(placement, pod, failure);
  if (refusal !== null) return { place: null, text: refusal, isRefused: true };
  const reasons = new Map<string, number>();
  const say = (texts: readonly string[], count = 1): void => {
    for (const text of texts) reasons.set(text, (reasons.get(text) ?? 0) + count);
  };
  const open = [...failure.rejections].filter(([, { isFinal }]) => !isFinal);
  if (open.length < failure.nodes) say([notHelpful], failure.nodes - open.length);
  const candidates: Candidate[] = [];
  const isHopeless = !placement.pool.hasBelow(pod.priority);
  if (isHopeless && open.length > 0) say([noVictims], open.length);
  const searched = isHopeless ? [] : open;
  const first = Math.floor(begin * searched.length);
  const enough = Math.max(candidatesMin, Math.floor(searched.length / 10));
  for (let step = 0; step < searched.length && candidates.length < enough; step++) {
    const [place] = searched[(first + step) % searched.length] ?? [];
    if (!place) continue;
    const found = victimsOn(placement, pod, place, { failure, budgets });
    if (Array.isArray(found)) say(found);
    else candidates.push(found as Candidate);
  }
  const best = cheapest(candidates);
  if (best) return { place: best.place, victims: best.victims, text: null };
  return { place: null, text: availableText(failure.nodes, reasons), isRefused: false };
}

/** Why a pod may not remove others; null: it may. */
function refusalOf(placement: Placement, pod: SchedulingPod, failure: Failure): string | null {
  if (pod.pod.spec.preemptionPolicy === 'Never')
    return 'not eligible due to preemptionPolicy=Never.';
  const place = placement.pool.place(pod.pod.status?.nominatedNodeName ?? '');
  if (!place || failure.rejections.get(place)?.isFinal) return null;
  for (const other of place.pods.values()) {
    if (other.priority < pod.priority && isPreempted(other))
      return 'not eligible due to a terminating pod on the nominated node.';
  }
  return null;
}

interface Searching {
  readonly failure: Failure;
  readonly budgets: readonly KubeObject[];
}

/**
 * The pods that have to leave a node: all of a lower priority are taken away, and as many as fit beside the
 * pod are put back, first those whose removal would break a budget. Else why that does not help.
 */
function victimsOn(
  placement: Placement,
  pod: SchedulingPod,
  place: Place,
  { failure: { filters }, budgets }: Searching,
): Candidate | readonly string[] {
  const lower = [...place.pods.values()].filter(({ priority }) => priority < pod.priority);
  if (lower.length === 0) return [noVictims];
  const inOrder = [...place.pods.values()];
  for (const other of lower) shift(filters, other, place, -1);
  const gone = new Set(lower);
  const rejection = placement.rejection(filters, pod, place);
  const victims: SchedulingPod[] = [];
  const [breaking, others] = byBudgets(byImportance(lower), budgets);
  let broken = 0;
  if (!rejection) {
    for (const other of [...breaking, ...others]) {
      if (putBack(placement, pod, place, filters, other)) gone.delete(other);
      else victims.push(other);
    }
    broken = victims.filter((victim) => breaking.includes(victim)).length;
  }
  for (const other of gone) shift(filters, other, place, 1);
  restoreOrder(place, inOrder);
  if (rejection) return rejection.reasons;
  return { place, victims: byImportance(victims), broken };
}

/** Puts a victim back if there is room for both; true if there is. */
function putBack(
  placement: Placement,
  pod: SchedulingPod,
  place: Place,
  filters: readonly Filter[],
  other: SchedulingPod,
): boolean {
  shift(filters, other, place, 1);
  if (!placement.rejection(filters, pod, place)) return true;
  shift(filters, other, place, -1);
  return false;
}

/** Undoes the trial's changes of the order, so that the next trial finds the same. */
function restoreOrder({ pods }: Place, inOrder: readonly SchedulingPod[]): void {
  pods.clear();
  for (const pod of inOrder) pods.set(pod.key, pod);
}

/** Higher priorities first, then those that started earlier. */
function byImportance(pods: readonly SchedulingPod[]): readonly SchedulingPod[] {
  return pods
    .map((pod) => ({ pod, start: startOf(pod) }))
    .sort((one, other) => other.pod.priority - one.pod.priority || one.start - other.start)
    .map(({ pod }) => pod);
}

/** A pod that has not started counts as one that starts now, the least important. */
function startOf({ pod }: Readonly<SchedulingPod>): number {
  const started = Date.parse(pod.status?.startTime ?? '');
  return Number.isNaN(started) ? lastInstant : started;
}

const lastInstant = 8.64e15;

/**
 * The pods whose removal breaks a budget, and the others: each takes one from every budget that
 * selects it. A budget without any requirement protects nothing here, unlike in evictions.
 */
function byBudgets(
  pods: readonly SchedulingPod[],
  given: readonly KubeObject[],
): readonly [breaking: readonly SchedulingPod[], others: readonly SchedulingPod[]] {
  const budgets = given.flatMap((budget) => budgetOf(budget) ?? []);
  const breaking = new Set<SchedulingPod>();
  for (const pod of budgets.length === 0 ? [] : pods) {
    for (const budget of budgets) {
      if (budget.namespace !== pod.namespace || !budget.protects(pod)) continue;
      budget.left--;
      if (budget.left < 0) breaking.add(pod);
    }
  }
  return [pods.filter((pod) => breaking.has(pod)), pods.filter((pod) => !breaking.has(pod))];
}

function budgetOf({ metadata, spec, status }: KubeObject): Budget | null {
  const requirements = labelSelectorRequirements(spec?.selector);
  if (!requirements || requirements.length === 0) return null;
  const disrupted: object = status?.disruptedPods ?? {};
  return {
    namespace: metadata.namespace ?? '',
    left: status?.disruptionsAllowed ?? 0,
    protects: ({ pod, labels }) =>
      Object.keys(labels).length > 0 &&
      matchesLabels(requirements, labels) &&
      !Object.hasOwn(disrupted, pod.metadata.name),
  };
}

/** The costs of a candidate, lowest first; each further measure decides among equal ones. */
const costs: readonly ((candidate: Candidate) => number)[] = [
  ({ broken }) => broken,
  ({ victims }) => victims[0]?.priority ?? Number.NEGATIVE_INFINITY,
  // Any pod counts, whatever its priority is.
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ victims }) => victims.length,
  // The later the earliest of the most important ones has started, the less is lost.
  ({ victims }) => -startOf(victims[0] as SchedulingPod),
];

function cheapest(candidates: readonly Candidate[]): Candidate | null {
  let left = candidates;
  for (const cost of costs) {
    if (left.length < 2) break;
    const least = left.reduce((min, one) => Math.min(min, cost(one)), Number.POSITIVE_INFINITY);
    left = left.filter((one) => cost(one) === least);
  }
  return left[0] ?? null;
}

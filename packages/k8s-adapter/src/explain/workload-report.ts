// The fate of the pods of a workload, a disruption budget or a namespace, as data.
import { type Budget, budgetsOver, isShut } from '@taintmgr/core/drain';
import type { ForecastSurvey } from '../survey/survey.ts';
import type { Workload } from '../survey/workloads.ts';
import { groupBy } from '../text/count.ts';
import {
  byTimeLeftAndName,
  hasEnded,
  isBare,
  type NodeReport,
  type PodReport,
  podsIn,
  type Report,
  type Tally,
  tally,
} from './report.ts';
import { nextLines } from './successors.ts';

/** Everything to be said about a workload. */
export interface WorkloadReport {
  readonly workload: Workload;
  readonly nodes: readonly NodeReport[];
  /** Next to go first; without those that have ended. */
  readonly pods: readonly PodReport[];
  /** The number of pods that have ended. */
  readonly ended: number;
  readonly tally: Tally;
  /** The number of pods that the workload asks for; null: unknown. */
  readonly wanted: number | null;
  readonly ready: number;
  /**
   * The number of pods still ready if all that may leave at once do and nothing has come in their
   * place. Budgets count that are asked for as long as it takes.
   */
  readonly readyAtLeast: number;
  /** The budgets over its pods; null: we may not read them. */
  readonly budgets: readonly BudgetReport[] | null;
  /** The effects once pods have left, one line each. */
  readonly next: readonly string[];
}

/** The effect of a budget on the pods of a workload. */
export interface BudgetReport {
  readonly budget: Budget;
  /** Its pods that have to leave. */
  readonly leaving: readonly PodReport[];
  /** Pods among these about which it is not asked. */
  readonly unasked: readonly PodReport[];
  /** Pods among these that it refuses as of now. */
  readonly refused: readonly PodReport[];
  /** True: the budget lets no pod go even if all of them are healthy. */
  readonly isShut: boolean;
  /** Other budgets over the same pods: the Eviction API refuses such pods. */
  readonly overlaps: readonly string[];
}

/** Puts together the statements about the pods of a workload. */
export function workloadReport(
  { workload, budgets }: ForecastSurvey,
  report: Report,
): WorkloadReport {
  if (!workload) throw new Error('no workload was read');
  const all = podsIn(report);
  const pods = all.filter(({ facts }) => !hasEnded(facts.pod)).sort(byTimeLeftAndName);
  const leaving = pods.filter(isLeaving);
  return {
    workload,
    nodes: report.nodes,
    pods,
    ended: all.length - pods.length,
    tally: tally(pods),
    wanted: wantedOf(workload),
    ready: pods.filter(isReady).length,
    readyAtLeast: pods.filter(isReady).length - mostAtOnce(leaving.filter(isReady), budgets ?? []),
    budgets: budgets && budgetReports(workload, budgets, pods),
    next: workload.object?.metadata.deletionTimestamp
      ? ['it is being deleted: pods that leave are not replaced']
      : nextLines(workload, leaving),
  };
}

/** True: the pod counts as healthy for budgets. */
export function isReady({ facts: { pod } }: PodReport): boolean {
  return pod.ready === 'True' && pod.deletionTimestamp === null;
}

/** True: the pod will be evicted and does not terminate already. */
export function isLeaving({ facts, explanation }: PodReport): boolean {
  return facts.pod.deletionTimestamp === null && explanation.decision.kind !== 'keep';
}

/** The number of these pods that may be gone at the same time. */
function mostAtOnce(leaving: readonly PodReport[], budgets: readonly Budget[]): number {
  const free = leaving.filter((pod) => !waitsForBudgets(pod));
  const bound = new Map<Budget, number>();
  for (const pod of leaving.filter(waitsForBudgets)) {
    const [budget, another] = budgetsOver(pod.facts.pod, budgets);
    // The Eviction API lets none go that is under two.
    if (budget && !another) bound.set(budget, (bound.get(budget) ?? 0) + 1);
    else if (!budget) free.push(pod);
  }
  const allowed = [...bound].map(([budget, pods]) => Math.min(pods, budget.allowed));
  return allowed.reduce((sum, pods) => sum + pods, free.length);
}

/** True: the pod goes only when its budgets let it, however long that takes. */
function waitsForBudgets({ asksBudgets, evictor, explanation, deletedAt }: PodReport): boolean {
  const isSure = asksBudgets && evictor !== null && deletedAt === null;
  return isSure && explanation.budgets.kind !== 'deleteAfter';
}

/** A Deployment without replicas has one. */
function wantedOf({ kind, object }: Workload): number | null {
  const { replicas = 1, parallelism = 1 } = object?.spec ?? {};
  switch (kind) {
    case 'Deployment':
    case 'StatefulSet':
    case 'ReplicaSet':
      return replicas;
    case 'Job':
      return object?.status?.completionTime === undefined ? parallelism : 0;
    default:
      return null;
  }
}

function budgetReports(
  { kind, name }: Workload,
  budgets: readonly Budget[],
  pods: readonly PodReport[],
): readonly BudgetReport[] {
  const covers = pods.flatMap((pod) => {
    const mine = budgetsOver(pod.facts.pod, budgets);
    return mine.map((budget) => ({ budget, pod, others: mine.filter((one) => one !== budget) }));
  });
  return [...groupBy(covers, ({ budget }) => budget)].flatMap(([budget, covered]) => {
    if (kind === 'PodDisruptionBudget' && budget.name !== name) return [];
    const leaving = covered.map(({ pod }) => pod).filter(isLeaving);
    const overlaps = covered.flatMap(({ others }) => others.map((other) => other.name));
    const isRefused = ({ blockers }: PodReport): boolean =>
      blockers.some((blocker) => blocker.budgets.some((one) => one.name === budget.name));
    return {
      budget,
      leaving,
      unasked: leaving.filter(({ asksBudgets }) => !asksBudgets),
      refused: leaving.filter(isRefused),
      isShut: isShut(budget),
      overlaps: [...new Set(overlaps)].sort(),
    };
  });
}

/** A workload of a namespace. */
export interface WorkloadRow {
  /** `Deployment/web`; a pod without an owner stands for itself. */
  readonly owner: string;
  /** The pods of the workload. */
  readonly pods: readonly PodReport[];
  /** The number of ready pods. */
  readonly ready: number;
  /** The numbers of its pods by their fate. */
  readonly tally: Tally;
}

/** The workloads of a namespace that have pods, next to lose one first. */
export function workloadRows({ workload, pods }: WorkloadReport): readonly WorkloadRow[] {
  const byOwner = groupBy(pods, (pod) => ownerOf(workload, pod));
  return [...byOwner].map(([owner, own]) => {
    return { owner, pods: own, ready: own.filter(isReady).length, tally: tally(own) };
  });
}

function ownerOf({ controllers }: Workload, { facts: { pod } }: PodReport): string {
  const { owner } = pod;
  if (!owner || isBare(pod) || pod.mirror) return `Pod/${pod.name}`;
  const above = owner.kind === 'ReplicaSet' ? controllers.get(owner.name) : undefined;
  const { kind, name } = above ?? owner;
  return `${kind}/${name}`;
}

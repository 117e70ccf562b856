// The answer of `simulate --each`, as JSON and for its page: each part of the cluster is lost in turn, in a
// separate copy. Times are seconds of the simulated cluster.
import type {
  BudgetSummary,
  FailIfOutcome,
  JobSummary,
  MadeBy,
  Named,
  Summary,
  WhatIfOrigin,
  WorkloadSummary,
} from './simulation.ts';
import type { WhatIf } from './what-if.ts';

/** An event of the form of what-if: the way a part is lost. */
export type LostBy = 'down' | 'cut-off' | 'drain' | 'taint';

/** The answer of `simulate --each` as json and yaml have it, and the page. */
export interface EachDocument {
  readonly apiVersion: string;
  readonly kind: 'LossSimulation';
  /** The files or the cluster it was played in. */
  readonly source: string;
  /** `node`, `zone`, or the key of a label of nodes: the kind of part that is lost. */
  readonly each: string;
  readonly by: LostBy;
  readonly seed: number;
  /** The number of seeds played, from `seed` on: figures are medians. Left out: one. */
  readonly seeds?: number;
  /** The only instant of the calendar: where seconds count from. */
  readonly startsAt: string;
  readonly untilSeconds: number;
  /** The controller that evicts in each copy. */
  readonly rules: 'kube-controller-manager' | 'taintmgr';
  /** The flags by which kube-controller-manager was played; left out: it was not. */
  readonly managerFlags?: string;
  /** True if the whole cluster could be taken; `missing` names the parts that could not. */
  readonly complete: boolean;
  readonly missing: readonly string[];
  readonly notes: readonly string[];
  /** As typed in a shell, what plays one loss alone once ` --event` and its `event` follow: `kubectl taintmgr simulate -f a.json --until 30m`. */
  readonly command: string;
  /** The names of losses that were not played, as it was stopped before. */
  readonly unplayed: readonly string[];
  /** The losses that were played, the worst first. */
  readonly losses: readonly Loss[];
}

/** A part of the cluster was lost: what came of it. */
export interface Loss {
  /** `node-1`, `eu/eu-a`, or the value of the label. */
  readonly name: string;
  /** For a loss by a taint: `key=value:NoExecute`. */
  readonly taint?: string;
  /** The event that plays it alone, as a script has it: `{at: 1m, stopKubelet: {node: node-1}}`. */
  readonly event: string;
  /** The names of the nodes that are lost. */
  readonly nodes: readonly string[];
  /** The number of pods on the nodes at the beginning. */
  readonly pods: number;
  /** The reason why it could not be played, and its figures are 0; null: it was. */
  readonly failed: string | null;
  readonly evictions: number;
  /** Of all workloads: one pod that is down for a minute is one. */
  readonly podMinutesLost: number;
  /** Pods that fitted on no node, beyond those that do so without the loss: all of them, the most at once, those at the end. */
  readonly unplaced: Summary['unplaced'];
  /** Evictions that budgets refused, every attempt counted. */
  readonly refusals: number;
  /** Pods on its nodes at the end that a budget keeps from leaving, where it is drained. */
  readonly blocked: number;
  /** Only the harmed workloads, the worst first. */
  readonly workloads: readonly LossWorkload[];
  /** Only the budgets that were broken or refused an eviction. */
  readonly budgets: readonly LossBudget[];
  /** Only the Jobs that lost pods or ended otherwise. Left out: none. */
  readonly jobs?: readonly JobSummary[];
  /** The limits of --fail-if; left out: there are none. */
  readonly limits?: readonly FailIfOutcome[];
}

/** A budget that was broken or refused evictions. */
export interface LossBudget extends BudgetSummary {
  /** Pods that it keeps on the lost nodes at the end. Left out: none. */
  readonly blocked?: number;
}

/** The harm to a workload. */
export interface LossWorkload
  extends Named,
    Pick<
      WorkloadSummary,
      'kind' | 'unknown' | 'wanted' | 'downMax' | 'downWorstWanted' | 'downSeconds'
    >,
    Pick<WorkloadSummary, 'outageSeconds' | 'podMinutesLost' | 'downAtEnd' | 'evictions'> {
  /** Pods of it that fit on no node at the end. */
  readonly unplacedAtEnd: number;
}

/** All that the page of it knows. */
export interface EachPageInput extends EachDocument {
  /** Left out: nothing is known of it. */
  readonly made?: MadeBy;
  /** Left out: it was not asked for on a page. */
  readonly asked?: WhatIfOrigin & { readonly question: WhatIf };
}

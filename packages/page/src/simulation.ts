// The simulation as its JSON says it, and as the page shows it. All times are seconds after `startsAt`, with
// thousandths; null stands for what does not end or never was.

/** A state, from that second after the beginning until the next. */
export type Step<State> = State & { readonly at: number };

/** Something, identified by its `Id`, and the states that it went through. */
export type Timeline<Id, State> = Id & { readonly states: readonly Step<State>[] };

export interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** A pod that is identified by its workload too. */
interface Pod {
  readonly namespace: string;
  readonly pod: string;
  /** `Deployment shop/web`; null: none that is counted. */
  readonly workload: string | null;
}

export interface PodOnNode extends Pod {
  readonly node: string;
}

/** A reason, as the panel of a pod shows it. */
export interface RecordedReason {
  /** As in `explain`: NoToleration, TolerationExpires. */
  readonly code: string;
  readonly text: string;
  /** `key=value:effect`; null: it is for no taint. */
  readonly taint: string | null;
  /** The toleration that counts; null: the pod has none. */
  readonly toleration: string | null;
  /** The time of the toleration; null: for good, or there is none. */
  readonly tolerationSeconds: number | null;
  /** The policy that decides; null: none does. */
  readonly policy: string | null;
}

/** A zone, `region/zone` or '' for nodes that name neither, as everybody sees it. */
export type ZoneSeen = Timeline<
  { readonly name: string },
  {
    readonly state: string;
    /** The reason why no node is tainted for the time being; null: nothing holds them. */
    readonly held: string | null;
  }
>;

/** The same as the controller of a simulation counts it. */
export type ZoneTrack = Timeline<
  { readonly name: string },
  ZoneSeen['states'][number] & {
    readonly ready: number;
    readonly notReady: number;
    /** Nodes tainted a second, at most. */
    readonly rate: number;
  }
>;

/** A node and how it was doing. */
export type NodeSeen = Timeline<
  {
    readonly name: string;
    /** `region/zone`, or the known part of it. */
    readonly zone: string;
  },
  {
    readonly ready: 'True' | 'False' | 'Unknown' | 'Gone';
    readonly cordoned: boolean;
    /** `key=value:effect` */
    readonly taints: readonly string[];
  }
>;

export type NodeTrack = NodeSeen & {
  /** Pods bound to it that have not ended. */
  readonly pods: readonly Step<{ readonly count: number }>[];
};

interface WorkloadId extends Named {
  readonly kind: string;
}

/** A workload: how many pods it wants, and how many are there and ready. */
export type WorkloadTrack = Timeline<
  WorkloadId,
  { readonly wanted: number; readonly ready: number }
> & {
  /** The number of pods that really serve: the ready ones, without those on dead machines. */
  readonly serving: readonly Step<{ readonly pods: number }>[];
};

/** A disruption budget: the pods that it needs and has. */
export type BudgetTrack = Timeline<
  Named & {
    /** The workloads of the pods that it selects, as `Deployment shop/web`. */
    readonly workloads: readonly string[];
  },
  { readonly healthy: number; readonly desired: number }
>;

/** A Job that had not ended at the beginning. */
export type JobTrack = Timeline<
  Named & { readonly pods: readonly { readonly pod: string; readonly from: number }[] },
  {
    /** Pods that run, and pods that were counted so far. */
    readonly active: number;
    readonly succeeded: number;
    readonly failed: number;
    /** `Complete`, or `Failed` and the reason: `Failed: BackoffLimitExceeded`; null: it still runs. */
    readonly end: string | null;
  }
>;

/** A pod on a node. */
export interface PodTrack extends PodOnNode {
  /** The time when it was bound; 0: it existed at the beginning. */
  readonly from: number;
  /** The time when it was gone; null: it exists at the end. */
  readonly until: number | null;
  readonly states: readonly Step<{
    /** `down`: it served, and is on a machine that is dead or not ready any more. */
    readonly state: 'starting' | 'serving' | 'down' | 'stopping';
  }>[];
}

/** A manifest that was laid over the cluster. */
export interface AppliedObject extends Named {
  readonly file: string;
  /** Of its name, or of where it begins. */
  readonly line: number;
  readonly kind: string;
  readonly change: 'created' | 'changed' | 'unchanged';
  /** `spec.replicas 3 -> 1`; none of one that is created. */
  readonly fields: readonly string[];
}

/** The start of a run, where manifests are laid over the cluster. */
export interface Rollout {
  /** The time until the cluster with the manifests is at rest; the same in a run without them. */
  readonly seconds: number;
  /** The workloads that did not settle, as `Deployment shop/web`, and why. */
  readonly unfinished: readonly { readonly workload: string; readonly text: string }[];
  /** The budgets that allow no eviction though all their pods are well. */
  readonly closedBudgets: readonly (Named & { readonly pods: number })[];
}

/** The time a pod was given, and how that ended. */
export interface DeadlineSeen extends PodOnNode {
  readonly setAt: number;
  readonly dueAt: number;
  /** The time when it ended; null: it still runs. */
  readonly endedAt: number | null;
  /** Of a live cluster: `running`, until `endedAt` at the earliest. */
  readonly end: 'evicted' | 'moved' | 'cancelled' | 'pending' | 'running';
  readonly because: readonly string[];
}

export interface DeadlineTrack extends DeadlineSeen {
  readonly end: Exclude<DeadlineSeen['end'], 'running'>;
  /** The same as data. */
  readonly reasons: readonly RecordedReason[];
}

/** A pod that was removed. */
export interface EvictionSeen extends PodOnNode {
  readonly at: number;
  /**
   * By a delete, by the eviction API, or because its node ran out of a resource; of a live cluster: `seen`,
   * as it is gone.
   */
  readonly how: 'delete' | 'evict' | 'pressure' | 'seen';
  readonly because: readonly string[];
  /** The same as data; left out for pressure on the node. */
  readonly reasons?: readonly RecordedReason[];
  /** Of a live cluster: what history knows of it. */
  readonly story?: PodStory;
}

/** The story of a pod that left a live cluster, in the words of `history pod`. */
export interface PodStory {
  readonly evictedBy: string;
  /** The reason of the eviction, such as a taint; '': unknown. */
  readonly reason: string;
  /** The pod that came in its place, and after how long; '': nothing is known of it. */
  readonly replacedBy: string;
  /** The sources of the facts. */
  readonly sources: readonly string[];
  /** All of it, line by line. */
  readonly lines: readonly string[];
}

export interface EvictionTrack extends EvictionSeen {
  readonly how: Exclude<EvictionSeen['how'], 'seen'>;
  /** The time when it was bound to the node; 0: it existed at the beginning. */
  readonly arrivedAt: number;
  readonly reasons: readonly RecordedReason[];
}

/** A pod that was held back. */
export interface HoldTrack extends PodOnNode {
  /** Of a simulation: `limit` or `pause`. */
  readonly kind: string;
  /** As `status` and `resume` name it: `zone=r/a policy=all`, or the name of a pause. */
  readonly name: string;
  readonly from: number;
  /** Null: to the end. */
  readonly until: number | null;
  readonly text: string;
}

/** Evictions of a pod that a disruption budget refused, one after the other. */
export interface RefusalTrack extends PodOnNode {
  /** `shop/web` */
  readonly budget: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  readonly message: string;
}

/** An attempt that failed otherwise. */
export interface FailureTrack extends PodOnNode {
  readonly at: number;
  readonly message: string;
}

/** The time in which a pod fitted on no node. */
export interface UnplacedTrack extends Pod {
  readonly from: number;
  /** Null: to the end. */
  readonly until: number | null;
  readonly message: string;
}

/** All that happened in a run. */
export interface Recording {
  readonly zones: readonly ZoneTrack[];
  readonly nodes: readonly NodeTrack[];
  readonly workloads: readonly WorkloadTrack[];
  readonly budgets: readonly BudgetTrack[];
  readonly jobs: readonly JobTrack[];
  /** Every pod on every node on which it was. */
  readonly pods: readonly PodTrack[];
  readonly deadlines: readonly DeadlineTrack[];
  readonly evictions: readonly EvictionTrack[];
  readonly holds: readonly (HoldTrack & {
    readonly kind: 'limit' | 'pause';
    /** True for a limit that has tripped: it stays shut until it is resumed. */
    readonly tripped: boolean;
  })[];
  readonly refusals: readonly RefusalTrack[];
  readonly failures: readonly FailureTrack[];
  readonly unplaced: readonly UnplacedTrack[];
}

/** The harm to the users of the pods; Kubernetes may have noticed less of it, and later. */
export interface Downtime {
  /** The most pods that were down at once. */
  readonly downMax: number;
  /** The largest share that was down, in percent of what was wanted then. */
  readonly downPercentMax: number;
  /** The time when the most were down; null: none ever were. */
  readonly downWorstAt: number | null;
  /** The number of pods that were wanted then; 0: none were ever down. */
  readonly downWorstWanted: number;
  /** The total time in which some pod was down. */
  readonly downSeconds: number;
  /** The total time in which all were down. */
  readonly outageSeconds: number;
  /** The loss: one pod that is down for a minute is one. */
  readonly podMinutesLost: number;
  /** The longest time without a break in which some pod was down; null: there was none. */
  readonly longestGap: { readonly from: number; readonly seconds: number } | null;
  /** The time since which all were back; null: none was down, or some are at the end. */
  readonly overAt: number | null;
  /** The number of pods that are down at the end. */
  readonly downAtEnd: number;
}

/** The harm to a workload: its real downtime, and the part that Kubernetes had noticed. */
export interface WorkloadSummary extends WorkloadId, Downtime {
  /** Pods it wanted at the end. */
  readonly wanted: number;
  /** The most pods that Kubernetes counted as missing at once. */
  readonly unavailableMax: number;
  /** The largest share of them, in percent of what was wanted then. */
  readonly unavailablePercentMax: number;
  /** When those were the most; null: never any. */
  readonly worstAt: number | null;
  /** The total time in which there were some. */
  readonly unavailableSeconds: number;
  readonly evictions: number;
  /** The unsimulated parts that decide about it: its figures may be wrong. Left out: nothing. */
  readonly unknown?: readonly string[];
}

/** The effects on a disruption budget. */
export interface BudgetSummary extends Named {
  /** Evictions that it refused, every attempt counted. */
  readonly refusals: number;
  /** The total time in which fewer pods were healthy than it asks for. */
  readonly belowSeconds: number;
  /** The number of missing pods, at most. */
  readonly belowMax: number;
}

/** The end of a Job that had not ended at the beginning. */
export interface JobSummary extends Named {
  readonly evictions: number;
  /** Pods that were made during the run. */
  readonly newPods: number;
  /** Pods whose failure counted during the run. */
  readonly failures: number;
  /** `Complete`, or `Failed` and the reason: `Failed: BackoffLimitExceeded`; null: it still runs. */
  readonly end: string | null;
  /** When that was decided. */
  readonly endedAt: number | null;
}

/** The reason why an eviction or a new pod took longer than planned, for the pods of one workload. */
export interface Cause {
  readonly kind: 'limit' | 'pause' | 'zone' | 'budget' | 'room' | 'failure';
  /** The limit, pause, zone or budget; '' for room and failures. */
  readonly name: string;
  /** `Deployment shop/web`; null: pods of none that is counted, or a whole zone. */
  readonly workload: string | null;
  readonly pods: number;
  readonly from: number;
  /** Null: to the end. */
  readonly until: number | null;
  /** The last that was said of it. */
  readonly text: string;
}

/** Pods that were evicted from a node, came back to it, and were evicted again for the same reason. */
export interface EvictionLoop {
  readonly namespace: string;
  /** `db-0`: a pod that comes back under its name; else `Deployment shop/web`. */
  readonly name: string;
  readonly node: string;
  readonly evictions: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The reasons, which are the same each time. */
  readonly because: readonly string[];
}

/** Sums over workloads. */
export interface Totals {
  /** Workloads of which a pod was down or evicted. */
  readonly workloads: number;
  /** The most pods that were down at once. */
  readonly downMax: number;
  readonly podMinutesLost: number;
  /** Of pods of Jobs, and of pods without an owner, too. */
  readonly evictions: number;
  /** Pods that fitted on no node. */
  readonly unplaced: number;
}

/** The same for one namespace or zone. */
export interface PlaceTotals extends Totals {
  readonly name: string;
}

/** The summary of a run. */
export interface Summary {
  readonly totals: Totals;
  readonly namespaces: readonly PlaceTotals[];
  /** By where pods were when they were lost; '': nodes that name no zone, and pods that were nowhere before. */
  readonly zones: readonly PlaceTotals[];
  readonly evictions: number;
  /** Pods that came back to where they were evicted from, again and again. */
  readonly loops: readonly EvictionLoop[];
  /** The causes that kept pods from leaving, or from being replaced. */
  readonly causes: readonly Cause[];
  /** Evictions that failed otherwise than by a budget. */
  readonly failures: number;
  readonly refusals: number;
  /** Nodes that had a NoExecute taint they did not begin with. */
  readonly nodesTainted: number;
  /** Pods that fitted on no node: all of them, the most at once, those at the end. */
  readonly unplaced: { readonly pods: number; readonly atOnceMax: number; readonly atEnd: number };
  readonly workloads: readonly WorkloadSummary[];
  readonly budgets: readonly BudgetSummary[];
  readonly jobs: readonly JobSummary[];
}

/** The differences of another run from the first one; objects in one run only are left out. */
export interface Differences {
  readonly totals: Totals;
  readonly evictions: number;
  readonly refusals: number;
  readonly nodesTainted: number;
  readonly workloads: readonly (WorkloadId &
    Record<
      'downMax' | 'downPercentMax' | 'downSeconds' | 'outageSeconds' | 'podMinutesLost',
      number
    > &
    Record<'unavailableMax' | 'unavailableSeconds' | 'evictions' | 'longestGapSeconds', number>)[];
  readonly budgets: readonly (Named & Record<'refusals' | 'belowSeconds' | 'belowMax', number>)[];
}

/** Something of the script that was done. */
export interface PlayedEvent {
  readonly at: number;
  readonly text: string;
  /** The line of the script. */
  readonly line: number;
}

/** A variant: its summary, then all its events. */
export interface RunDocument extends Recording {
  readonly name: string;
  /** The rules that are played. */
  readonly semantics: 'taintmgr' | 'kube-controller-manager';
  readonly summary: Summary;
  /** Of several seeds, where nine in ten of them lie; left out: one seed was played. */
  readonly bands?: {
    readonly workloads: readonly (WorkloadId &
      Record<
        'downMax' | 'downSeconds' | 'longestGapSeconds' | 'podMinutesLost' | 'evictions',
        { readonly least: number; readonly most: number }
      >)[];
  };
  /**
   * Its differences from the first run; 0 where several seeds differ as much by chance. Null: it is the
   * first.
   */
  readonly differences: Differences | null;
  readonly events: readonly PlayedEvent[];
  /** Left out: no manifests are laid over the cluster. */
  readonly rollout?: Rollout;
}

/** An assumed time, and its source: the first source that has one. */
export interface AssumedTime {
  readonly leastSeconds: number;
  readonly mostSeconds: number;
  readonly from: 'script' | 'annotation' | 'observed' | 'probes' | 'grace' | 'usual';
}

/** The assumptions about the pods of a workload. */
export interface Assumption {
  /** `Deployment shop/web` */
  readonly workload: string;
  readonly start: AssumedTime;
  readonly stop: AssumedTime;
}

/** The result of a condition of --fail-if. */
export interface FailIfOutcome {
  readonly limit: string;
  readonly exceeded: boolean;
  /** The reason why the result is unknown: an unsimulated part decides about it. Left out: it is known. */
  readonly unknown?: string;
  /** Of several seeds, with how many it was so; left out: one was played. */
  readonly exceededIn?: number;
  /** The values that decided it, in the order in which they were read. */
  readonly readings: readonly Reading[];
}

/** A measured value of a condition. */
export interface Reading {
  readonly metric: string;
  /** As it is written: `shop/*`. */
  readonly subject: string;
  /** The run it is of. */
  readonly variant: string;
  /** The most harmed workload: `shop/web`. */
  readonly worst: string;
  readonly value: number;
  readonly unit: 'number' | 'percent' | 'seconds';
}

/** The answer of `simulate` as json and yaml have it, and the page. */
export interface SimulationDocument {
  readonly apiVersion: string;
  readonly kind: 'Simulation';
  /** The file or cluster it was played in. */
  readonly source: string;
  /** The file of events, and the events of --event; left out: none. */
  readonly script?: string;
  /** The seed of the recorded and shown run. */
  readonly seed: number;
  /** The number of seeds that were played from it on: figures are medians. Left out: one. */
  readonly seeds?: number;
  /** The only instant of the calendar: where seconds count from. */
  readonly startsAt: string;
  readonly untilSeconds: number;
  /** True where the whole cluster could be read; `missing` names the rest. */
  readonly complete: boolean;
  readonly missing: readonly string[];
  readonly notes: readonly string[];
  /** The time that the pods of each workload were assumed to need, with its source. */
  readonly assumptions: readonly Assumption[];
  /** The flags by which kube-controller-manager was played; left out: it was not. */
  readonly managerFlags?: string;
  /** The manifests that are laid over the cluster in the run `after`; left out: none are. */
  readonly applied?: readonly AppliedObject[];
  /** The conditions of --fail-if, in their order. */
  readonly limits: readonly FailIfOutcome[];
  /** The variants in the order in which they were named. */
  readonly runs: readonly RunDocument[];
}

/** The place where a simulation was asked for. */
export interface WhatIfOrigin {
  /** The page of the cluster. */
  readonly address: string;
  /** The command that prints the same in a terminal. */
  readonly command: string;
}

/** By what a page was made. */
export interface MadeBy {
  /** As typed in a shell, what makes it again. */
  readonly command: string;
  readonly version: string;
}

/** All that the page of a simulation knows. */
export interface PageInput extends SimulationDocument {
  /** Left out: nothing is known of it. */
  readonly made?: MadeBy;
  /** Left out: it was not asked for on a page. */
  readonly asked?: WhatIfOrigin;
}

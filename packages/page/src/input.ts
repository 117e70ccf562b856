// What the page of a simulation shows: the simulation as its JSON says it.

interface Step {
  readonly at: number;
}

/** A reason as data, beside its text. */
export interface ReasonInput {
  /** `key=value:effect`; null: it is for no taint. */
  readonly taint: string | null;
  /** The toleration that counts; null: the pod has none. */
  readonly toleration: string | null;
  readonly tolerationSeconds: number | null;
  /** Null: no policy decides. */
  readonly policy: string | null;
}

/** A pod, and where it was. */
interface Pod {
  readonly namespace: string;
  readonly pod: string;
  /** `Deployment shop/web`; null: of none that is counted. */
  readonly workload: string | null;
}

export interface PodOnNode extends Pod {
  readonly node: string;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

export interface WorkloadInput extends Named {
  readonly kind: string;
  readonly states: readonly (Step & { readonly wanted: number; readonly ready: number })[];
  readonly serving: readonly (Step & { readonly pods: number })[];
}

export interface WorkloadTotals extends Named {
  readonly kind: string;
  readonly downMax: number;
  readonly downWorstAt: number | null;
  readonly downWorstWanted: number;
  readonly downSeconds: number;
  readonly podMinutesLost: number;
  readonly longestGap: { readonly from: number; readonly seconds: number } | null;
  readonly overAt: number | null;
  readonly unavailableSeconds: number;
  readonly evictions: number;
}

export interface NodeInput {
  readonly name: string;
  readonly zone: string;
  readonly states: readonly (Step & {
    readonly ready: 'True' | 'False' | 'Unknown' | 'Gone';
    readonly cordoned: boolean;
    readonly taints: readonly string[];
  })[];
}

export interface ZoneInput {
  readonly name: string;
  readonly states: readonly (Step & { readonly state: string; readonly held: string | null })[];
}

interface BudgetInput extends Named {
  /** Whose pods it selects, as `Deployment shop/web`. */
  readonly workloads: readonly string[];
  readonly states: readonly (Step & { readonly healthy: number; readonly desired: number })[];
}

export interface DeadlineInput extends PodOnNode {
  readonly setAt: number;
  readonly dueAt: number;
  readonly endedAt: number | null;
  /** Of a live cluster: `running`, until `endedAt` at the earliest. */
  readonly end: 'evicted' | 'moved' | 'cancelled' | 'pending' | 'running';
  readonly because: readonly string[];
}

export interface EvictionInput extends PodOnNode {
  readonly at: number;
  /** Of a live cluster: `seen`, as it is gone. */
  readonly how: 'delete' | 'evict' | 'pressure' | 'seen';
  readonly because: readonly string[];
  /** Of a live cluster: left out. */
  readonly reasons?: readonly ReasonInput[];
}

export interface HoldInput extends PodOnNode {
  readonly kind: string;
  readonly name: string;
  readonly from: number;
  readonly until: number | null;
  readonly text: string;
}

export interface RefusalInput extends PodOnNode {
  readonly budget: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  readonly message: string;
}

export interface FailureInput extends PodOnNode, Step {
  readonly message: string;
}

interface CauseInput {
  readonly kind: string;
  readonly name: string;
  readonly workload: string | null;
  readonly pods: number;
  readonly from: number;
  readonly until: number | null;
  readonly text: string;
}

/** One variant. Times are seconds after the beginning; null stands for what does not end. */
export interface RunInput {
  readonly name: string;
  /** Whose rules are played. */
  readonly semantics: 'precise' | 'upstream-1.36';
  readonly events: readonly (Step & { readonly text: string; readonly line: number })[];
  readonly workloads: readonly WorkloadInput[];
  readonly budgets: readonly BudgetInput[];
  readonly zones: readonly ZoneInput[];
  readonly nodes: readonly NodeInput[];
  readonly deadlines: readonly DeadlineInput[];
  readonly evictions: readonly EvictionInput[];
  readonly holds: readonly HoldInput[];
  readonly refusals: readonly RefusalInput[];
  /** Every pod on every node on which it was. */
  readonly pods: readonly PodOnNode[];
  readonly failures: readonly FailureInput[];
  readonly unplaced: readonly (Pod & {
    readonly from: number;
    readonly until: number | null;
    readonly message: string;
  })[];
  readonly summary: {
    readonly evictions: number;
    readonly refusals: number;
    readonly nodesTainted: number;
    readonly workloads: readonly WorkloadTotals[];
    readonly causes: readonly CauseInput[];
  };
}

interface AssumedTime {
  readonly leastSeconds: number;
  readonly mostSeconds: number;
  readonly from: string;
}

/** Where a simulation was asked for. */
export interface WhatIfOrigin {
  /** The page of the cluster. */
  readonly address: string;
  /** What prints the same in a terminal. */
  readonly command: string;
}

/** All that the page knows. */
export interface PageInput {
  readonly source: string;
  readonly script?: string;
  readonly seed: number;
  readonly startsAt: string;
  readonly untilSeconds: number;
  readonly missing: readonly string[];
  readonly notes: readonly string[];
  readonly assumptions: readonly {
    readonly workload: string;
    readonly start: AssumedTime;
    readonly stop: AssumedTime;
  }[];
  readonly limits: readonly { readonly limit: string; readonly exceeded: boolean }[];
  readonly runs: readonly RunInput[];
  /** Left out: it was not asked for on a page. */
  readonly asked?: WhatIfOrigin;
}

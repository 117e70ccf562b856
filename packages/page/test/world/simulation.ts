// A small simulation for tests of the page: what is not said is empty.
import type {
  DeadlineSeen,
  EvictionSeen,
  NodeSeen,
  PageInput,
  PodOnNode,
  RecordedReason,
  RunDocument,
  WorkloadSummary,
  ZoneSeen,
} from '../../src/simulation.ts';

export function totals(name: string, said: Partial<WorkloadSummary> = {}): WorkloadSummary {
  return {
    ...{
      kind: 'Deployment',
      namespace: 'shop',
      name,
      downMax: 0,
      downWorstAt: null,
      downWorstWanted: 3,
    },
    ...{ downSeconds: 0, podMinutesLost: 0, longestGap: null, overAt: null },
    ...{ unavailableSeconds: 0, unavailableMax: 0, unavailablePercentMax: 0, worstAt: null },
    ...{ wanted: 3, evictions: 0, outageSeconds: 0, downPercentMax: 0, downAtEnd: 0 },
    ...said,
  };
}

/** What the page reads of a run. */
type SaidRun = Partial<
  Omit<RunDocument, 'summary' | 'zones' | 'nodes' | 'pods' | 'deadlines' | 'evictions'>
> & {
  readonly zones?: readonly ZoneSeen[];
  readonly nodes?: readonly NodeSeen[];
  readonly pods?: readonly PodOnNode[];
  readonly deadlines?: readonly DeadlineSeen[];
  readonly evictions?: readonly EvictionSeen[];
  readonly summary?: readonly WorkloadSummary[];
};

/** As a panel shows it. */
export function reason(said: Partial<RecordedReason>): RecordedReason {
  const nothing = { taint: null, toleration: null, tolerationSeconds: null, policy: null };
  return { code: 'NoToleration', text: '', ...nothing, ...said };
}

export function run(said: SaidRun = {}): RunDocument {
  const { summary = [], ...rest } = said;
  const named = { name: 'precise', semantics: 'precise', differences: null, events: [] } as const;
  const places = { zones: [], nodes: [], workloads: [], budgets: [], jobs: [], pods: [] };
  const things = { deadlines: [], evictions: [], holds: [], refusals: [], failures: [] };
  const counts = { evictions: 0, refusals: 0, failures: 0, nodesTainted: 0 };
  const unplaced = { pods: 0, atOnceMax: 0, atEnd: 0 };
  return {
    ...{ ...named, ...places, ...things, unplaced: [] },
    ...rest,
    summary: {
      ...counts,
      unplaced,
      causes: [],
      loops: [],
      workloads: summary,
      budgets: [],
      jobs: [],
    },
  } as unknown as RunDocument;
}

/** An hour of it. */
export function simulation(...runs: readonly RunDocument[]): PageInput {
  return {
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'Simulation', complete: true },
    ...{ source: 'test', seed: 1, startsAt: '2026-01-01T00:00:00Z', untilSeconds: 3600 },
    ...{ missing: [], notes: [], assumptions: [], limits: [], runs },
  };
}

// A small simulation for tests of the page: what is not said is empty.
import type {
  DeadlineTrack,
  EvictionTrack,
  NodeSeen,
  PageInput,
  PodTrack,
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

type Filled<Track extends object, Fields extends keyof Track> = Omit<Track, Fields> &
  Partial<Pick<Track, Fields>>;

/** What the page reads of a run; fields of no account are filled in. */
type SaidRun = Partial<
  Omit<RunDocument, 'summary' | 'zones' | 'nodes' | 'pods' | 'deadlines' | 'evictions'>
> & {
  readonly zones?: readonly ZoneSeen[];
  readonly nodes?: readonly NodeSeen[];
  readonly pods?: readonly Filled<PodTrack, 'from' | 'until' | 'states'>[];
  readonly deadlines?: readonly Filled<DeadlineTrack, 'reasons'>[];
  readonly evictions?: readonly Filled<EvictionTrack, 'arrivedAt' | 'reasons'>[];
  readonly summary?: readonly WorkloadSummary[];
};

/** As a panel shows it. */
export function reason(said: Partial<RecordedReason>): RecordedReason {
  const nothing = { taint: null, toleration: null, tolerationSeconds: null, policy: null };
  return { code: 'NoToleration', text: '', ...nothing, ...said };
}

export function run(said: SaidRun = {}): RunDocument {
  const { summary = [], zones = [], nodes = [], pods = [], ...rest } = said;
  const { deadlines = [], evictions = [], ...others } = rest;
  const named = { name: 'taintmgr', semantics: 'taintmgr', differences: null, events: [] } as const;
  const things = { workloads: [], budgets: [], jobs: [], holds: [], refusals: [], failures: [] };
  const counts = { evictions: 0, refusals: 0, failures: 0, nodesTainted: 0 };
  const unplaced = { pods: 0, atOnceMax: 0, atEnd: 0 };
  const kept = { causes: [], loops: [], budgets: [], jobs: [], namespaces: [], zones: [] };
  const totals = { workloads: 0, downMax: 0, podMinutesLost: 0, evictions: 0, unplaced: 0 };
  return {
    ...{ ...named, ...things, unplaced: [] },
    zones: zones.map(({ states, ...zone }) => ({
      ...zone,
      states: states.map((state) => ({ ready: 0, notReady: 0, rate: 0, ...state })),
    })),
    nodes: nodes.map((node) => ({ pods: [], ...node })),
    pods: pods.map((pod) => ({ from: 0, until: null, states: [], ...pod })),
    deadlines: deadlines.map((deadline) => ({ reasons: [], ...deadline })),
    evictions: evictions.map((eviction) => ({ arrivedAt: 0, reasons: [], ...eviction })),
    ...others,
    summary: { ...counts, ...kept, totals, unplaced, workloads: summary },
  };
}

/** An hour of it. */
export function simulation(...runs: readonly RunDocument[]): PageInput {
  return {
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'Simulation', complete: true },
    ...{ source: 'test', seed: 1, startsAt: '2026-01-01T00:00:00Z', untilSeconds: 3600 },
    ...{ missing: [], notes: [], assumptions: [], limits: [], runs },
  };
}

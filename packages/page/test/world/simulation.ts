// A small simulation for tests of the page: what is not said is empty.
import type { PageInput, RunInput, WorkloadTotals } from '../../src/input.ts';

export function totals(name: string, said: Partial<WorkloadTotals> = {}): WorkloadTotals {
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
    ...{ unavailableSeconds: 0, evictions: 0 },
    ...said,
  };
}

type SaidRun = Partial<Omit<RunInput, 'summary'>> & {
  readonly summary?: readonly WorkloadTotals[];
};

export function run(said: SaidRun = {}): RunInput {
  const { summary = [], ...rest } = said;
  return {
    ...{ name: 'precise', semantics: 'precise', events: [], workloads: [], budgets: [] },
    ...{ zones: [], nodes: [] },
    ...{
      deadlines: [],
      evictions: [],
      holds: [],
      refusals: [],
      failures: [],
      unplaced: [],
      pods: [],
    },
    ...rest,
    summary: { evictions: 0, refusals: 0, nodesTainted: 0, causes: [], workloads: summary },
  };
}

/** An hour of it. */
export function simulation(...runs: readonly RunInput[]): PageInput {
  return {
    ...{ source: 'test', seed: 1, startsAt: '2026-01-01T00:00:00Z', untilSeconds: 3600 },
    ...{ missing: [], notes: [], assumptions: [], limits: [], runs },
  };
}

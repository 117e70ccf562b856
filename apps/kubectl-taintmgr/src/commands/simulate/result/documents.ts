// The answer of `simulate` as json, of which the page has the whole shape.
import { formatDuration, formatTime, type Millis } from '@taintmgr/core/time';
import { rulesOf } from '@taintmgr/k8s-adapter/command-line';
import { apiVersion } from '@taintmgr/k8s-adapter/explain';
import type {
  AppliedObject,
  FailIfOutcome,
  RunDocument,
  SimulationDocument,
  Summary,
  WorkloadSummary,
} from '@taintmgr/page';
import type { ClusterSource } from '../source/source.ts';
import { type ManagerSettings, managerFlagsText } from '../stage/manager-flags.ts';
import type { Run } from '../stage/run.ts';
import { differencesOf } from './differences.ts';
import { type Band, bandOf, typicalSummary } from './draws.ts';
import { summarize } from './summary.ts';

/** A run and its summary. */
export interface RunResult extends Run {
  /** As --variant names it; else whose rules it follows. */
  readonly name: string;
  /** Of several draws the medians; the recording is that of the first. */
  readonly summary: Summary;
  /** The summaries of all draws, each of another seed. */
  readonly draws: readonly Summary[];
}

/** A time of a run in words. */
export function seconds(value: number): string {
  return formatDuration(value * 1000);
}

/** Everything that the answer says. */
export interface Result {
  readonly source: Pick<ClusterSource, 'name' | 'startsAt' | 'missing' | 'notes'>;
  /** The file of events; null: none. */
  readonly script: string | null;
  readonly seed: number;
  /** The number of seeds that were played, from `seed` on. */
  readonly seeds: number;
  readonly until: Millis;
  /** The first is the asked one; the others stand beside it. */
  readonly runs: readonly RunResult[];
  readonly limits: readonly FailIfOutcome[];
  /** The manifests that are laid over the cluster; left out: none are. */
  readonly applied?: readonly AppliedObject[] | undefined;
  /** The settings of kube-controller-manager; null: no run contains it. */
  readonly manager: ManagerSettings | null;
}

/** Counts what happened in a run. */
export function withSummary(
  run: Run,
  until: Millis,
  name: string = rulesOf(run.semantics),
): RunResult {
  const summary = summarize(run.recording, until / 1000, run.unknowns);
  return { ...run, name, summary, draws: [summary] };
}

/** The same with the draws of other seeds. */
export function withDraws(run: RunResult, others: readonly Summary[]): RunResult {
  const draws = [run.summary, ...others];
  return { ...run, summary: typicalSummary(draws) ?? run.summary, draws };
}

/** Puts the answer together. */
export function simulationDocument(result: Result): SimulationDocument {
  const { source, script, seed, seeds, until, runs, limits, applied, manager } = result;
  const [first] = runs;
  return {
    apiVersion,
    kind: 'Simulation',
    source: source.name,
    ...(script === null ? {} : { script }),
    seed,
    ...(seeds > 1 && { seeds }),
    startsAt: formatTime(first?.startsAt ?? source.startsAt),
    untilSeconds: until / 1000,
    complete: source.missing.length === 0,
    missing: source.missing,
    notes: source.notes,
    assumptions: first?.assumptions ?? [],
    ...(manager && { managerFlags: managerFlagsText(manager) }),
    ...(applied && { applied }),
    limits,
    runs: runs.map((run) => runDocument(run, first)),
  };
}

/** Of several draws, how far apart they are. */
function bandsOf({ draws }: RunResult): Pick<RunDocument, 'bands'> {
  const [first] = draws;
  if (!first || draws.length === 1) return {};
  const workloads = first.workloads.map(({ kind, namespace, name }, at) => {
    const band = (value: (workload: WorkloadSummary) => number): Band =>
      bandOf(draws.flatMap(({ workloads: all }) => (all[at] ? [value(all[at])] : [])));
    return {
      ...{ kind, namespace, name },
      downMax: band(({ downMax }) => downMax),
      downSeconds: band(({ downSeconds }) => downSeconds),
      longestGapSeconds: band(({ longestGap }) => longestGap?.seconds ?? 0),
      podMinutesLost: band(({ podMinutesLost }) => podMinutesLost),
      evictions: band(({ evictions }) => evictions),
    };
  });
  return { bands: { workloads } };
}

function runDocument(run: RunResult, first: RunResult | undefined): RunDocument {
  const { name, semantics, playedEvents, summary, recording, rollout } = run;
  const differences = first && first !== run ? differencesOf(first.draws, run.draws) : null;
  return {
    name,
    semantics: rulesOf(semantics),
    summary,
    ...bandsOf(run),
    differences,
    events: playedEvents,
    ...(rollout && { rollout }),
    ...recording,
  };
}

// The answer of `simulate` as json, of which the page has the whole shape.
import { formatDuration, formatTime, type Millis } from '@taintmgr/core/time';
import type { FailIfOutcome, RunDocument, SimulationDocument, Summary } from '@taintmgr/page';
import { apiVersion } from '../../../report/documents.ts';
import type { ClusterSource } from '../source/source.ts';
import type { Run } from '../stage/run.ts';
import { differencesOf } from './differences.ts';
import { summarize } from './summary.ts';

/** A run and what it comes down to. */
export interface RunResult extends Run {
  /** As --variant names it; else whose rules it follows. */
  readonly name: string;
  readonly summary: Summary;
}

const byRules: ReadonlyMap<string, string> = new Map([
  ['precise', 'taintmgr'],
  ['upstream-1.36', 'kube-controller-manager'],
]);

/** Runs that nobody has named have their rules for a name: people are told whose rules these are. */
export function shownName({ name, semantics }: Pick<RunResult, 'name' | 'semantics'>): string {
  return name === semantics ? (byRules.get(semantics) ?? name) : name;
}

/** A time of a run in words. */
export function seconds(value: number): string {
  return formatDuration(value * 1000);
}

/** Everything that the answer says. */
export interface Result {
  readonly source: ClusterSource;
  /** The file of events; null: none. */
  readonly script: string | null;
  readonly seed: number;
  readonly until: Millis;
  /** The first is what is asked for, others stand beside it. */
  readonly runs: readonly RunResult[];
  readonly limits: readonly FailIfOutcome[];
}

/** Counts what happened in a run. */
export function withSummary(run: Run, until: Millis, name: string = run.semantics): RunResult {
  return { ...run, name, summary: summarize(run.recording, until / 1000) };
}

/** Puts the answer together. */
export function simulationDocument(result: Result): SimulationDocument {
  const { source, script, seed, until, runs, limits } = result;
  const [first] = runs;
  return {
    apiVersion,
    kind: 'Simulation',
    source: source.name,
    ...(script === null ? {} : { script }),
    seed,
    startsAt: formatTime(first?.startsAt ?? source.startsAt),
    untilSeconds: until / 1000,
    complete: source.missing.length === 0,
    missing: source.missing,
    notes: source.notes,
    assumptions: first?.assumptions ?? [],
    limits,
    runs: runs.map((run) => runDocument(run, first)),
  };
}

function runDocument(run: RunResult, first: RunResult | undefined): RunDocument {
  const { name, semantics, playedEvents, summary, recording } = run;
  const differences = first && first !== run ? differencesOf(first.summary, summary) : null;
  return { name, semantics, summary, differences, events: playedEvents, ...recording };
}

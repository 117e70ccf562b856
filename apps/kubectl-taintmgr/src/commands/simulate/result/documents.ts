// The answer of `simulate` as json: its whole shape, which the page reads too.
import { formatTime, type Millis } from '@taintmgr/core/time';
import { apiVersion } from '../../../report/documents.ts';
import type { Recording } from '../record/recorder.ts';
import type { ClusterSource } from '../source/source.ts';
import type { PlayedEvent, Run, Semantics } from '../stage/run.ts';
import type { Assumption } from '../times/pod-times.ts';
import { type Differences, differencesOf } from './differences.ts';
import type { FailIfOutcome } from './fail-if.ts';
import { type Summary, summarize } from './summary.ts';

/** A run and what it comes down to. */
export interface RunResult extends Run {
  /** As --variant names it; else whose rules it follows. */
  readonly name: string;
  readonly summary: Summary;
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

/**
 * The answer as json and yaml have it, and the page. All times are seconds after `startsAt`, with
 * thousandths; null stands for what does not end or never was.
 */
export interface SimulationDocument {
  readonly apiVersion: string;
  readonly kind: 'Simulation';
  /** The file or cluster it was played in. */
  readonly source: string;
  /** The file of events, and the events of --event; left out: none. */
  readonly script?: string;
  readonly seed: number;
  /** The only instant of the calendar: where seconds count from. */
  readonly startsAt: string;
  readonly untilSeconds: number;
  /** Whether the whole cluster could be taken, and what could not. */
  readonly complete: boolean;
  readonly missing: readonly string[];
  readonly notes: readonly string[];
  /** How long the pods of each workload were taken to need, and who says so. */
  readonly assumptions: readonly Assumption[];
  /** The conditions of --fail-if, in their order. */
  readonly limits: readonly FailIfOutcome[];
  /** The variants in the order in which they were named. */
  readonly runs: readonly RunDocument[];
}

/** One variant: what it comes down to, then all that happened. */
interface RunDocument extends Recording {
  readonly name: string;
  readonly semantics: Semantics;
  readonly summary: Summary;
  /** What it has more than the first run; null: it is the first. */
  readonly differences: Differences | null;
  /** What of the script was done. */
  readonly events: readonly PlayedEvent[];
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

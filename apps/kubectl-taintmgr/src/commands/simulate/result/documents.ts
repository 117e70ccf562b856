// The answer of `simulate` as json.
import { formatTime, type Millis } from '@taintmgr/core/time';
import { apiVersion } from '../../../report/documents.ts';
import type { ClusterSource } from '../source/source.ts';
import type { Run } from '../stage/run.ts';
import type { FailIfOutcome } from './fail-if.ts';
import { type Summary, summarize } from './summary.ts';

/** A run and what it comes down to. */
export interface RunResult extends Run {
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
export function withSummary(run: Run, until: Millis): RunResult {
  return { ...run, summary: summarize(run.recording, until / 1000) };
}

/** The answer as json and yaml have it, and the page. Times are seconds after `startsAt`. */
export function simulationDocument(result: Result): object {
  const { source, script, seed, until, runs, limits } = result;
  const [first] = runs;
  return {
    apiVersion,
    kind: 'Simulation',
    source: source.name,
    script: script ?? undefined,
    seed,
    startsAt: formatTime(first?.startsAt ?? source.startsAt),
    untilSeconds: until / 1000,
    complete: source.missing.length === 0,
    missing: source.missing,
    notes: source.notes,
    limits,
    runs: runs.map(({ semantics, playedEvents, summary, recording }) => {
      return { semantics, summary, events: playedEvents, ...recording };
    }),
  };
}

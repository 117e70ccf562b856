// The answer of `simulate --verify`, and how it is written as json.
import { formatTime, type Instant } from '@taintmgr/core/time';
import { apiVersion } from '@taintmgr/k8s-adapter/explain';
import type { RunDocument } from '@taintmgr/page';
import type { ClusterSource } from '../source/source.ts';
import type { Check } from './check.ts';
import type { Observed } from './observed.ts';

/** A run beside the observations. */
export interface CheckedRun extends Pick<RunDocument, 'name' | 'semantics'> {
  readonly check: Check;
  readonly causes: readonly string[];
}

/** Everything that the answer says. */
export interface Verified {
  readonly before: string;
  readonly after: string;
  readonly from: Observed['from'];
  readonly startsAt: Instant;
  readonly untilSeconds: number;
  readonly seed: number;
  readonly seeds: number;
  /** Changes that a simulation cannot foretell, as lines of a script. */
  readonly played: readonly string[];
  readonly unknown: readonly string[];
  readonly runs: readonly CheckedRun[];
  readonly source: ClusterSource;
}

/** Puts the answer together. */
export function checkDocument({ runs, startsAt, source, ...said }: Verified): object {
  return {
    apiVersion,
    kind: 'SimulationCheck',
    ...said,
    startsAt: formatTime(startsAt),
    notes: source.notes,
    runs: runs.map(({ check, ...run }) => ({ ...run, ...check })),
  };
}

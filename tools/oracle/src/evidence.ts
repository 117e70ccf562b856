// The base of all checkers, and the evidence by which those of evictions judge.
import type { ClusterApi } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import type { DrainMarks } from './drain-marks.ts';
import type { ObjectHistory } from './object-history.ts';
import type { PauseHistory, Pauses } from './pauses.ts';
import type { PolicyHistory } from './policies.ts';
import type { TaintStarts } from './taint-starts.ts';
import type { Terms, Violation } from './terms.ts';

/** The evidence that the checkers look at. */
export interface Evidence {
  readonly api: ClusterApi;
  readonly terms: Terms;
  readonly history: ObjectHistory;
  readonly apiHistory: ApiHistory;
  readonly starts: TaintStarts;
  /** The pauses given to the client. */
  readonly pauses: Pauses;
  /** The pauses of the cluster. */
  readonly storedPauses: PauseHistory;
  readonly drains: DrainMarks;
  readonly policies: PolicyHistory;
  readonly report: (violation: Violation) => void;
}

/** A checker of promises: it judges by the evidence that all checkers share. */
export class Checker<E> {
  protected readonly evidence: E;

  constructor(evidence: E) {
    this.evidence = evidence;
  }
}

// What the checkers of a client that evicts pods look at.
import type { ClusterApi } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import type { DrainMarks } from './drain-marks.ts';
import type { ObjectHistory } from './object-history.ts';
import type { PauseHistory } from './pause-history.ts';
import type { Pauses } from './pauses.ts';
import type { PolicyHistory } from './policy-history.ts';
import type { TaintStarts } from './taint-starts.ts';
import type { Terms, Violation } from './terms.ts';

/** What the checkers look at. */
export interface Evidence {
  readonly api: ClusterApi;
  readonly terms: Terms;
  readonly history: ObjectHistory;
  readonly apiHistory: ApiHistory;
  readonly starts: TaintStarts;
  /** Those that the client was told of. */
  readonly pauses: Pauses;
  /** Those of the cluster. */
  readonly storedPauses: PauseHistory;
  readonly drains: DrainMarks;
  readonly policies: PolicyHistory;
  readonly report: (violation: Violation) => void;
}

import type { ApiHistory } from '../api-history.ts';
import type { ObjectHistory } from '../object-history.ts';
import type { Violation } from '../terms.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { LifecycleTerms } from './lifecycle-terms.ts';
import type { RuleHistory } from './rule-history.ts';
import type { Zones } from './zones.ts';

/** The evidence that the checkers of the node lifecycle look at. */
export interface LifecycleEvidence {
  readonly terms: LifecycleTerms;
  readonly history: ObjectHistory;
  readonly apiHistory: ApiHistory;
  readonly heartbeats: Heartbeats;
  readonly zones: Zones;
  readonly rules: RuleHistory;
  readonly report: (violation: Violation) => void;
}

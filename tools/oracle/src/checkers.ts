import type { ClusterApi } from '@taintmgr/sim-cluster';
import { ApiHistory } from './api-history.ts';
import { DrainMarks } from './drain-marks.ts';
import {
  EvictionRateChecker,
  EvictionWindowChecker,
  PolicyLimitChecker,
} from './eviction-limits.ts';
import { BudgetChecker, EvictionChecker, GraceChecker } from './evictions.ts';
import type { Evidence } from './evidence.ts';
import { KeptStartsChecker } from './kept-starts.ts';
import { LeadershipChecker, OwnReplicaChecker } from './leadership.ts';
import { ObjectHistory } from './object-history.ts';
import { OverdueChecker } from './overdue.ts';
import { PauseHistory, Pauses } from './pauses.ts';
import { PolicyHistory } from './policies.ts';
import { TaintStarts } from './taint-starts.ts';
import type { Terms, Violation } from './terms.ts';

/**
 * Judges a client that evicts pods by node taints, from the state of the API and the client's
 * requests: by the plain rule, without knowledge of the client's code. Make it before anything
 * happens, and lead the client's requests through both ends of `apiHistory`.
 */
export class Checkers {
  readonly apiHistory: ApiHistory;
  /** Begin and end here each pause that the client is given: it promises not to evict in a pause. */
  readonly pauses: Pauses = new Pauses();
  readonly #violations: Violation[] = [];
  readonly #overdue: OverdueChecker;
  readonly #resting: readonly { atRest(calmSince: number): void }[];
  readonly #ending: readonly { atEnd(): void }[];

  constructor(api: ClusterApi, terms: Terms, apiHistory: ApiHistory = new ApiHistory(api.clock)) {
    this.apiHistory = apiHistory;
    const history = new ObjectHistory(api, apiHistory, (change) => {
      for (const checker of observers) checker.observe(change);
    });
    const starts = new TaintStarts(history, apiHistory);
    const report = (violation: Violation): void => void this.#violations.push(violation);
    const { pauses } = this;
    const policies = new PolicyHistory(api, terms, apiHistory);
    const storedPauses = new PauseHistory(api, apiHistory);
    const drains = new DrainMarks(history, apiHistory);
    const evidence: Evidence = {
      ...{ api, terms, history, apiHistory, starts, policies, report },
      ...{ pauses, storedPauses, drains },
    };
    const kept = new KeptStartsChecker(evidence);
    const leadership = new LeadershipChecker(apiHistory, report);
    const replicas = new OwnReplicaChecker(evidence);
    const observers = [
      replicas,
      new EvictionChecker(evidence),
      new BudgetChecker(evidence),
      new EvictionWindowChecker(evidence),
      new PolicyLimitChecker(evidence),
      new GraceChecker(evidence),
      kept,
      leadership,
    ];
    this.#overdue = new OverdueChecker(evidence, (pod) => replicas.isLast(pod));
    this.#resting = [this.#overdue, kept];
    this.#ending = [new EvictionRateChecker(evidence), ...(terms.elected ? [leadership] : [])];
  }

  /** The violations found so far, in the order of their discovery. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** At the end of a time since `calmSince` in which client and API worked undisturbed. */
  atRest(calmSince: number): void {
    for (const checker of this.#resting) checker.atRest(calmSince);
  }

  /** The same, but for the pods of a namespace where requests go wrong; all others go within such a time. */
  atRestBeside(calmSince: number, namespace: string, withinMs: number): void {
    this.#overdue.atRestBeside(calmSince, namespace, withinMs);
  }

  /** When everything is over. */
  atEnd(): void {
    for (const checker of this.#ending) checker.atEnd();
  }
}

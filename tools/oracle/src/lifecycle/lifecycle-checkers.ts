import type { ClusterApi } from '@taintmgr/sim-cluster';
import { ApiHistory } from '../api-history.ts';
import { ObjectHistory } from '../object-history.ts';
import type { Violation } from '../terms.ts';
import { Heartbeats } from './heartbeats.ts';
import type { LifecycleEvidence } from './lifecycle-evidence.ts';
import type { LifecycleTerms } from './lifecycle-terms.ts';
import {
  FalseAlarmChecker,
  ForeignFieldChecker,
  LastingFaultChecker,
  UnknownConditionChecker,
  UnmarkedPodChecker,
} from './node-status.ts';
import { RuleHistory } from './rule-history.ts';
import { LastingRuleChecker, RuleTaintChecker } from './rule-taints.ts';
import { TaintRateChecker, WaitingNodeChecker } from './taint-rate.ts';
import { Zones } from './zones.ts';

/**
 * Judges a client that plays the node lifecycle controller, from the state of the API and the
 * client's requests: by the plain rule, without knowledge of the client's code. Make it before
 * anything happens, and lead the client's requests through both ends of `apiHistory`. A client that
 * evicts pods as well is watched by one `apiHistory` for both.
 */
export class LifecycleCheckers {
  readonly apiHistory: ApiHistory;
  readonly #api: ClusterApi;
  readonly #violations: Violation[] = [];
  readonly #resting: readonly { atRest(calmSince: number, now: number): void }[];
  readonly #rate: TaintRateChecker;

  constructor(
    api: ClusterApi,
    terms: LifecycleTerms,
    apiHistory: ApiHistory = new ApiHistory(api.clock),
  ) {
    this.#api = api;
    this.apiHistory = apiHistory;
    const heartbeats = new Heartbeats();
    const zones = new Zones(terms);
    const history = new ObjectHistory(api, apiHistory, (change) => {
      for (const listener of observers) listener.observe(change);
    });
    const report = (violation: Violation): void => void this.#violations.push(violation);
    const rules = new RuleHistory(api, apiHistory);
    const evidence: LifecycleEvidence = {
      ...{ terms, history, apiHistory, heartbeats, zones, rules, report },
    };
    this.#rate = new TaintRateChecker(evidence);
    const observers = [
      heartbeats,
      zones,
      new FalseAlarmChecker(evidence),
      new UnknownConditionChecker(evidence),
      new ForeignFieldChecker(evidence),
      new RuleTaintChecker(evidence),
      this.#rate,
    ];
    this.#resting = [
      new LastingFaultChecker(evidence),
      new LastingRuleChecker(evidence),
      new WaitingNodeChecker(evidence),
      new UnmarkedPodChecker(evidence),
    ];
  }

  /** The violations found so far, in the order of their discovery. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /**
   * At the end of a time since `calmSince` in which one run of the client and the API worked
   * undisturbed, though kubelets need not have: whatever was due in it is done, and was done in time.
   */
  atRest(calmSince: number): void {
    const now = this.#api.clock.now();
    for (const checker of this.#resting) checker.atRest(calmSince, now);
  }

  /** When everything is over. */
  atEnd(): void {
    this.#rate.atEnd();
  }
}

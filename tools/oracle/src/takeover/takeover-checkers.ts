import type { ClusterApi, Exchange } from '@taintmgr/sim-cluster';
import type { ApiHistory } from '../api-history.ts';
import { clockTime, type Violation } from '../terms.ts';
import { DoubtsChecker } from './doubts.ts';
import { OurActsChecker } from './our-acts.ts';
import { SparedPodsChecker } from './spared-pods.ts';
import { managers, policyNames, TakeoverHistory } from './takeover-history.ts';
import { VetoChecker } from './vetoes.ts';

/** What somebody else changes so often is left as it is. */
const mends = { max: 5, withinMs: 600_000 } as const;
/** From one heartbeat to the next, and a little. */
const beatMs = 16_000;
/** What becomes of many unreachable nodes at once is held for so long, and zones are looked at. */
const holdMs = 150_000;

/**
 * Judges a client that decides about pods beside a kube-controller-manager that evicts too, from what the
 * API shows, what that one asked and was answered, and what the client asked: by the plain rule.
 * Lead the requests of kube-controller-manager through `line`.
 */
export class TakeoverCheckers {
  readonly #api: ClusterApi;
  readonly #violations: Violation[] = [];
  readonly #history: TakeoverHistory;
  readonly #vetoes: VetoChecker;
  readonly #spared: SparedPodsChecker;
  /** Since when every node has been ready; Infinity: one is not. */
  #readySince: number = Number.POSITIVE_INFINITY;

  /** `holdsFullDisruption`: pods of a zone that is down as a whole stay ready. */
  constructor(api: ClusterApi, apiHistory: ApiHistory, holdsFullDisruption: boolean = false) {
    this.#api = api;
    const report = (violation: Violation): void => void this.#violations.push(violation);
    this.#history = new TakeoverHistory(api, apiHistory);
    this.#vetoes = new VetoChecker(api, this.#history, report);
    this.#spared = new SparedPodsChecker(api, apiHistory, this.#history, this.#vetoes, report);
    new OurActsChecker(api, apiHistory, this.#history, report);
    new DoubtsChecker(api, apiHistory, this.#history, holdsFullDisruption, report);
    api.subscribe(({ resource }) => {
      if (resource === 'nodes') this.#lookAtNodes();
    });
  }

  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** How many pods kube-controller-manager was refused so far. */
  get refused(): number {
    return this.#vetoes.refusals.size;
  }

  line(exchange: Exchange): Exchange {
    return this.#vetoes.line(exchange);
  }

  /** At the end of a time since `calmSince` in which all worked undisturbed. */
  atCalm(calmSince: number): void {
    this.#spared.atCalm(calmSince);
    const at = this.#api.clock.now();
    for (const name of policyNames) {
      for (const key of this.#history.faults(name, at)) {
        if (this.#history.writes(key, at - mends.withinMs) >= mends.max) continue;
        this.#violations.push({ invariant: 'policy not put back', at, evidence: key });
      }
    }
    const status = this.#api.get(managers, '', 'taintmgr')?.status;
    const age = at - Date.parse(status?.renewTime ?? '');
    if (!(age <= beatMs)) {
      const evidence = `the last one is of ${status?.renewTime ?? 'never'}`;
      this.#violations.push({ invariant: 'no heartbeat', at, evidence });
    }
    if (status && status.takeover?.enabled !== true) {
      const evidence = JSON.stringify(status.takeover);
      this.#violations.push({ invariant: 'does not say that it decides', at, evidence });
    }
    const pauses = this.#api.list('evictionpauses.taintmgr.dev');
    const isHeld = pauses.some(({ spec }) => spec.readiness);
    const hold = status?.takeover?.holdReadiness;
    if (!hold || isHeld || !(at - this.#readySince > holdMs)) return;
    const evidence = `all nodes ready since ${clockTime(this.#readySince)}: ${hold.reason}`;
    this.#violations.push({ invariant: 'readiness held for nothing', at, evidence });
  }

  /** When nobody decides any more, and kube-controller-manager has begun anew at `since`. */
  atGone(since: number): void {
    this.#spared.atGone(since);
  }

  #lookAtNodes(): void {
    const isReady = this.#api.list('nodes').every(({ status }) => {
      const conditions: readonly { readonly type: string; readonly status: string }[] =
        status?.conditions ?? [];
      return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
    });
    if (!isReady) this.#readySince = Number.POSITIVE_INFINITY;
    else this.#readySince = Math.min(this.#readySince, this.#api.clock.now());
  }
}

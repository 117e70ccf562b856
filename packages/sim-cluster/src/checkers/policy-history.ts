// Which eviction policies there were in the cluster, and which of them a client may have gone by.
import type { KubeObject } from '../objects/kube-object.ts';
import type { Change, ClusterApi } from '../store/cluster-api.ts';
import type { ApiHistory } from './api-history.ts';
import { type StoredPolicy, storedPolicy, type TermInForce, termInForce } from './policy-rule.ts';
import type { NoExecuteTaint } from './taint-rule.ts';
import type { Terms } from './terms.ts';

const resource = 'evictionpolicies.taintmgr.dev';

/** All policies from one instant on. */
interface PolicySet {
  readonly at: number;
  readonly policies: readonly StoredPolicy[];
}

/** A pod, its node and a taint of it, as somebody may have known them. */
interface Subject {
  readonly pod: KubeObject;
  readonly node: KubeObject | null;
  readonly taint: NoExecuteTaint;
}

/** Every set of policies since the beginning, as the API reported them. */
export class PolicyHistory {
  readonly #sets: PolicySet[] = [{ at: Number.NEGATIVE_INFINITY, policies: [] }];
  readonly #terms: Terms;
  readonly #apiHistory: ApiHistory;
  readonly #now: () => number;

  constructor(api: ClusterApi, terms: Terms, apiHistory: ApiHistory) {
    this.#terms = terms;
    this.#apiHistory = apiHistory;
    this.#now = () => api.clock.now();
    api.subscribe((change) => this.#record(change));
  }

  /** Whether a run had read the policies, or does not have to. */
  isKnown(run: number, decidedAt: number): boolean {
    if (!this.#terms.clusterPolicies) return true;
    return this.#apiHistory.known.upTo(run, 'policies', decidedAt) > Number.NEGATIVE_INFINITY;
  }

  /** All that may have been in force for whoever decided then in that run. */
  inForce(run: number, decidedAt: number, subject: Subject): readonly TermInForce[] {
    return this.#setsKnown(run, decidedAt).map(({ policies }) => {
      return termInForce(this.#terms, policies, subject);
    });
  }

  /** Since when this policy has been as it is now, as of `at`; null: it is not there. */
  since(
    name: string,
    at: number,
  ): { readonly policy: StoredPolicy; readonly since: number } | null {
    const sets = this.#sets.filter((set) => set.at <= at);
    const of = (set: PolicySet | undefined) => set?.policies.find((one) => one.name === name);
    const policy = of(sets.at(-1));
    if (!policy) return null;
    const before = sets.findLastIndex((set) => of(set) !== policy);
    return { policy, since: sets[before + 1]?.at ?? at };
  }

  /** Those that were there at an instant. */
  at(instant: number): readonly StoredPolicy[] {
    return this.#sets.findLast((set) => set.at <= instant)?.policies ?? [];
  }

  /** When deadlines first stood still because of what cannot be followed; null: they never did. */
  get firstHeldAt(): number | null {
    const first = this.#sets.find(({ policies }) =>
      policies.some(({ isReadable, spec }) => !isReadable || spec.limits !== undefined),
    );
    return first?.at ?? null;
  }

  #setsKnown(run: number, decidedAt: number): readonly PolicySet[] {
    const known = this.#apiHistory.known.inTurnUpTo(run, 'policies', decidedAt);
    return this.#sets.filter(({ at }, index) => {
      const until = this.#sets[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      return at <= decidedAt && until >= known;
    });
  }

  #record({ resource: changed, type, object }: Change): void {
    if (changed !== resource) return;
    const others = this.at(Number.POSITIVE_INFINITY).filter(
      ({ name }) => name !== object.metadata.name,
    );
    const policies = type === 'DELETED' ? others : [...others, storedPolicy(object)];
    this.#sets.push({ at: this.#now(), policies });
  }
}

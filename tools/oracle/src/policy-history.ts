// Which eviction policies there were in the cluster, and which of them a client may have gone by.
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import { type StoredPolicy, storedPolicy, type TermInForce, termInForce } from './policy-rule.ts';
import { StoredSets } from './stored-sets.ts';
import type { NoExecuteTaint } from './taint-rule.ts';
import type { Terms } from './terms.ts';

/** A pod, its node and a taint of it, as somebody may have known them. */
interface Subject {
  readonly pod: KubeObject;
  readonly node: KubeObject | null;
  readonly taint: NoExecuteTaint;
}

interface StoredNamespace {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Every set of policies since the beginning, and the labels of namespaces that they ask for. */
export class PolicyHistory {
  readonly #policies: StoredSets<StoredPolicy>;
  readonly #namespaces: StoredSets<StoredNamespace>;
  readonly #terms: Terms;

  constructor(api: ClusterApi, terms: Terms, apiHistory: ApiHistory) {
    this.#terms = terms;
    this.#policies = new StoredSets(api, apiHistory, {
      resource: 'evictionpolicies.taintmgr.dev',
      followed: 'policies',
      read: storedPolicy,
    });
    this.#namespaces = new StoredSets(api, apiHistory, {
      resource: 'namespaces',
      followed: 'namespaces',
      read: ({ metadata: { name, labels = {} } }) => ({ name, labels }),
      first: api.list('namespaces'),
    });
  }

  /** Whether a run had read the policies, or does not have to. */
  isKnown(run: number, decidedAt: number): boolean {
    return !this.#terms.clusterPolicies || this.#policies.isRead(run, decidedAt);
  }

  /** All that may have been in force for whoever decided then in that run. */
  inForce(run: number, decidedAt: number, subject: Subject): readonly TermInForce[] {
    if (!this.#terms.clusterPolicies) return [termInForce(this.#terms, [], subject, null)];
    const labels = this.#labelsKnown(run, decidedAt, subject.pod.metadata.namespace ?? '');
    return this.#policies
      .known(run, decidedAt)
      .flatMap((policies) => labels.map((one) => termInForce(this.#terms, policies, subject, one)));
  }

  /** Since when this policy has been as it is now, as of `at`; null: it is not there. */
  since(
    name: string,
    at: number,
  ): { readonly policy: StoredPolicy; readonly since: number } | null {
    const policy = this.at(at).find((one) => one.name === name);
    const version = policy && this.#policies.versions.find(({ item }) => item === policy);
    return policy && version ? { policy, since: version.from } : null;
  }

  /** Those that were there at an instant. */
  at(instant: number): readonly StoredPolicy[] {
    return this.#policies.at(instant);
  }

  /** When deadlines first stood still because of what cannot be followed; null: they never did. */
  get firstHeldAt(): number | null {
    const first = this.#policies.all.find(({ items }) =>
      items.some(({ isReadable, spec }) => !isReadable || spec.limits !== undefined),
    );
    return first?.at ?? null;
  }

  /** The labels that a namespace may have had for that run; null: nobody could know them. */
  #labelsKnown(
    run: number,
    decidedAt: number,
    name: string,
  ): readonly (StoredNamespace['labels'] | null)[] {
    if (!this.#namespaces.isRead(run, decidedAt)) return [null];
    const labels = this.#namespaces.known(run, decidedAt).map((namespaces) => {
      return namespaces.find((one) => one.name === name)?.labels ?? null;
    });
    return [...new Set(labels)];
  }
}

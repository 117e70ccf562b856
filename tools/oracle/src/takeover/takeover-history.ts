// The state that decides whether the API server refuses a request of kube-controller-manager, at
// every instant.
import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from '../api-history.ts';
import type { Call } from '../call.ts';

/** An object from one instant on; null: there is none of the name. */
export interface Version {
  readonly at: number;
  readonly object: KubeObject | null;
  /** The request of the client that made it; null: others did. */
  readonly by: Call | null;
}

export const managers = 'taintmanagers.taintmgr.dev';
export const pauses = 'evictionpauses.taintmgr.dev';
const namespaces = 'namespaces';
const definitions = 'customresourcedefinitions';
const policyKinds = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'] as const;
const followed: readonly string[] = [managers, pauses, namespaces, definitions, ...policyKinds];

/** The two policies of takeover; their bindings are called the same. */
export type PolicyName = 'taintmgr-takeover' | 'taintmgr-readiness';
export const policyNames: readonly PolicyName[] = ['taintmgr-takeover', 'taintmgr-readiness'];

/** Within this time a change of the parameter or of a namespace counts. */
const learnedMs = 10;
/** Within this time policies and bindings are compiled. */
const compiledMs = 2_100;

/** Every version of namespaces, pauses, policies, bindings and heartbeats since the beginning. */
export class TakeoverHistory {
  readonly #versions = new Map<string, Version[]>();
  /** The spec of each policy and binding as first written, before any edit. */
  readonly #written = new Map<string, string>();
  readonly #apiHistory: ApiHistory;
  readonly #now: () => number;

  constructor(api: ClusterApi, apiHistory: ApiHistory) {
    this.#apiHistory = apiHistory;
    this.#now = () => api.clock.now();
    api.subscribe((change) => this.#record(change));
  }

  /** The versions of an object that held at some instant from `from` to `to`. */
  during(resource: string, name: string, from: number, to: number): readonly Version[] {
    const all = [nothing, ...(this.#versions.get(`${resource}/${name}`) ?? [])];
    return all.filter(({ at }, index) => {
      const until = all[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      return at <= to && until >= from;
    });
  }

  /** The names of all objects of a kind that there ever were. */
  names(resource: string): readonly string[] {
    return [...this.#versions.keys()]
      .filter((key) => key.startsWith(`${resource}/`))
      .map((key) => key.slice(resource.length + 1));
  }

  /** The namespace as the API server may know it. */
  namespaceKnown(name: string, at: number): readonly (KubeObject | null)[] {
    return this.during(namespaces, name, at - learnedMs, at).map(({ object }) => object);
  }

  /** The status of the TaintManager as the API server may know it; `now` included. */
  heartbeatsKnown(at: number): readonly (KubeObject['status'] | null)[] {
    return this.during(managers, 'taintmgr', at - learnedMs, at).map(
      ({ object }) => object?.status ?? null,
    );
  }

  /** True if a policy, its binding and the kind of its parameter were correct for a while. */
  stands(name: PolicyName, at: number): boolean {
    const from = at - compiledMs;
    const kind = this.during(definitions, managers, from, at);
    return (
      kind.every(({ object }) => object && object.metadata.deletionTimestamp === undefined) &&
      policyKinds.every((resource) =>
        this.during(resource, name, from, at).every(({ object }) =>
          this.#isAsWritten(resource, name, object),
        ),
      )
    );
  }

  /** True if an API server may still act on that policy and its binding. */
  mayStand(name: PolicyName, at: number): boolean {
    return policyKinds.every((resource) =>
      this.during(resource, name, at - compiledMs, at).some(({ object }) => object !== null),
    );
  }

  /** The differences of a policy and its binding from their first versions, by name. */
  faults(name: PolicyName, at: number): readonly string[] {
    return policyKinds
      .filter((resource) => {
        const [version] = this.during(resource, name, at, at).slice(-1);
        return !this.#isAsWritten(resource, name, version?.object ?? null);
      })
      .map((resource) => `${resource}/${name}`);
  }

  /** The number of the client's writes of an object since then. */
  writes(key: string, since: number): number {
    const versions = this.#versions.get(key) ?? [];
    return versions.filter(({ at, by }) => at >= since && by !== null).length;
  }

  #isAsWritten(resource: string, name: string, object: KubeObject | null): boolean {
    return object !== null && canonical(object.spec) === this.#written.get(`${resource}/${name}`);
  }

  #record({ type, resource, object, previous }: Change): void {
    if (!followed.includes(resource)) return;
    const key = `${resource}/${object.metadata.name}`;
    const isPolicy = policyKinds.some((kind) => kind === resource);
    const isSame = canonical(object.spec) === canonical(previous?.spec);
    // The API server writes the results of a policy's type check into its status.
    if (isPolicy && type === 'MODIFIED' && isSame) return;
    const by = this.#apiHistory.actor;
    if (isPolicy && type === 'ADDED' && !this.#written.has(key))
      this.#written.set(key, canonical(object.spec));
    const versions = this.#versions.get(key) ?? [];
    this.#versions.set(key, versions);
    versions.push({ at: this.#now(), object: type === 'DELETED' ? null : object, by });
  }
}

const nothing: Version = { at: Number.NEGATIVE_INFINITY, object: null, by: null };

/** The same text for the same content, in whatever order its members are. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    one instanceof Object && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

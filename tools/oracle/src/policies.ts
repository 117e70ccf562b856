// The plain rule of eviction policies, computed independently from the objects in the API, and the
// policies that a client may have acted on.
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import { StoredSets, type Version } from './stored-sets.ts';
import type { NoExecuteTaint } from './taint-rule.ts';
import { type PolicyTerm, policyFor, type Terms } from './terms.ts';

/** A policy as it stands in the API; selectors name labels and their values, and nothing else. */
export interface StoredPolicy {
  readonly name: string;
  readonly spec: PolicySpec;
  /** False: it says something that the client cannot know, and everything has to stay. */
  readonly isReadable: boolean;
}

interface PolicySpec {
  readonly priority?: number;
  readonly match?: {
    readonly taints?: readonly { readonly key?: string }[];
    readonly namespaces?: readonly string[];
    readonly namespaceSelector?: Selector;
    readonly podSelector?: Selector;
    readonly nodeSelector?: Selector;
  };
  readonly action?: string;
  readonly minTaintAge?: string;
  readonly deleteAfter?: string;
  readonly gracePeriodSeconds?: number;
  readonly defaultTolerationSeconds?: number;
  readonly limits?: readonly StoredLimit[];
}

/** A limit of a policy as it stands in the API. */
export interface StoredLimit {
  readonly per: string;
  readonly pods?: number;
  readonly window?: string;
}

interface Selector {
  readonly matchLabels?: Labels;
}

type Labels = Readonly<Record<string, string>>;

/** The promises about a pod and a taint while certain policies are there. */
interface TermInForce extends PolicyTerm {
  /** The pod stays. */
  readonly keeps: boolean;
  /**
   * As in kube-controller-manager: time counts from the arrival of the taint, whatever its time
   * says.
   */
  readonly isUpstream: boolean;
  /** The stay of a pod that does not tolerate the taint, in milliseconds. */
  readonly defaultTolerationMs: number;
}

const fields = [
  ...['priority', 'match', 'action', 'minTaintAge', 'deleteAfter', 'gracePeriodSeconds'],
  ...['defaultTolerationSeconds', 'limits'],
];
const modes: Readonly<Record<string, PolicyTerm['mode']>> = {
  Delete: 'delete',
  Evict: 'evict',
  EvictThenDelete: 'evict-then-delete',
  KubeControllerManager: 'delete',
};

function storedPolicy({ metadata, spec }: KubeObject): StoredPolicy {
  const isReadable = Object.keys(spec ?? {}).every((name) => fields.includes(name));
  return { name: metadata.name, spec: spec ?? {}, isReadable };
}

/**
 * The term in force if these policies are all there are. `labels`: of the pod's namespace; null:
 * unknown, and the pod stays where they may matter.
 */
function termInForce(
  terms: Terms,
  policies: readonly StoredPolicy[],
  { pod, node, taint }: { pod: KubeObject; node: KubeObject | null; taint: NoExecuteTaint },
  labels: Labels | null,
): TermInForce {
  const none = { keeps: false, isUpstream: false, defaultTolerationMs: 0 };
  const base = { ...policyFor(terms, taint.key), ...none };
  if (policies.some(({ isReadable }) => !isReadable)) return { ...base, keeps: true };
  const [first] = policies
    .filter(({ spec }) => spec.action !== undefined && matches(spec.match, pod, node, taint.key))
    .filter(({ spec }) => labels === null || hasLabels(spec.match?.namespaceSelector, labels))
    .sort(inOrder);
  if (!first) return base;
  const { spec } = first;
  if (labels === null && spec.match?.namespaceSelector) return { ...base, keeps: true };
  const defaultTolerationMs = 1000 * (spec.defaultTolerationSeconds ?? 0);
  if (spec.action === 'KubeControllerManager') {
    const own = { mode: 'delete', minTaintAgeMs: 0, gracePeriodSeconds: null } as const;
    return { ...base, ...own, isUpstream: true, defaultTolerationMs };
  }
  return {
    mode: modes[spec.action ?? ''] ?? base.mode,
    deleteAfterMs: spec.deleteAfter === undefined ? base.deleteAfterMs : millisOf(spec.deleteAfter),
    minTaintAgeMs: spec.minTaintAge === undefined ? base.minTaintAgeMs : millisOf(spec.minTaintAge),
    gracePeriodSeconds: spec.gracePeriodSeconds ?? base.gracePeriodSeconds,
    keeps: spec.action === 'Keep',
    isUpstream: false,
    defaultTolerationMs,
  };
}

/** The higher priority first, then by name. */
function inOrder(a: StoredPolicy, b: StoredPolicy): number {
  return (b.spec.priority ?? 0) - (a.spec.priority ?? 0) || (a.name < b.name ? -1 : 1);
}

/** True if a policy matches this pod, by any taint of this key. */
export function matches(
  { taints, namespaces, podSelector, nodeSelector }: NonNullable<PolicySpec['match']> = {},
  { metadata }: KubeObject,
  node: KubeObject | null,
  taintKey: string | null,
): boolean {
  return (
    (!taints || taintKey === null || taints.some(({ key = taintKey }) => key === taintKey)) &&
    (!namespaces || namespaces.includes(metadata.namespace ?? '')) &&
    hasLabels(podSelector, metadata.labels) &&
    hasLabels(nodeSelector, node?.metadata.labels)
  );
}

/** True if the selector matches the labels. */
export function hasLabels({ matchLabels = {} }: Selector = {}, labels: Labels = {}): boolean {
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}

/** Reads whole seconds and minutes, such as `90s`. */
export function millisOf(duration: string): number {
  const [, number, unit] = /^(\d+)([sm])$/.exec(duration) ?? [];
  if (number === undefined) throw new Error(`no duration that this reads: ${duration}`);
  return Number(number) * (unit === 's' ? 1000 : 60_000);
}

/** A pod, its node and a taint of it, as a client may have known them. */
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

  /** True if a run had read the policies, or does not have to. */
  isKnown(run: number, decidedAt: number): boolean {
    return !this.#terms.clusterPolicies || this.#policies.isRead(run, decidedAt);
  }

  /** All terms that may have been in force for a decision of that run. */
  inForce(run: number, decidedAt: number, subject: Subject): readonly TermInForce[] {
    if (!this.#terms.clusterPolicies) return [termInForce(this.#terms, [], subject, null)];
    const labels = this.#labelsKnown(run, decidedAt, subject.pod.metadata.namespace ?? '');
    return this.#policies
      .known(run, decidedAt)
      .flatMap((policies) => labels.map((one) => termInForce(this.#terms, policies, subject, one)));
  }

  /** The time since when this policy is unchanged, as of `at`; null: it is not there. */
  since(
    name: string,
    at: number,
  ): { readonly policy: StoredPolicy; readonly since: number } | null {
    const policy = this.at(at).find((one) => one.name === name);
    const version = policy && this.#policies.versions.find(({ item }) => item === policy);
    return policy && version ? { policy, since: version.from } : null;
  }

  /**
   * The times at which deadlines stood still because of unreadable policies that may be there for
   * that run.
   */
  unreadableSpans(run: number, at: number): readonly Pick<Version<StoredPolicy>, 'from' | 'to'>[] {
    const known = this.#policies.known(run, at).flat();
    return this.#policies.versions
      .filter(({ item, to }) => !item.isReadable && (to >= at || known.includes(item)))
      .map(({ from, to }) => ({ from, to: Math.min(to, at) }));
  }

  /** The policies at an instant. */
  at(instant: number): readonly StoredPolicy[] {
    return this.#policies.at(instant);
  }

  /** The time at which unreadable policies first stopped deadlines; null: never. */
  get firstHeldAt(): number | null {
    const first = this.#policies.all.find(({ items }) =>
      items.some(({ isReadable, spec }) => !isReadable || spec.limits !== undefined),
    );
    return first?.at ?? null;
  }

  /** The labels that a namespace may have had for that run; null: unknown. */
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

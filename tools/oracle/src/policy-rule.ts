// The plain rule of eviction policies, computed anew from the objects as they stand in the API.
import type { KubeObject } from '@taintmgr/sim-cluster';
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

/** What is promised of a pod and a taint while certain policies are there. */
export interface TermInForce extends PolicyTerm {
  /** The pod stays. */
  readonly keeps: boolean;
  /** As kube-controller-manager does it: time counts from when the taint came, whatever it says. */
  readonly isUpstream: boolean;
  /** A pod that does not tolerate the taint stays for so long, in milliseconds. */
  readonly defaultTolerationMs: number;
}

const fields = [
  ...['priority', 'match', 'action', 'minTaintAge', 'deleteAfter', 'gracePeriodSeconds'],
  ...['defaultTolerationSeconds', 'limits'],
];
const modes: Readonly<Record<string, PolicyTerm['mode']>> = {
  Delete: 'delete',
  Evict: 'evict',
  EvictThenDelete: 'evictThenDelete',
  Upstream: 'delete',
};

export function storedPolicy({ metadata, spec }: KubeObject): StoredPolicy {
  const isReadable = Object.keys(spec ?? {}).every((name) => fields.includes(name));
  return { name: metadata.name, spec: spec ?? {}, isReadable };
}

/**
 * What holds where these policies are all there are. `labels`: of the pod's namespace; null: nobody
 * knows them, and the pod stays where they may matter.
 */
export function termInForce(
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
  if (spec.action === 'Upstream') {
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

/** Whether a policy is for this pod, by any taint of this key. */
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

/** Whether the labels are as the selector asks for. */
export function hasLabels({ matchLabels = {} }: Selector = {}, labels: Labels = {}): boolean {
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}

/** Of whole seconds and minutes, such as `90s`. */
export function millisOf(duration: string): number {
  const [, number, unit] = /^(\d+)([sm])$/.exec(duration) ?? [];
  if (number === undefined) throw new Error(`no duration that this reads: ${duration}`);
  return Number(number) * (unit === 's' ? 1000 : 60_000);
}

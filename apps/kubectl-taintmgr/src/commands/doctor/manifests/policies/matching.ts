// Whether an EvictionPolicy can match anything, and whether two of them can match the same.
import {
  canFitBoth,
  canOverlap,
  contradiction,
  type EvictionPolicy,
  isForNoExecute,
} from '@taintmgr/core/policy';
import type { PlacedFinding } from '../finding.ts';
import { type Placed, type PlacedPolicies, placeOfName, warnAt } from './placed.ts';

type PlacedPolicy = Placed<'EvictionPolicy'>;

/** The keys of the taints that Kubernetes sets itself. */
const keysOfKubernetes = [
  ...['not-ready', 'unreachable', 'memory-pressure', 'disk-pressure', 'pid-pressure'].map(ofNode),
  ...['network-unavailable', 'unschedulable', 'out-of-service'].map(ofNode),
  'node.cloudprovider.kubernetes.io/uninitialized',
  'node.cloudprovider.kubernetes.io/shutdown',
];

function ofNode(name: string): string {
  return `node.kubernetes.io/${name}`;
}

/** Each policy for itself. */
export function checkMatch({ policies, rules }: PlacedPolicies): readonly PlacedFinding[] {
  const ruleKeys = rules.map(({ value }) => value.taint.key);
  return policies.flatMap((policy) => [
    ...checkSelectors(policy),
    ...checkEffects(policy),
    ...checkKeys(policy, [...keysOfKubernetes, ...ruleKeys]),
  ]);
}

function checkSelectors({ manifest, value: { match } }: PlacedPolicy): readonly PlacedFinding[] {
  const selectors = [
    ['nodeSelector', match.nodes, 'node'],
    ['namespaceSelector', match.namespaces?.selector ?? null, 'namespace'],
    ['podSelector', match.pods, 'pod'],
  ] as const;
  return selectors.flatMap(([name, selector, what]) => {
    const key = contradiction([selector]);
    if (key === null) return [];
    const message = `${name} contradicts itself about the label ${key}: no ${what} has such labels, and the policy never matches`;
    return [warnAt(manifest, ['spec', 'match', name], message, 'fix the selector')];
  });
}

/** Pods leave for the effect NoExecute, and for no other. */
function checkEffects({ manifest, value: { match } }: PlacedPolicy): readonly PlacedFinding[] {
  if (match.taints.length === 0 || match.taints.some(isForNoExecute)) return [];
  const message = 'no pod leaves for taints without the effect NoExecute: the policy never matches';
  return [warnAt(manifest, ['spec', 'match', 'taints'], message, 'write effect: NoExecute')];
}

/** Only a hint: people and other controllers set taints too. */
function checkKeys(
  { manifest, value: { match } }: PlacedPolicy,
  known: readonly string[],
): readonly PlacedFinding[] {
  return match.taints.flatMap(({ key = '*' }, index) => {
    if (known.some((one) => canFitBoth(key, one))) return [];
    const message = `neither Kubernetes nor a NodeTaintRule of these files sets a taint ${key}`;
    const fix = 'leave it where somebody else does, such as drain-by-taint or an autoscaler';
    const path = ['spec', 'match', 'taints', index, 'key'];
    return [{ ...warnAt(manifest, path, message, fix), level: 'INFO' }];
  });
}

/** Of two policies with one priority the first by name counts, which nobody sees who reads one. */
export function checkOverlaps({ policies }: PlacedPolicies): readonly PlacedFinding[] {
  return policies.flatMap((later, index) =>
    policies.slice(0, index).flatMap((earlier) => {
      const [a, b] = [earlier.value, later.value];
      if (a.priority !== b.priority || a.name === b.name || isSameOutcome(a, b)) return [];
      if (!canOverlap(a.match, b.match)) return [];
      const [first] = [a.name, b.name].sort();
      const message =
        `may match the same pods as EvictionPolicy "${a.name}" (${placeOfName(earlier.manifest)}), ` +
        `and both have priority ${b.priority}: "${first}" counts only by its name`;
      const fix = 'give one of them another priority';
      return [warnAt(later.manifest, ['spec', 'priority'], message, fix)];
    }),
  );
}

/** One without an action only limits, and limits of all that match hold. */
function isSameOutcome(a: EvictionPolicy, b: EvictionPolicy): boolean {
  const outcome = (policy: EvictionPolicy): string => {
    const { action, minTaintAgeMs, deleteAfterMs, gracePeriodSeconds } = policy;
    const { defaultTolerationSeconds } = policy;
    return JSON.stringify([
      ...[action, minTaintAgeMs, deleteAfterMs],
      ...[gracePeriodSeconds, defaultTolerationSeconds],
    ]);
  };
  return a.action === null || b.action === null || outcome(a) === outcome(b);
}

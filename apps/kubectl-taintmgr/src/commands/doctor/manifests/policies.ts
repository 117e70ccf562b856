// Checks policies of manifests: the pods that they match, and contradictions between them.
import { formatTaint } from '@taintmgr/core';
import {
  canFitBoth,
  canOverlap,
  contradiction,
  type EvictionPolicy,
  isForNoExecute,
  type LimitRule,
} from '@taintmgr/core/policy';
import { formatDuration, type Instant } from '@taintmgr/core/time';
import {
  actionHint,
  mendable,
  type PolicyObject,
  policyApiVersion,
  policyKinds,
  readManifest,
} from '@taintmgr/k8s-adapter/kinds';
import { didYouMean, windowFault } from '@taintmgr/k8s-adapter/manifests';
import type { Manifest } from '../../../cluster/manifests.ts';
import { findingAt, type PlacedFinding, placeOf } from './placed-finding.ts';

/** Every fault of each of them, and of them together. `now` is for what ends. */
export function checkPolicies(
  manifests: readonly Manifest[],
  now: Instant,
): readonly PlacedFinding[] {
  const ours = manifests.filter(({ apiVersion }) => isOfOurs(apiVersion));
  const placed = placedPolicies(ours);
  return [
    ...ours.flatMap((manifest) => {
      const faults = checkSchema(manifest);
      return [...faults, ...(faults.length === 0 ? checkNumbers(manifest) : [])];
    }),
    ...checkMatch(placed),
    ...checkOverlaps(placed),
    ...checkSense(placed),
    ...checkRules(placed),
    ...checkPauses(placed, now),
    ...checkDrains(placed),
    ...checkWindows(placed, now),
  ];
}

/** Numbers that the API server takes, and that are others than people read. */
function checkNumbers(manifest: Manifest): readonly PlacedFinding[] {
  return manifest.field.oddNumbers().map((at) => {
    const message = `${at.path}: kubectl reads the number ${at.value}: a 0 in front makes it octal`;
    const fix = `write ${at.value}, or leave the 0 out`;
    return findingAt('policies', 'WARN', { manifest, at }, message, fix);
  });
}

function checkSchema(manifest: Manifest): readonly PlacedFinding[] {
  // The beginning of a pause makes no difference here.
  const judged = readManifest(manifest.field.value, 0);
  if (judged.kind === 'allowed') return [];
  return mendable(judged.faults).map(({ path, text }) => {
    // Files of ours that are no objects of a cluster, such as topologies, have this group too.
    const isOther = path[0] === 'kind' && !Object.hasOwn(policyKinds, manifest.kind);
    const meant = isOther ? didYouMean(manifest.kind, Object.keys(policyKinds)) : '';
    const level = isOther && meant === '' ? 'WARN' : 'FAIL';
    const at = manifest.field.at(path);
    const fix = at.hint(text) || meant.replace(/^, /, '');
    return findingAt('policies', level, { manifest, at }, text, fix);
  });
}

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
function checkMatch({ policies, rules }: PlacedPolicies): readonly PlacedFinding[] {
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
    const fix = 'leave it if another program does, such as drain-by-taint or an autoscaler';
    const path = ['spec', 'match', 'taints', index, 'key'];
    return [{ ...warnAt(manifest, path, message, fix), level: 'INFO' }];
  });
}

/** Of two policies with one priority the first by name counts, which a reader of one policy cannot see. */
function checkOverlaps({ policies }: PlacedPolicies): readonly PlacedFinding[] {
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

/** A policy without an action only limits, and the limits of all matching policies hold. */
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

/** Of the taints that Kubernetes puts on nodes. */
const kubernetesPrefix = 'node.kubernetes.io/';

/** Slower than this is rather a mistake than a limit. */
const slowestPodsPerSecond = 1 / 3600;

/** Warns of policies that keep, delete or limit pods in ways that make no sense. */
function checkSense({ policies }: PlacedPolicies): readonly PlacedFinding[] {
  return policies.flatMap((policy) => [
    ...checkAction(policy),
    ...checkKeep(policy, policies),
    ...checkDeleteAfter(policy),
    ...policy.value.limits.flatMap((limit, index) => checkLimit(policy, limit, index)),
  ]);
}

function checkAction({ manifest }: PlacedPolicy): readonly PlacedFinding[] {
  const hint = actionHint(manifest.field.value);
  if (hint === null) return [];
  return [warnAt(manifest, ['spec', 'action'], 'Upstream is an earlier name', hint)];
}

function checkKeep(
  { manifest, value }: PlacedPolicy,
  policies: readonly PlacedPolicy[],
): readonly PlacedFinding[] {
  const { action, match, priority } = value;
  const { taints, nodes, namespaces, pods, podPriority } = match;
  const parts = [nodes, namespaces, pods, podPriority];
  if (action !== 'Keep' || taints.length > 0 || parts.some((part) => part !== null)) return [];
  const isBefore = (other: PlacedPolicy): boolean =>
    other.value.action !== null && other.value.action !== 'Keep' && other.value.priority > priority;
  if (policies.some(isBefore)) return [];
  const message = 'keeps every pod, and no policy here comes before it: no taint evicts anybody';
  const fix = 'say in spec.match which pods it is for, or give others a higher priority';
  return [warnAt(manifest, ['spec', 'action'], message, fix)];
}

function checkDeleteAfter({ manifest, value }: PlacedPolicy): readonly PlacedFinding[] {
  const { action, deleteAfterMs, gracePeriodSeconds } = value;
  if (action !== 'EvictThenDelete' || deleteAfterMs === null || gracePeriodSeconds === null) {
    return [];
  }
  if (deleteAfterMs >= gracePeriodSeconds * 1000) return [];
  const message =
    `deleteAfter ${formatDuration(deleteAfterMs)} is over before the first pods are gone ` +
    `(gracePeriodSeconds ${gracePeriodSeconds}): the others are deleted against their budgets`;
  const fix = 'make deleteAfter longer than the grace period';
  return [warnAt(manifest, ['spec', 'deleteAfter'], message, fix)];
}

function checkLimit(
  { manifest, value }: PlacedPolicy,
  limit: LimitRule,
  index: number,
): readonly PlacedFinding[] {
  const path = ['spec', 'limits', index];
  const found: PlacedFinding[] = [];
  const { per, name, nodes = null, podsPerSecond = 1 } = limit;
  if (podsPerSecond < slowestPodsPerSecond) {
    const message = `podsPerSecond ${podsPerSecond} lets one pod go in ${formatDuration(Math.round(1000 / podsPerSecond))}`;
    found.push(
      warnAt(manifest, [...path, 'podsPerSecond'], message, 'write how many go in a second'),
    );
  }
  const key = contradiction([value.match.nodes, nodes]);
  if (nodes && key !== null) {
    const message = `nodeSelector and what the policy matches contradict each other about the label ${key}: it limits nothing`;
    found.push(warnAt(manifest, [...path, 'nodeSelector'], message, 'fix the selector'));
  }
  const form = forms[per];
  if (name !== undefined && form && !form.pattern.test(name)) {
    const message = `"${name}" is the name of no ${per}: it limits nothing`;
    found.push(warnAt(manifest, [...path, 'name'], message, `write it as ${form.text}`));
  }
  return found;
}

/** The form of scope names, where some names are impossible. */
const forms: Partial<
  Record<LimitRule['per'], { readonly pattern: RegExp; readonly text: string }>
> = {
  zone: { pattern: /^[^/]+(\/[^/]+)?$/, text: 'region/zone' },
  workload: { pattern: /^[^/]+\/[^/]+\/[^/]+$/, text: 'namespace/kind/name' },
  namespace: { pattern: /^[^/]+$/, text: 'the name of a namespace' },
  node: { pattern: /^[^/]+$/, text: 'the name of a node' },
};

/** Rules that stand in each other's way, or do nothing. */
function checkRules({ rules }: PlacedPolicies): readonly PlacedFinding[] {
  return rules.flatMap(({ manifest, value }, index) => {
    const found: PlacedFinding[] = [];
    const { condition, status, nodes, nodesMax } = value;
    const key = contradiction([nodes]);
    if (key !== null) {
      const message = `nodeSelector contradicts itself about the label ${key}: the rule is for no node`;
      found.push(warnAt(manifest, ['spec', 'nodeSelector'], message, 'fix the selector'));
    }
    if (nodesMax !== null && Number.parseInt(String(nodesMax), 10) === 0) {
      const message = `maxNodes ${nodesMax}: it never taints a node`;
      found.push(
        warnAt(manifest, ['spec', 'maxNodes'], message, 'allow one, or write dryRun: true'),
      );
    }
    if (value.taint.key.startsWith(kubernetesPrefix)) {
      const message = `taints of ${kubernetesPrefix} are Kubernetes' own: others put ${value.taint.key} on and take it off too`;
      found.push(warnAt(manifest, ['spec', 'taint', 'key'], message, 'choose a key of your own'));
    }
    const other = rules.slice(0, index).find((one) => {
      const isSame = one.value.condition === condition && one.value.status === status;
      return isSame && contradiction([one.value.nodes, nodes]) === null;
    });
    if (other) {
      const message =
        `maps the condition ${condition}=${status} of the same nodes as NodeTaintRule ` +
        `"${other.value.name}" (${placeOfName(other.manifest)}) does`;
      const fix = 'leave one of them, or set their nodeSelectors apart';
      found.push(warnAt(manifest, ['spec', 'condition', 'type'], message, fix));
    }
    return found;
  });
}

/** Pauses that are no longer needed. */
function checkPauses({ pauses }: PlacedPolicies, now: Instant): readonly PlacedFinding[] {
  return pauses.flatMap(({ manifest, value: { until } }) => {
    if (until === null || until > now) return [];
    const message = `ended at ${new Date(until).toISOString().replace(/\.000Z$/, 'Z')}: it holds nothing`;
    return [warnAt(manifest, ['spec', 'until'], message, 'delete it, or give it another end')];
  });
}

/** Drains that wait where another controller evicts for their taint. */
function checkDrains({ drains }: PlacedPolicies): readonly PlacedFinding[] {
  return drains.flatMap(({ manifest, value }) => {
    const { taint } = value.spec;
    if (taint.effect !== 'NoExecute') return [];
    const message =
      'the drain does not begin where another controller evicts for NoExecute taints, or where that ' +
      'is unknown: no budget would be asked';
    const fix = `use ${formatTaint({ ...taint, effect: 'NoSchedule' })}, for which no other controller evicts`;
    return [warnAt(manifest, ['spec', 'taint', 'effect'], message, fix)];
  });
}

/** Windows that cannot be read, or never open: the drain waits for ever. */
function checkWindows({ drains }: PlacedPolicies, now: Instant): readonly PlacedFinding[] {
  return drains.flatMap(({ manifest, value: { spec } }) =>
    (spec.windows ?? []).flatMap((window, index) => {
      const fault = windowFault(window, now);
      if (fault === null) return [];
      const at = manifest.field.at(['spec', 'windows', index]);
      return [findingAt('policies', 'FAIL', { manifest, at }, `${fault}: no node ever begins`)];
    }),
  );
}

/** True for a manifest of our kinds. */
export function isOfOurs(apiVersion: string): boolean {
  return apiVersion.split('/')[0] === policyApiVersion.split('/')[0];
}

type Kind = PolicyObject['kind'];

/** A manifest as it was read, with its places in the file. */
interface Placed<K extends Kind> {
  readonly manifest: Manifest;
  readonly value: Extract<PolicyObject, { readonly kind: K }>['value'];
}

/** All that are right, kind by kind. */
interface PlacedPolicies {
  readonly policies: readonly Placed<'EvictionPolicy'>[];
  readonly rules: readonly Placed<'NodeTaintRule'>[];
  readonly pauses: readonly Placed<'EvictionPause'>[];
  readonly drains: readonly Placed<'NodeDrain'>[];
}

/** The policies that the API server would accept; the others have findings elsewhere. */
function placedPolicies(manifests: readonly Manifest[]): PlacedPolicies {
  const policies: Placed<'EvictionPolicy'>[] = [];
  const rules: Placed<'NodeTaintRule'>[] = [];
  const pauses: Placed<'EvictionPause'>[] = [];
  const drains: Placed<'NodeDrain'>[] = [];
  for (const manifest of manifests) {
    // The beginning of a pause makes no difference here.
    const judged = readManifest(manifest.field.value, 0);
    if (judged.kind === 'refused') continue;
    const { kind, value } = judged.value;
    if (kind === 'EvictionPolicy') policies.push({ manifest, value });
    else if (kind === 'NodeTaintRule') rules.push({ manifest, value });
    else if (kind === 'EvictionPause') pauses.push({ manifest, value });
    else if (kind === 'NodeDrain') drains.push({ manifest, value });
  }
  return { policies, rules, pauses, drains };
}

/** A warning at the value of this path or at the name of the object. */
function warnAt(
  manifest: Manifest,
  path: readonly (string | number)[],
  message: string,
  fix: string,
): PlacedFinding {
  return findingAt('policies', 'WARN', { manifest, at: manifest.field.find(path) }, message, fix);
}

/** `FILE:LINE` of an object's name. */
function placeOfName(manifest: Manifest): string {
  return placeOf(findingAt('policies', 'WARN', { manifest }, ''));
}
